"""Summaries of collections of tensors, named by their operations."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterable
from typing import Any

import tensorflow as tf

__all__ = [
    "summarize_activation",
    "summarize_activations",
    "summarize_biases",
    "summarize_collection",
    "summarize_tensor",
    "summarize_tensors",
    "summarize_variables",
    "summarize_weights",
]

v1 = tf.compat.v1


def summarize_tensor(tensor: Any, tag: str | None = None) -> tf.Tensor | None:
    """Summarizes a scalar, or a larger tensor as a histogram.

    Args:
      tensor: a tensor or a variable.
      tag: the summary's tag; the operation's name with ``_summary`` by default.

    Returns:
      The summary; None for strings and bools, which have none.
    """
    if tensor.dtype.base_dtype in (tf.string, tf.bool):
        return None
    tag = tag or f"{tensor.op.name}_summary"
    if tensor.shape.rank == 0:
        return v1.summary.scalar(tag, tensor)
    return v1.summary.histogram(tag, tensor)


def summarize_activation(op: Any) -> tf.Tensor:
    """Summarizes a layer's outputs as a histogram, with the share of clipped values.

    That is the share of inputs below zero for Relu, Relu6 and Softplus (``NAME/zeros``), and above
    six for Relu6 (``NAME/sixes``).

    Args:
      op: the outputs.

    Returns:
      The histogram, ``NAME/activation``.
    """
    name, kind = op.op.name, op.op.type
    if kind in ("Relu", "Softplus", "Relu6"):
        inputs = op.op.inputs[0]
        v1.summary.scalar(f"{name}/zeros", _share(inputs < tf.cast(0.0, inputs.dtype)))
        if kind == "Relu6":
            v1.summary.scalar(f"{name}/sixes", _share(inputs > tf.cast(6.0, inputs.dtype)))
    return v1.summary.histogram(f"{name}/activation", op)


def summarize_tensors(
    tensors: Iterable[Any], summarizer: Callable[[Any], Any] = summarize_tensor
) -> list[Any]:
    """Summarizes several tensors."""
    return [summarizer(tensor) for tensor in tensors]


def summarize_collection(
    collection: str,
    name_filter: str | None = None,
    summarizer: Callable[[Any], Any] = summarize_tensor,
) -> list[Any]:
    """Summarizes a collection's tensors.

    Args:
      collection: its name.
      name_filter: a pattern that must match the start of an operation's name.
      summarizer: a function that summarizes a tensor.
    """
    return [
        summarizer(tensor)
        for tensor in v1.get_collection(collection)
        if name_filter is None or re.match(name_filter, tensor.op.name)
    ]


def summarize_activations(
    name_filter: str | None = None, summarizer: Callable[[Any], Any] = summarize_activation
) -> list[Any]:
    """Summarizes the collection ACTIVATIONS; arguments as in ``summarize_collection``."""
    return summarize_collection(v1.GraphKeys.ACTIVATIONS, name_filter, summarizer)


summarize_variables = functools.partial(summarize_collection, v1.GraphKeys.GLOBAL_VARIABLES)
summarize_weights = functools.partial(summarize_collection, v1.GraphKeys.WEIGHTS)
summarize_biases = functools.partial(summarize_collection, v1.GraphKeys.BIASES)


def _share(condition: Any) -> tf.Tensor:
    return tf.reduce_mean(tf.cast(condition, tf.float32))
