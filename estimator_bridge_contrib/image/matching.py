"""Pairs of rows and columns."""

from __future__ import annotations

from typing import Any, NamedTuple

import tensorflow as tf

__all__ = ["bipartite_match"]

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
