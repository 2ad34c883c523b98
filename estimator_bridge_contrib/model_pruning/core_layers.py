"""Layers whose kernels have masks, in the style of tf.layers, and the names of collections."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tensorflow as tf

from estimator_bridge_contrib.layers.dense import product
from estimator_bridge_contrib.layers.utils import n_positive_integers
from estimator_bridge_contrib.model_pruning.masks import (
    MASK_COLLECTION,
    MASKED_WEIGHT_COLLECTION,
    MASKED_WEIGHT_NAME,
    THRESHOLD_COLLECTION,
    WEIGHT_COLLECTION,
    masked,
)
from estimator_bridge_contrib.rnn.base import Layer

__all__ = [
    "MASKED_WEIGHT_COLLECTION",
    "MASKED_WEIGHT_NAME",
    "MASK_COLLECTION",
    "THRESHOLD_COLLECTION",
    "WEIGHT_COLLECTION",
    "MaskedConv2D",
    "MaskedFullyConnected",
]

_v1 = tf.compat.v1
_ZEROS = _v1.zeros_initializer()


class _MaskedLayer(Layer):
    """A layer with the variables ``kernel``, ``mask``, ``threshold`` and maybe ``bias``.

    Attributes:
      activation: a function of the outputs, or None.
      use_bias: whether there is a bias.
      kernel_initializer: initializer of the kernel; None for the scope's.
      bias_initializer: initializer of the bias.
      kernel_regularizer: a function of the kernel, or None.
      bias_regularizer: a function of the bias, or None.
      kernel: the kernel's variable.
      mask: the mask's variable.
      threshold: the threshold's variable.
      masked_kernel: the kernel times the mask.
      bias: the bias's variable, or None.
    """

    def __init__(self, options: dict[str, Any], **kwargs: Any):
        names = ("activity_regularizer", "trainable", "name")
        super().__init__(**{name: options[name] for name in names}, **kwargs)
        self.activation = options["activation"]
        self.use_bias = options["use_bias"]
        self.kernel_initializer = options["kernel_initializer"]
        self.bias_initializer = options["bias_initializer"]
        self.kernel_regularizer = options["kernel_regularizer"]
        self.bias_regularizer = options["bias_regularizer"]

    def _make_variables(self, shape: list[int], first: str) -> None:
        """Makes the variables, the kernel or the mask first."""
        for name in ("kernel", "mask") if first == "kernel" else ("mask", "kernel"):
            setattr(self, name, self._kernel_or_mask(name, shape))
        self.threshold = self.add_weight(
            name="threshold",
            shape=[],
            initializer=_v1.zeros_initializer(),
            trainable=False,
            dtype=self.dtype,
        )
        self.masked_kernel = masked(self.kernel, self.mask, self.threshold)
        self.bias = None
        if self.use_bias:
            self.bias = self.add_weight(
                name="bias",
                shape=shape[-1:],
                initializer=self.bias_initializer,
                regularizer=self.bias_regularizer,
                trainable=True,
                dtype=self.dtype,
            )
        self.built = True

    def _kernel_or_mask(self, name: str, shape: list[int]) -> Any:
        is_kernel = name == "kernel"
        return self.add_weight(
            name=name,
            shape=shape,
            initializer=self.kernel_initializer if is_kernel else _v1.ones_initializer(),
            regularizer=self.kernel_regularizer if is_kernel else None,
            trainable=is_kernel,
            dtype=self.dtype,
        )

    def _activated(self, outputs: tf.Tensor, data_format: str | None = None) -> tf.Tensor:
        if self.bias is not None:
            outputs = tf.nn.bias_add(outputs, self.bias, data_format)
        return outputs if self.activation is None else self.activation(outputs)


class MaskedConv2D(_MaskedLayer):
    """A convolution of images, as ``tf.compat.v1.layers.Conv2D``, with a mask of the kernel.

    Args:
      filters: the number of filters.
      kernel_size: their height and width; an int, or two.
      strides: the steps between positions; an int, or two.
      padding: "valid" or "same".
      data_format: "channels_last" or "channels_first".
      dilation_rate: the steps within a filter; an int, or two.
      activation: a function of the outputs; None for none.
      use_bias: whether to add a bias.
      kernel_initializer: initializer of the kernel; the scope's by default.
      bias_initializer: initializer of the bias.
      kernel_regularizer: a function of the kernel; its result is a loss.
      bias_regularizer: a function of the bias; its result is a loss.
      activity_regularizer: a function of the outputs; its result is a loss.
      trainable: whether optimizers change the kernel and the bias.
      name: the layer's name.
      **kwargs: more arguments of ``tf.compat.v1.layers.Layer``.

    Raises:
      ValueError: a wrong format or padding.
    """

    def __init__(
        self,
        filters: int,
        kernel_size: Any,
        strides: Any = (1, 1),
        padding: str = "valid",
        data_format: str = "channels_last",
        dilation_rate: Any = (1, 1),
        activation: Callable[[Any], Any] | None = None,
        use_bias: bool = True,
        kernel_initializer: Any = None,
        bias_initializer: Any = _ZEROS,
        kernel_regularizer: Callable[[Any], Any] | None = None,
        bias_regularizer: Callable[[Any], Any] | None = None,
        activity_regularizer: Callable[[Any], Any] | None = None,
        trainable: bool = True,
        name: str | None = None,
        **kwargs: Any,
    ):
        super().__init__(locals(), **kwargs)
        self.filters = filters
        self.kernel_size, self.strides, self.dilation_rate = (
            n_positive_integers(2, each) for each in (kernel_size, strides, dilation_rate)
        )
        self.padding, self.data_format = padding.lower(), data_format.lower()
        _check_choice("padding", self.padding, ("valid", "same"))
        _check_choice("data_format", self.data_format, ("channels_first", "channels_last"))
        self.input_spec = _v1.layers.InputSpec(ndim=4)

    def build(self, input_shape: Any) -> None:
        """Makes the variables.

        Raises:
          ValueError: the number of channels is not known.
        """
        axis = 1 if self.data_format == "channels_first" else -1
        channels = tf.TensorShape(input_shape).as_list()[axis]
        if channels is None:
            raise ValueError("The channel dimension of the inputs should be defined. Found `None`.")
        self._make_variables([*self.kernel_size, channels, self.filters], first="mask")
        self.input_spec = _v1.layers.InputSpec(ndim=4, axes={axis: channels})

    def call(self, inputs: Any) -> tf.Tensor:
        """Returns the convolution."""
        data_format = "NCHW" if self.data_format == "channels_first" else "NHWC"
        outputs = tf.nn.convolution(
            inputs,
            self.masked_kernel,
            strides=self.strides,
            padding=self.padding.upper(),
            data_format=data_format,
            dilations=self.dilation_rate,
        )
        return self._activated(outputs, data_format)


class MaskedFullyConnected(_MaskedLayer):
    """A dense layer, as ``tf.compat.v1.layers.Dense``, with a mask of the kernel.

    Args:
      units: the size of the outputs' last dimension.
      activation: a function of the outputs; None for none.
      use_bias: whether to add a bias.
      kernel_initializer: initializer of the kernel; the scope's by default.
      bias_initializer: initializer of the bias.
      kernel_regularizer: a function of the kernel; its result is a loss.
      bias_regularizer: a function of the bias; its result is a loss.
      activity_regularizer: a function of the outputs; its result is a loss.
      trainable: whether optimizers change the kernel and the bias.
      name: the layer's name.
      **kwargs: more arguments of ``tf.compat.v1.layers.Layer``.
    """

    def __init__(
        self,
        units: int,
        activation: Callable[[Any], Any] | None = None,
        use_bias: bool = True,
        kernel_initializer: Any = None,
        bias_initializer: Any = _ZEROS,
        kernel_regularizer: Callable[[Any], Any] | None = None,
        bias_regularizer: Callable[[Any], Any] | None = None,
        activity_regularizer: Callable[[Any], Any] | None = None,
        trainable: bool = True,
        name: str | None = None,
        **kwargs: Any,
    ):
        super().__init__(locals(), **kwargs)
        self.units = units
        self.input_spec = _v1.layers.InputSpec(min_ndim=2)

    def build(self, input_shape: Any) -> None:
        """Makes the variables.

        Raises:
          ValueError: the inputs' last dimension is not known.
        """
        size = tf.TensorShape(input_shape).as_list()[-1]
        if size is None:
            raise ValueError(
                "The last dimension of the inputs to `Dense` should be defined. Found `None`."
            )
        self.input_spec = _v1.layers.InputSpec(min_ndim=2, axes={-1: size})
        self._make_variables([size, self.units], first="kernel")

    def call(self, inputs: Any) -> tf.Tensor:
        """Returns the inputs times the masked kernel."""
        inputs = tf.convert_to_tensor(inputs, self.dtype)
        return self._activated(product(inputs, self.masked_kernel))


def _check_choice(name: str, choice: str, choices: tuple[str, str]) -> None:
    if choice not in choices:
        raise ValueError(f"{name} must be one of {choices}, got {choice!r}.")
