"""A problem: an objective to minimize, and constraints."""

from __future__ import annotations

import abc
import math
from collections.abc import Sequence
from typing import Any

import tensorflow as tf

__all__ = ["ConstrainedMinimizationProblem"]


class ConstrainedMinimizationProblem(abc.ABC):
    """An objective to minimize while constraints are not positive.

    A subclass defines ``objective`` and ``constraints``.
    """

    @property
    @abc.abstractmethod
    def objective(self) -> tf.Tensor:
        """The scalar to minimize."""

    @property
    @abc.abstractmethod
    def constraints(self) -> tf.Tensor:
        """The constraints; each is satisfied if its value is not positive."""

    @property
    def proxy_constraints(self) -> tf.Tensor | None:
        """Differentiable approximations of the constraints, of the same shape; None for none.

        With them, the constraints are only evaluated, so they may be step functions.
        """
        return None

    @property
    def pre_train_ops(self) -> Sequence[Any] | None:
        """Operations to run before each step; None for none."""
        return None

    @property
    def num_constraints(self) -> int:
        """The number of constraints.

        Raises:
          ValueError: the shape of the constraints or of their proxies is not known, or the two
            differ.
        """
        shape, proxies = self.constraints.shape, self.proxy_constraints
        proxy_shape = shape if proxies is None else proxies.shape
        if not (shape.is_fully_defined() and proxy_shape.is_fully_defined()):
            raise ValueError(
                "constraints and proxy_constraints must have fully-known shapes, got "
                f"{shape} and {proxy_shape}."
            )
        if shape != proxy_shape:
            raise ValueError(
                "constraints and proxy_constraints must have the same shape, got "
                f"{shape} and {proxy_shape}."
            )
        return math.prod(shape.as_list())
