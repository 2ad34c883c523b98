"""The state that SDCA keeps of each example, in hash tables that checkpoints save."""

from __future__ import annotations

import tensorflow as tf

__all__ = ["ExampleStates"]

_NAME = "ShardedMutableHashTable"  # the name in checkpoints
# An example's dual variable, primal loss, dual loss and weight.
_FIELDS = 4


class ExampleStates:
    """Tables of float32 [4] by the fingerprint of an example's ID.

    Args:
      shards: the number of tables; an example's fingerprint selects one.
    """

    def __init__(self, shards: int):
        with tf.name_scope(_NAME):
            self._tables = [
                tf.lookup.experimental.DenseHashTable(
                    key_dtype=tf.int64,
                    value_dtype=tf.float32,
                    default_value=[0.0] * _FIELDS,
                    empty_key=[0, 0],  # no fingerprint has a low half of 0 or 1
                    deleted_key=[1, 1],
                    name=f"{_NAME}-{number + 1}-of-{shards}",
                )
                for number in range(shards)
            ]

    def lookup(self, keys: tf.Tensor) -> tf.Tensor:
        """Returns the states [batch, 4] of fingerprints [batch, 2]; zeros for new ones."""
        parts = zip(self._tables, self._dealt(keys, keys))
        places = self._dealt(keys, tf.range(tf.shape(keys)[0]))
        part_states = [table.lookup(part) for table, part in parts]
        states = tf.dynamic_stitch(places, part_states)
        states.set_shape([keys.shape[0], _FIELDS])
        return states

    def insert(self, keys: tf.Tensor, states: tf.Tensor) -> tf.Operation:
        """Stores states [batch, 4] by fingerprints [batch, 2]."""
        parts = zip(self._tables, self._dealt(keys, keys), self._dealt(keys, states))
        return tf.group(*[table.insert(key, state) for table, key, state in parts])

    def size(self) -> tf.Tensor:
        """Returns the number of examples with a state."""
        return tf.add_n([table.size() for table in self._tables])

    def sums(self) -> tf.Tensor:
        """Returns the sum of all states, float64 [4]."""
        states = [table.export()[1] for table in self._tables]
        sums = tf.add_n([tf.reduce_sum(tf.cast(part, tf.float64), 0) for part in states])
        sums.set_shape([_FIELDS])
        return sums

    def _dealt(self, keys: tf.Tensor, values: tf.Tensor) -> list[tf.Tensor]:
        count = len(self._tables)
        shard = tf.cast(tf.math.floormod(tf.abs(keys[:, 0]), count), tf.int32)
        return tf.dynamic_partition(values, shard, count)
