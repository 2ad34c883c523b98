"""Embeddings: rows of a table, looked up by id."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tensorflow as tf

from estimator_bridge_contrib.layers.reshaping import dense_to_sparse
from estimator_bridge_contrib.model_variables import model_variable

__all__ = [
    "bow_encoder",
    "embed_sequence",
    "embedding_lookup_unique",
    "safe_embedding_lookup_sparse",
]

v1 = tf.compat.v1


def embed_sequence(
    ids: Any,
    vocab_size: int | None = None,
    embed_dim: int | None = None,
    unique: bool = False,
    initializer: Any = None,
    regularizer: Callable[[Any], Any] | None = None,
    trainable: bool = True,
    scope: Any = None,
    reuse: bool | None = None,
) -> tf.Tensor:
    """Looks up sequences of ids in the variable ``embeddings``, [vocab_size, embed_dim].

    Args:
      ids: integers [batch, length].
      vocab_size: the number of rows; not needed with ``reuse``.
      embed_dim: a row's length; not needed with ``reuse``.
      unique: whether to look up each id only once.
      initializer: initializer of the table; the scope's by default.
      regularizer: a function of the table, whose result is added to REGULARIZATION_LOSSES.
      trainable: whether to add the table to TRAINABLE_VARIABLES.
      scope: the variable scope; ``EmbedSequence`` with a number by default.
      reuse: whether to reuse the table of the given scope.

    Returns:
      A tensor [batch, length, embed_dim].

    Raises:
      ValueError: the table is new, and its size is not given.
    """
    if not (reuse or (vocab_size and embed_dim)):
        raise ValueError(
            "Must specify vocab size and embedding dimension when not reusing. "
            f"Got vocab_size={vocab_size} and embed_dim={embed_dim}"
        )
    with v1.variable_scope(scope, "EmbedSequence", [ids], reuse=reuse):
        shape = None if vocab_size is None or embed_dim is None else [vocab_size, embed_dim]
        table = model_variable(
            "embeddings",
            shape=shape,
            initializer=initializer,
            regularizer=regularizer,
            trainable=trainable,
        )
        if unique:
            return embedding_lookup_unique(table, ids)
        return v1.nn.embedding_lookup(table, ids)


def bow_encoder(
    ids: Any,
    vocab_size: int,
    embed_dim: int,
    sparse_lookup: bool = True,
    initializer: Any = None,
    regularizer: Callable[[Any], Any] | None = None,
    trainable: bool = True,
    scope: Any = None,
    reuse: bool | None = None,
) -> tf.Tensor:
    """Returns the mean of the embeddings of a sequence's ids (a bag of words).

    Args:
      ids: integers [batch, length], or a SparseTensor of them. With sparse_lookup, 0 in a dense
        tensor is padding.
      vocab_size: the number of rows of the table ``embeddings``.
      embed_dim: a row's length.
      sparse_lookup: whether to make dense ids sparse.
      initializer: initializer of the table; the scope's by default.
      regularizer: a function of the table, whose result is added to REGULARIZATION_LOSSES.
      trainable: whether to add the table to TRAINABLE_VARIABLES.
      scope: the variable scope; ``bow_encoder`` with a number by default.
      reuse: whether to reuse the table of the given scope.

    Returns:
      A tensor [batch, embed_dim].

    Raises:
      ValueError: the table's size is not given.
      TypeError: sparse ids without sparse_lookup.
    """
    if not vocab_size or not embed_dim:
        raise ValueError(
            "Must specify vocab size and embedding dimension, "
            f"got vocab_size={vocab_size} and embed_dim={embed_dim}"
        )
    with v1.variable_scope(scope, "bow_encoder", [ids], reuse=reuse):
        table = model_variable(
            "embeddings",
            shape=[vocab_size, embed_dim],
            initializer=initializer,
            regularizer=regularizer,
            trainable=trainable,
        )
        if sparse_lookup:
            sparse = ids if isinstance(ids, tf.SparseTensor) else dense_to_sparse(ids)
            return safe_embedding_lookup_sparse([table], sparse, combiner="mean", default_id=0)
        if isinstance(ids, tf.SparseTensor):
            raise TypeError(f"ids are expected to be dense Tensor, got: {ids}")
        return tf.reduce_mean(v1.nn.embedding_lookup(table, ids), axis=1)


def safe_embedding_lookup_sparse(
    embedding_weights: Any,
    sparse_ids: tf.SparseTensor,
    sparse_weights: tf.SparseTensor | None = None,
    combiner: str | None = None,
    default_id: int | None = None,
    name: str | None = None,
    partition_strategy: str = "div",
    max_norm: float | None = None,
) -> tf.Tensor:
    """Combines the embeddings of each row's ids; ignores invalid ids and empty rows.

    Args:
      embedding_weights: a table [rows, size], or a list of its parts.
      sparse_ids: a SparseTensor of ids, [..., length]. Negative ids are ignored.
      sparse_weights: their weights. Ids with weights of 0 or less are ignored, unless summed.
      combiner: 'mean', 'sqrtn' or 'sum'; 'mean' by default.
      default_id: the id for an empty row; by default its result is zeros.
      name: the operations' name.
      partition_strategy: the assignment of ids to parts, 'div' or 'mod'.
      max_norm: the maximal length; longer embeddings are scaled down.

    Returns:
      A tensor [..., size].
    """
    return v1.nn.safe_embedding_lookup_sparse(
        embedding_weights,
        sparse_ids,
        sparse_weights=sparse_weights,
        combiner=combiner or "mean",
        default_id=default_id,
        name=name,
        partition_strategy=partition_strategy,
        max_norm=max_norm,
    )


def embedding_lookup_unique(
    params: Any, ids: Any, partition_strategy: str = "mod", name: str | None = None
) -> tf.Tensor:
    """Looks up ids in a table, each distinct id only once.

    Args:
      params: a table [rows, ...], or a list of its parts.
      ids: integers of any shape.
      partition_strategy: the assignment of ids to parts, 'div' or 'mod'.
      name: the operations' name.

    Returns:
      A tensor of the shape of ids, followed by that of a row.
    """
    with v1.name_scope(name, "EmbeddingLookupUnique", [ids]):
        ids = tf.convert_to_tensor(ids)
        unique, index = tf.unique(tf.reshape(ids, [-1]))
        rows = tf.gather(v1.nn.embedding_lookup(params, unique, partition_strategy), index)
        outputs = tf.reshape(rows, tf.concat([tf.shape(ids), tf.shape(rows)[1:]], 0))
        outputs.set_shape(ids.shape.concatenate(rows.shape[1:]))
        return outputs
