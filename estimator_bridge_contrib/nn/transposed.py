"""A transposed convolution of sequences, and the nth element of rows."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import tensorflow as tf

__all__ = ["conv1d_transpose", "nth_element"]


# By argument: its name before TensorFlow 1.14.
_EARLIER = {"value": "input", "filter": "filters", "stride": "strides"}
_FORMATS = {"NHWC": "NWC", "NCHW": "NCW"}


def _with_earlier_names(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def called(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **{_EARLIER.get(key, key): value for key, value in kwargs.items()})

    return called


@_with_earlier_names
def conv1d_transpose(
    input: Any,
    filters: Any,
    output_shape: Any,
    strides: Any,
    padding: str = "SAME",
    data_format: str = "NWC",
    dilations: Any = None,
    name: str | None = None,
) -> tf.Tensor:
    """Computes the transpose of a one-dimensional convolution.

    The names that the arguments had before TensorFlow 1.14 are accepted too: value, filter, stride.

    Args:
      input: [batch, width, channels], or [batch, channels, width].
      filters: [width, channels of the result, channels of the input].
      output_shape: the result's shape.
      strides: the stride in width.
      padding: "SAME" or "VALID".
      data_format: "NWC" or "NCW"; or "NHWC" and "NCHW", as they were called before 1.14.
      dilations: the dilation in width.
      name: the operations' name.

    Returns:
      A tensor of the output's shape.

    Raises:
      ValueError: a shape does not fit.
    """
    return tf.nn.conv1d_transpose(
        input,
        filters,
        output_shape,
        strides,
        padding,
        _FORMATS.get(data_format, data_format),
        dilations,
        name,
    )


def nth_element(
    input: Any,
    n: Any,
    reverse: bool = False,
    name: str | None = None,
) -> tf.Tensor:
    """Finds the element at a place of each sorted row.

    Args:
      input: numbers, [..., size].
      n: the place, from 0.
      reverse: whether the largest element is the first.
      name: the operation's name.

    Returns:
      Numbers, [...].
    """
    return tf.raw_ops.NthElement(input=input, n=n, reverse=reverse, name=name)
