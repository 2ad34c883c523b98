"""The tables behind the embedding columns of ``tf.contrib.layers``."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from estimator_bridge_contrib.layers.column_hashes import crossed_ids
from estimator_bridge_contrib.layers.embedding import safe_embedding_lookup_sparse
from estimator_bridge_contrib.model_variables import model_variable

__all__ = ["embedded", "restore_from_checkpoint", "scattered"]

v1 = tf.compat.v1


def embedded(
    column: Any,
    ids: tf.SparseTensor,
    weights: tf.SparseTensor | None,
    collections: Any = None,
    trainable: bool = True,
) -> tf.Tensor:
    """Returns the combined rows of a column's ids.

    Args:
      column: an embedding column.
      ids: the ids [..., number].
      weights: the rows' weights; None for equal ones.
      collections: collections to add the table to.
      trainable: whether to train the table.

    Returns:
      A tensor [..., dimension].
    """
    table = _table(column, collections, trainable and column.trainable)
    restore_from_checkpoint(column, table)
    return safe_embedding_lookup_sparse(
        table,
        ids,
        sparse_weights=weights,
        combiner=column.combiner,
        name=f"{column.name}weights",
        max_norm=column.max_norm,
    )


def _table(column: Any, collections: Any, trainable: bool) -> Any:
    shape, shared = [column.length, column.dimension], column.shared_embedding_name
    options = {"trainable": trainable, "collections": collections}
    if shared is None:
        return model_variable(
            "weights", shape, dtype=tf.float32, initializer=column.initializer, **options
        )
    shared_tables = v1.get_default_graph().get_collection_ref(
        f"SHARED_EMBEDDING_COLLECTION_{shared.upper()}"
    )
    if not shared_tables:
        shared_tables.append(
            model_variable(
                shared, shape, dtype=tf.float32, initializer=column.initializer, **options
            )
        )
    if shared_tables[0].shape.as_list() != shape:
        raise ValueError(
            f"The embedding variable with name {shared} already exists with the shape "
            f"{shared_tables[0].shape}, but column {column.name!r} needs {shape}. Choose another "
            "shared_embedding_name."
        )
    return shared_tables[0]


def restore_from_checkpoint(column: Any, variable: Any) -> None:
    """Sets a variable's initial value to that in the checkpoint that a column names, if any."""
    path = getattr(column, "ckpt_to_load_from", None)
    if path is not None:
        v1.train.init_from_checkpoint(path, {column.tensor_name_in_ckpt: variable})


def scattered(
    column: Any, words: tf.SparseTensor, collections: Any = None, trainable: bool = True
) -> tf.Tensor:
    """Returns the combined vectors of a scattered embedding column's words.

    Each entry of a word's vector is an element of one list, found by a hash of the word and the
    entry's position.

    Args:
      column: the column.
      words: words or integers [batch, number].
      collections: collections to add the list to.
      trainable: whether to train the list.

    Returns:
      A tensor [batch, dimension].
    """
    entries = model_variable(
        "weights", [column.size], dtype=tf.float32, initializer=column.initializer,
        trainable=trainable, collections=collections,
    )  # fmt: skip
    distinct, which = tf.unique(words.values)
    positions = tf.tile(tf.range(column.dimension)[tf.newaxis], [tf.size(distinct), 1])
    hashed = crossed_ids([positions, distinct[:, tf.newaxis]], column.size, column.hash_key)
    vectors = tf.gather(v1.nn.embedding_lookup(entries, tf.sparse.to_dense(hashed)), which)
    rows = tf.cast(words.indices[:, 0], tf.int32)
    combine = {
        "sum": tf.math.segment_sum,
        "mean": tf.math.segment_mean,
        "sqrtn": _divided_by_root,
    }[column.combiner]
    result = combine(vectors, rows)
    result.set_shape([None, column.dimension])
    return result


def _divided_by_root(vectors: tf.Tensor, rows: tf.Tensor) -> tf.Tensor:
    numbers = tf.math.segment_sum(tf.ones_like(vectors[:, :1]), rows)
    return tf.math.divide_no_nan(tf.math.segment_sum(vectors, rows), tf.sqrt(numbers))
