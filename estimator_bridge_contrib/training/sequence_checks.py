"""Checks of the tensors of sequences, when the graph is built or when it runs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import tensorflow as tf

__all__ = ["check_divisible", "check_first_sizes", "check_rank", "check_shape", "named_tensors"]

_v1 = tf.compat.v1


def named_tensors(kind: str, values: Mapping[str, Any]) -> dict[str, tf.Tensor]:
    """Returns tensors by name, sorted, after a check of names and shapes.

    Args:
      kind: "sequence", "context" or "state"; a sequence's first size may be unknown, and there is
        at least one sequence and one state.
      values: what can be converted to tensors, by name.

    Raises:
      TypeError: it is no dict, or a name is no text.
      ValueError: there is none, a name has a colon, or a shape is unknown.
    """
    if not isinstance(values, Mapping):
        raise TypeError(f"{kind}s must be a dict. Got {type(values).__name__}.")
    if not values and kind != "context":
        raise ValueError(f"There must be at least one {kind}: the dict of {kind}s is empty.")
    for name in values:
        if not isinstance(name, str):
            raise TypeError(f"{kind} key must be string: {name!r}")
        if ":" in name:
            raise ValueError(f"{kind} key may not have a colon: '{name}'")
    tensors = {
        name: tf.convert_to_tensor(values[name], name=f"{kind}_{name}") for name in sorted(values)
    }
    for name, tensor in tensors.items():
        if not tensor.shape[1 if kind == "sequence" else 0 :].is_fully_defined():
            raise ValueError(
                f"Shape for {kind} {name} is not fully defined: {tensor.shape}. Set it with "
                "set_shape; only the length of a sequence may be unknown."
            )
    return tensors


def check_rank(value: tf.Tensor, rank: int) -> tf.Tensor:
    """Returns a tensor whose rank is checked.

    Raises:
      ValueError: the static rank is another one.
    """
    try:
        static = value.shape.with_rank(rank)
    except ValueError as error:
        raise ValueError(f"Rank check failed for {value.name}: {error}") from error
    text = f"Rank of tensor {value.name} should be: {rank}, shape received:"
    check = _v1.Assert(tf.equal(tf.rank(value), rank), [text, tf.shape(value)])
    with tf.control_dependencies([check]):
        checked = tf.identity(value, name="rank_checked")
    checked.set_shape(static)
    return checked


def check_shape(value: tf.Tensor, like: tf.Tensor) -> tf.Tensor:
    """Returns a tensor that has the shape of another one when the graph runs.

    Raises:
      ValueError: the static rank is another one.
    """
    value = check_rank(value, like.shape.rank)
    sizes, actual = tf.shape(like), tf.shape(value)
    text = f"Shape of tensor {value.name} should be: "
    check = _v1.Assert(
        tf.reduce_all(tf.equal(sizes, actual)), [text, sizes, "shape received:", actual]
    )
    with tf.control_dependencies([check]):
        checked = tf.identity(value, name="shape_checked")
    checked.set_shape(value.shape.merge_with(like.shape))
    return checked


def check_divisible(size: tf.Tensor, divisor: int) -> tf.Tensor:
    """Returns a size that is a multiple of a number, and not 0, when the graph runs."""
    is_multiple = tf.logical_and(tf.equal(size % divisor, 0), tf.not_equal(size, 0))
    parts = [f"Tensor {size.name} should be a multiple of: {divisor}, but saw value: "]
    parts += [tf.strings.as_string(size), ". Consider setting pad=True."]
    with tf.control_dependencies([_v1.Assert(is_multiple, [tf.strings.join(parts)])]):
        return tf.identity(size, name="multiple_of_checked")


def check_first_sizes(tensors: Mapping[str, tf.Tensor], size: tf.Tensor) -> dict[str, tf.Tensor]:
    """Returns sequences whose lengths are equal to one size when the graph runs."""
    checked = {}
    for name, tensor in tensors.items():
        parts = [f"Dimension 0 of tensor labeled sorted_sequences_{name} should be: "]
        parts += [tf.strings.as_string(size), ", shape received: "]
        text = tf.strings.join([*parts, tf.strings.as_string(tf.shape(tensor))])
        with tf.control_dependencies([_v1.Assert(tf.equal(tf.shape(tensor)[0], size), [text])]):
            checked[name] = tf.identity(tensor, name=f"dims_checked_{name}")
    return checked
