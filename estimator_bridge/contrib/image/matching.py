"""Pairs of rows and columns, and connected pixels."""

from __future__ import annotations

from typing import Any, NamedTuple

import tensorflow as tf

__all__ = ["bipartite_match", "connected_components"]

_v1 = tf.compat.v1


class Matches(NamedTuple):
    """The column of each row, and the row of each column; -1 where there is none."""

    row_to_col_match_indices: tf.Tensor
    col_to_row_match_indices: tf.Tensor


def bipartite_match(
    distance_mat: Any, num_valid_rows: Any, top_k: int = -1, name: str = "bipartite_match"
) -> Matches:
    """Matches rows and columns greedily: always the pair with the smallest distance that is left.

    Args:
      distance_mat: [rows, columns], float32.
      num_valid_rows: how many rows are matched, a scalar or [1]; all if it is negative.
      top_k: the number of pairs; as many as possible if it is negative.
      name: the operations' name.

    Returns:
      The column of each row, and the row of each column; -1 where there is none. int32.
    """
    with _v1.name_scope(name) as scope:
        distances = tf.convert_to_tensor(distance_mat, tf.float32)
        rows, columns = tf.unstack(tf.shape(distances))
        valid = tf.cast(tf.reshape(num_valid_rows, []), tf.int32)
        valid = tf.where(valid < 0, rows, tf.minimum(valid, rows))
        pairs = tf.minimum(valid, columns)
        pairs = pairs if top_k < 0 else tf.minimum(pairs, top_k)

        def match(count: Any, of_rows: Any, of_columns: Any) -> Any:
            usable = (of_rows < 0) & (tf.range(rows) < valid)
            open_ = usable[:, None] & (of_columns < 0)[None]
            least = tf.reduce_min(tf.boolean_mask(distances, open_))
            best = tf.argmax(tf.reshape(open_ & (distances <= least), [-1]), output_type=tf.int32)
            row, column = best // columns, best % columns
            of_rows = tf.where(tf.equal(tf.range(rows), row), column, of_rows)
            of_columns = tf.where(tf.equal(tf.range(columns), column), row, of_columns)
            return count + 1, of_rows, of_columns

        none = tf.fill([rows], -1), tf.fill([columns], -1)
        state = (0, *none)
        shapes = (tf.TensorShape([]), tf.TensorShape([None]), tf.TensorShape([None]))
        _, of_rows, of_columns = tf.while_loop(
            lambda count, *_: count < pairs, match, state, shape_invariants=shapes
        )
        of_rows.set_shape(distances.shape[:1])
        of_columns.set_shape(distances.shape[1:])
        return Matches(*tf.identity_n([of_rows, of_columns], name=scope or None))


def connected_components(images: Any) -> tf.Tensor:
    """Numbers the connected parts of images: neighbours with the same value other than zero.

    Neighbours are above, below, left and right. The numbers count up from 1 over all images, in the
    order of each part's first pixel.

    Args:
      images: [height, width] or [batch, height, width], booleans, numbers or texts.

    Returns:
      int32 numbers of the same shape; 0 where the value is zero, False or empty.

    Raises:
      TypeError: images have another rank.
    """
    with _v1.name_scope("connected_components"):
        given = tf.convert_to_tensor(images, name="images")
        if given.shape.rank not in (2, 3):
            raise TypeError(
                f"images should have rank 2 (HW) or 3 (NHW). Static shape is {given.shape}"
            )
        values = given[None] if given.shape.rank == 2 else given
        empty = {tf.bool: False, tf.string: ""}.get(values.dtype)
        zero = tf.zeros([], values.dtype) if empty is None else tf.constant(empty)
        is_part = tf.not_equal(values, zero)
        count = tf.size(values)
        own = tf.reshape(tf.range(count), tf.shape(values))
        joined = [_equal_to_next(values, is_part, axis) for axis in (1, 2)]

        def spread(labels: Any, _: Any) -> Any:
            made = labels
            for axis, equal in zip((1, 2), joined):
                made = _least_of_neighbours(made, equal, axis)
            made = tf.gather(tf.reshape(made, [-1]), made)  # jumps along a chain of labels
            return made, tf.reduce_any(tf.not_equal(made, labels))

        labels, _ = tf.while_loop(lambda _, changed: changed, spread, (own, tf.constant(True)))
        is_first = tf.reshape(is_part & tf.equal(labels, own), [-1])
        numbers = tf.cumsum(tf.cast(is_first, tf.int32))
        found = tf.where(is_part, tf.gather(numbers, labels), tf.zeros([], tf.int32))
        found = tf.reshape(found, tf.shape(given))
        found.set_shape(given.shape)
        return found


def _equal_to_next(values: tf.Tensor, is_part: tf.Tensor, axis: int) -> tf.Tensor:
    before, after = _ends(values, axis)
    parts = _ends(is_part, axis)
    return tf.equal(before, after) & parts[0] & parts[1]


def _ends(values: tf.Tensor, axis: int) -> tuple[tf.Tensor, tf.Tensor]:
    """Returns all but the last, and all but the first, along an axis."""
    if axis == 1:
        return values[:, :-1], values[:, 1:]
    return values[:, :, :-1], values[:, :, 1:]


def _least_of_neighbours(labels: tf.Tensor, equal: tf.Tensor, axis: int) -> tf.Tensor:
    before, after = _ends(labels, axis)
    lower = tf.where(equal, tf.minimum(before, after), after)
    upper = tf.where(equal, tf.minimum(before, after), before)
    first, last = (labels[:, :1], labels[:, -1:]) if axis == 1 else (
        labels[:, :, :1], labels[:, :, -1:]
    )  # fmt: skip
    return tf.minimum(tf.concat([first, lower], axis), tf.concat([upper, last], axis))
