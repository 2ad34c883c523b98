"""The rows and the columns of WALSModel's matrix: their variables, and local copies of these."""

from __future__ import annotations

import functools
import numbers
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import tensorflow as tf

__all__ = [
    "Axis",
    "assign_gramian",
    "looked_up",
    "make_axis",
    "make_factors",
    "make_weights",
    "scatter",
]

_v1 = tf.compat.v1


@dataclass(frozen=True)
class Axis:
    """The rows or the columns of the matrix.

    Attributes:
      size: their number.
      factors: variables [part of size, dimensions].
      weights: variables [part of size], or None.
      gramian: the variable of the factors' Gramian.
      cached_factors: local copies of the factors, or the factors.
      cached_weights: local copies of the weights, or the weights.
      cached_gramian: a local copy of the Gramian, or the Gramian.
      fill: the operation that fills the copies of factors and Gramian.
      empty: the operation that frees them.
      fill_weights: the operation that fills the copies of weights.
    """

    size: int
    factors: list[Any]
    weights: list[Any] | None
    gramian: Any
    cached_factors: list[Any]
    cached_weights: list[Any] | None
    cached_gramian: Any
    fill: tf.Operation
    empty: tf.Operation
    fill_weights: tf.Operation


def make_factors(start: Any, size: int, dimensions: int, shards: int, name: str) -> list[Any]:
    """Makes the variables of an axis's factors.

    Args:
      start: the first factors: "random", an array, a list with one for each shard, or a function
        that returns one of these.
      size: the number of rows (columns) of the matrix.
      dimensions: the number of dimensions of the factors.
      shards: the number of variables.
      name: the start of the variables' names.

    Returns:
      The variables, [part of size, dimensions].

    Raises:
      ValueError: there are more or fewer first factors than shards.
    """
    start = start() if callable(start) else start
    if isinstance(start, str) and start == "random":

        def draw(part: int) -> tf.Tensor:
            return _v1.random_normal([part, dimensions])

        return _variables([functools.partial(draw, part) for part in _sizes(size, shards)], name)
    values = start if isinstance(start, list) else [start]
    if len(values) != shards:
        raise ValueError(
            f"The first {name} need a value for each of {shards} shards. Got {len(values)}."
        )
    return _variables([functools.partial(tf.cast, each, tf.float32) for each in values], name)


def make_weights(initial_weights: Any, size: int, shards: int, name: str) -> list[Any] | None:
    """Makes the variables of an axis's weights.

    Args:
      initial_weights: the weight of all rows (columns), a list of weights, a list with a list for
        each shard, or None for no weights.
      size: the number of rows (columns) of the matrix.
      shards: the number of variables.
      name: the start of the variables' names.

    Returns:
      The variables, [part of size]; None for no weights.

    Raises:
      ValueError: the only weight is negative, the weights are neither a number nor a list, or there
        are more or fewer lists than shards.
    """
    if initial_weights is None:
        return None
    if isinstance(initial_weights, numbers.Real) and float(initial_weights) >= 0:
        sizes = _sizes(size, shards)
        return _variables(
            [functools.partial(tf.fill, [part], float(initial_weights)) for part in sizes], name
        )
    if not isinstance(initial_weights, Iterable):
        raise ValueError(
            "Invalid weight initialization argument. Must be one of these: None, a real "
            "non-negative real number, or a list of lists of non-negative real numbers (or "
            f"equivalent iterables) corresponding to sharded factors. Got {initial_weights!r} as "
            f"{name}."
        )
    values = list(initial_weights)
    values = [values] if shards == 1 and len(values) == size else values
    if len(values) != shards:
        raise ValueError(f"{name} needs a list for each of {shards} shards. Got {len(values)}.")
    return _variables([functools.partial(tf.cast, each, tf.float32) for each in values], name)


def _variables(starts: list[Callable[[], Any]], name: str) -> list[Any]:
    return [
        _v1.Variable(start, dtype=tf.float32, name=f"{name}_shard_{number}")
        for number, start in enumerate(starts)
    ]


def _sizes(size: int, shards: int) -> list[int]:
    least, rest = divmod(size, shards)
    return [least + (number < rest) for number in range(shards)]


def make_axis(
    name: str,
    size: int,
    factors: list[Any],
    weights: list[Any] | None,
    gramian: Any,
    are_factors_cached: bool,
    is_gramian_cached: bool,
) -> Axis:
    """Makes the local copies of an axis's variables that are wanted.

    Args:
      name: "row" or "col", the start of the copies' names.
      size: the number of rows (columns) of the matrix.
      factors: the variables of the factors, [part of size, dimensions].
      weights: the variables of the weights, [part of size], or None.
      gramian: the variable of the factors' Gramian, [dimensions, dimensions].
      are_factors_cached: whether there are copies of the factors and weights.
      is_gramian_cached: whether there is a copy of the Gramian.

    Returns:
      The axis, with the variables themselves in place of copies that are not wanted.
    """
    nothing: list[Any] = []
    cached, fill, empty = factors, nothing, nothing
    cached_weights, fill_weights = weights, nothing
    cached_gramian, fill_gramian, empty_gramian = gramian, nothing, nothing
    if are_factors_cached:
        cached, fill, empty = _cached(factors, f"{name}_factors_cache")
        if weights is not None:
            cached_weights, fill_weights, _ = _cached(weights, f"{name}_wt_cache")
    if is_gramian_cached:
        copies, fill_gramian, empty_gramian = _cached([gramian], f"{name}_gramian_cache")
        cached_gramian = copies[0]
    return Axis(
        size,
        factors,
        weights,
        gramian,
        cached,
        cached_weights,
        cached_gramian,
        tf.group(*fill, *fill_gramian),
        tf.group(*empty, *empty_gramian),
        tf.group(*fill_weights),
    )


def _cached(variables: list[Any], name: str) -> tuple[list[Any], list[Any], list[Any]]:
    """Returns local variables, and the operations that copy values to them and free them."""
    copies = [
        _v1.Variable(
            _v1.placeholder_with_default(1.0, shape=None),
            trainable=False,
            collections=[_v1.GraphKeys.LOCAL_VARIABLES],
            validate_shape=False,
            name=name if len(variables) == 1 else f"{name}_shard_{number}",
        )
        for number in range(len(variables))
    ]
    fill = [_v1.assign(a, b, validate_shape=False) for a, b in zip(copies, variables)]
    return copies, fill, [_v1.assign(each, 1.0, validate_shape=False) for each in copies]


def assign_gramian(axis: Axis) -> tf.Operation:
    """Returns an operation that assigns the Gramian of an axis's factors."""
    products = [tf.matmul(each, each, transpose_a=True) for each in axis.factors]
    return tf.group(_v1.assign(axis.gramian, tf.add_n(products)))


def looked_up(shards: list[Any], ids: tf.Tensor) -> tf.Tensor:
    """Returns the entries of ids in variables, which together are one list.

    Args:
      shards: the variables, [part of size, ...].
      ids: the numbers of entries in the whole list, [ids].

    Returns:
      The entries, [ids, ...].
    """
    whole = shards[0] if len(shards) == 1 else tf.concat([tf.identity(one) for one in shards], 0)
    return tf.gather(whole, ids)


def scatter(
    shards: list[Any], size: int, ids: tf.Tensor, values: tf.Tensor, name: str
) -> tf.Operation:
    """Returns an operation that assigns entries of variables, which together are one list.

    Args:
      shards: the variables, [part of size, dimensions].
      size: the length of the whole list.
      ids: the numbers of entries in the whole list, [ids].
      values: the new entries, [ids, dimensions].
      name: the operation's name.
    """
    if len(shards) == 1:
        return tf.group(_v1.scatter_update(shards[0], ids, values), name=name)
    ends = tf.cumsum(tf.constant(_sizes(size, len(shards)), tf.int64))
    starts = tf.concat([[0], ends[:-1]], 0)
    owners = tf.searchsorted(ends, ids, side="right")
    local = ids - tf.gather(starts, owners)
    updates = [
        _v1.scatter_update(shard, *parts)
        for shard, *parts in zip(
            shards,
            tf.dynamic_partition(local, owners, len(shards)),
            tf.dynamic_partition(values, owners, len(shards)),
        )
    ]
    return tf.group(*updates, name=name)
