"""tf.contrib.feature_column: columns of sequences, and the input layer of a recurrent network."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import tensorflow as tf

from estimator_bridge.tensorflow_private.columns import column_scope, sequence_of
from estimator_bridge_contrib.namespaces import NAMESPACES

v1 = tf.compat.v1


def sequence_input_layer(
    features: Mapping[str, Any],
    feature_columns: Sequence[Any],
    weight_collections: Sequence[str] | None = None,
    trainable: bool = True,
) -> tuple[tf.Tensor, tf.Tensor]:
    """Concatenates the sequences of columns.

    Args:
      features: by key, sparse tensors [batch, steps, ...].
      feature_columns: columns of sequences: those of this namespace, and embedding or indicator
        columns of them.
      weight_collections: collections to add the variables to, besides GLOBAL_VARIABLES.
      trainable: whether an optimizer may change the variables.

    Returns:
      The inputs [batch, steps, size], with the columns in the order of their names; and the number
      of steps of each sequence [batch].

    Raises:
      ValueError: two columns have the same name, or a column is not one of sequences.
      InvalidArgumentError: when the graph runs, two columns have sequences of other lengths.
    """
    columns = sorted(feature_columns, key=lambda column: column.name)
    names = [column.name for column in columns]
    if not names or len(set(names)) < len(names):
        raise ValueError(f"feature_columns must be columns with names of their own, got {names}.")
    collections = [*dict.fromkeys([*(weight_collections or []), v1.GraphKeys.GLOBAL_VARIABLES])]
    outputs, lengths = [], []
    with v1.variable_scope(None, "sequence_input_layer", features.values()):
        for column in columns:
            with v1.variable_scope(None, column_scope(column)):
                dense, length = sequence_of(column, dict(features), collections, trainable)
                steps = tf.shape(dense)[:2]
                shape = [*dense.shape.as_list()[:2], dense.shape[2:].num_elements()]
                dense = tf.reshape(dense, tf.concat([steps, [shape[2]]], 0))
                dense.set_shape(shape)
                outputs.append(dense)
                lengths.append(length)
        checks = [
            v1.assert_equal(one, two, message="The sequence lengths of two columns differ.")
            for one, two in zip(lengths, lengths[1:])
        ]
        with tf.control_dependencies(checks):
            length = tf.identity(lengths[0]) if checks else lengths[0]
            return tf.concat(outputs, -1), length


__all__, __getattr__, __dir__ = NAMESPACES["feature_column"].opened()
