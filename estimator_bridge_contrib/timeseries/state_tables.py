"""States in tables: tensors of any shape by a number."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from estimator_bridge_contrib.lookup import MutableDenseHashTable

__all__ = ["TensorValuedMutableDenseHashTable", "TupleOfTensorsLookup", "replicate_state"]


class TensorValuedMutableDenseHashTable(MutableDenseHashTable):
    """A MutableDenseHashTable whose values have the shape of default_value.

    Args:
      key_dtype: see the base class.
      value_dtype: as well.
      default_value: the value of missing keys, of any shape.
      *args: see the base class.
      **kwargs: as well.
    """

    def __init__(
        self, key_dtype: Any, value_dtype: Any, default_value: Any, *args: Any, **kwargs: Any
    ):
        self._shape_of_a_value = tf.shape(default_value)
        flat = tf.reshape(default_value, [-1])
        super().__init__(key_dtype, value_dtype, flat, *args, **kwargs)

    def insert(self, keys: Any, values: Any, name: str | None = None) -> tf.Operation:
        """Writes values.

        Args:
          keys: [...].
          values: [..., *shape].
          name: the operation's name.
        """
        flat = tf.reshape(tf.convert_to_tensor(keys, dtype=self.key_dtype), [-1])
        return super().insert(flat, tf.reshape(values, [tf.shape(flat)[0], -1]), name)

    def lookup(self, keys: Any, name: str | None = None) -> tf.Tensor:
        """Reads values.

        Args:
          keys: [...].
          name: the operation's name.

        Returns:
          [..., *shape].
        """
        flat = tf.reshape(tf.convert_to_tensor(keys, dtype=self.key_dtype), [-1])
        rows = super().lookup(flat, name)
        return tf.reshape(rows, tf.concat([tf.shape(keys), self._shape_of_a_value], 0))


class TupleOfTensorsLookup:
    """A table whose values are nested tuples of tensors: one table for each tensor.

    Args:
      key_dtype: the keys' type.
      default_values: the value of missing keys.
      empty_key: a key that is never used.
      deleted_key: another such key.
      name: the beginning of the tables' names.
      checkpoint: whether to save the tables.
    """

    def __init__(
        self,
        key_dtype: Any,
        default_values: Any,
        empty_key: Any,
        deleted_key: Any,
        name: str,
        checkpoint: bool = True,
    ):
        self._tables = [
            TensorValuedMutableDenseHashTable(
                key_dtype=key_dtype,
                value_dtype=value.dtype.base_dtype,
                default_value=value,
                empty_key=empty_key,
                deleted_key=deleted_key,
                name=f"{name}_{number}",
                checkpoint=checkpoint,
            )
            for number, value in enumerate(tf.nest.flatten(default_values))
        ]
        self._structure = tf.nest.map_structure(lambda _: 0, default_values)

    def lookup(self, keys: Any) -> Any:
        """Reads the values of keys [batch]; each tensor is [batch, ...]."""
        tensors = [table.lookup(keys) for table in self._tables]
        return tf.nest.pack_sequence_as(self._structure, tensors)

    def insert(self, keys: Any, values: Any) -> tf.Operation:
        """Writes the values of keys, once all of them are computed.

        Raises:
          ValueError: the values have another structure than the defaults.
        """
        tf.nest.assert_same_structure(self._structure, values)
        computed = [tf.identity(value) for value in tf.nest.flatten(values)]
        with tf.control_dependencies(computed):
            written = [table.insert(keys, value) for table, value in zip(self._tables, computed)]
        return tf.group(*written)

    def check_table_dtypes(self, key_dtype: Any, value_dtype: Any) -> None:
        """Checks nothing: each tensor's table checks its own types."""
        del key_dtype, value_dtype


def replicate_state(start_state: Any, batch_size: Any) -> Any:
    """Repeats a state for each example of a batch.

    Args:
      start_state: nested tensors, [...].
      batch_size: a number.

    Returns:
      The same structure, [batch, ...].
    """

    def repeat(value: Any) -> tf.Tensor:
        ones = tf.ones([tf.rank(value)], dtype=tf.int32)
        return tf.tile(tf.expand_dims(value, 0), tf.concat([[batch_size], ones], 0))

    return tf.nest.map_structure(repeat, start_state)
