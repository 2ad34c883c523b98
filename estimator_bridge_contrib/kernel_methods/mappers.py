"""Maps of features into spaces where a linear model approximates a kernel's."""

from __future__ import annotations

import abc
import math
from typing import Any

import numpy as np
import tensorflow as tf

__all__ = ["DenseKernelMapper", "InvalidShapeError", "RandomFourierFeatureMapper"]


class InvalidShapeError(Exception):
    """A tensor's shape does not fit a map."""


class DenseKernelMapper(abc.ABC):
    """The base of maps from a dense tensor to a dense tensor."""

    @abc.abstractmethod
    def map(self, input_tensor: Any) -> tf.Tensor:
        """Returns the mapped rows of a tensor.

        Args:
          input_tensor: [batch, features].
        """

    @property
    @abc.abstractmethod
    def name(self) -> str:
        """The map's name."""

    @property
    @abc.abstractmethod
    def output_dim(self) -> int:
        """The number of mapped features."""


class RandomFourierFeatureMapper(DenseKernelMapper):
    """Random Fourier features, whose products approximate the Gaussian kernel.

    Rahimi and Recht, Random Features for Large-Scale Kernel Machines (2007): a row x becomes
    sqrt(2 / output_dim) * cos(x W + b), with W normal and b uniform in [0, 2 pi). NumPy draws both
    from the seed, in this order, so each call gives the same map.

    Args:
      input_dim: the number of features.
      output_dim: the number of mapped features.
      stddev: the standard deviation of the kernel.
      seed: NumPy's seed.
      name: the map's name; by default a number.
    """

    def __init__(
        self,
        input_dim: int,
        output_dim: int,
        stddev: float = 1.0,
        seed: int = 1,
        name: str | None = None,
    ):
        self._input_dim, self._output_dim = input_dim, output_dim
        self._stddev, self._seed, self._name = stddev, seed, name

    @property
    def name(self) -> str:
        """The map's name."""
        return self._name or str(id(self))

    @property
    def input_dim(self) -> int:
        """The number of features."""
        return self._input_dim

    @property
    def output_dim(self) -> int:
        """The number of mapped features."""
        return self._output_dim

    def map(self, input_tensor: Any) -> tf.Tensor:
        """Returns the mapped rows of a tensor.

        Args:
          input_tensor: [batch, input_dim].

        Returns:
          [batch, output_dim].

        Raises:
          InvalidShapeError: the tensor has another shape.
        """
        shape = input_tensor.shape
        if len(shape) != 2:
            raise InvalidShapeError(
                f"The shape of the tensor should be 2. Got {len(shape)} instead."
            )
        if shape[1] != self._input_dim:
            raise InvalidShapeError(
                f"Invalid dimension: expected {self._input_dim} input features, got {shape[1]} "
                "instead."
            )
        random = np.random.RandomState(self._seed)
        size = [self._input_dim, self._output_dim]
        weights = tf.constant(random.normal(scale=1.0 / self._stddev, size=size), tf.float32)
        phases = tf.constant(random.uniform(0.0, 2 * np.pi, [self._output_dim]), tf.float32)
        return math.sqrt(2.0 / self._output_dim) * tf.cos(tf.matmul(input_tensor, weights) + phases)
