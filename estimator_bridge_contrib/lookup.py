"""tf.contrib.lookup: tables from words to ids and back.

Tables that are filled when they are initialized register themselves in TABLE_INITIALIZERS; an
estimator initializes them with the session.
"""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from estimator_bridge.tensorflow_private.names import lookup_ops as _lookup
from estimator_bridge_contrib.namespaces import NAMESPACES

__all__, __getattr__, __dir__ = NAMESPACES["lookup"].opened()


class HashTable(_lookup.HashTable):
    """A table that its initializer fills, and that is read-only afterwards.

    Args:
      initializer: an initializer such as KeyValueTensorInitializer.
      default_value: the value of missing keys.
      shared_name: has no effect: tables are not shared.
      name: the operations' name.
    """

    def __init__(
        self,
        initializer: Any,
        default_value: Any,
        shared_name: str | None = None,
        name: str | None = None,
    ):
        del shared_name
        super().__init__(initializer, default_value, name=name)


class MutableHashTable(_lookup.MutableHashTable):
    """A table that can be written, and is saved with the variables.

    Args:
      key_dtype: the keys' type.
      value_dtype: the values' type.
      default_value: the value of missing keys.
      name: the operation's name, also in checkpoints.
      checkpoint: whether to save the table.
      shared_name: has no effect, as tables are not shared; releases before 1.15 had it.
    """

    def __init__(
        self,
        key_dtype: Any,
        value_dtype: Any,
        default_value: Any,
        name: str = "MutableHashTable",
        checkpoint: bool = True,
        shared_name: str | None = None,
    ):
        del shared_name
        super().__init__(key_dtype, value_dtype, default_value, name, checkpoint)


class MutableDenseHashTable(_lookup.DenseHashTable):
    """Like MutableHashTable, stored in tensors.

    Args:
      key_dtype: the keys' type.
      value_dtype: the values' type.
      default_value: the value of missing keys.
      empty_key: a key that marks empty buckets, and never occurs in the table.
      deleted_key: another such key, which marks removed entries.
      initial_num_buckets: the initial number of buckets, a power of 2.
      name: the operation's name, also in checkpoints.
      checkpoint: whether to save the table.
      shared_name: has no effect, as tables are not shared; releases before 1.15 had it.
    """

    def __init__(
        self,
        key_dtype: Any,
        value_dtype: Any,
        default_value: Any,
        empty_key: Any,
        deleted_key: Any,
        initial_num_buckets: int | None = None,
        name: str = "MutableDenseHashTable",
        checkpoint: bool = True,
        shared_name: str | None = None,
    ):
        del shared_name
        super().__init__(
            key_dtype,
            value_dtype,
            default_value,
            empty_key,
            deleted_key,
            initial_num_buckets,
            name,
            checkpoint,
        )


def index_table_from_tensor(
    mapping: Any,
    num_oov_buckets: int = 0,
    default_value: int = -1,
    hasher_spec: Any = _lookup.FastHashSpec,
    dtype: Any = tf.string,
    name: str | None = None,
) -> Any:
    """Makes a table from each element of a vocabulary to its position.

    Args:
      mapping: [size], the vocabulary: a list, or a tensor.
      num_oov_buckets: the number of ids, from size on, for words that are not in the vocabulary.
      default_value: the id of such words if ``num_oov_buckets`` is 0.
      hasher_spec: the hash that assigns the ids.
      dtype: the keys' type.
      name: the operations' name.

    Returns:
      A table of int64 ids.

    Raises:
      ValueError: ``mapping`` is None, or ``num_oov_buckets`` is negative.
    """
    if mapping is None:
        raise ValueError("mapping must be specified: the list of words, in the order of their ids.")
    return _lookup.index_table_from_tensor(
        mapping, num_oov_buckets, default_value, hasher_spec, dtype, name
    )


def string_to_index_table_from_tensor(
    mapping: Any,
    num_oov_buckets: int = 0,
    default_value: int = -1,
    hasher_spec: Any = _lookup.FastHashSpec,
    name: str | None = None,
) -> Any:
    """Calls ``index_table_from_tensor`` for string keys, under an older name."""
    return index_table_from_tensor(
        mapping, num_oov_buckets, default_value, hasher_spec, tf.string, name
    )


def string_to_index_table_from_file(
    vocabulary_file: Any = None,
    num_oov_buckets: int = 0,
    vocab_size: int | None = None,
    default_value: int = -1,
    hasher_spec: Any = _lookup.FastHashSpec,
    name: str | None = None,
) -> Any:
    """Calls ``index_table_from_file`` for string keys, under an older name."""
    return _lookup.index_table_from_file(
        vocabulary_file, num_oov_buckets, vocab_size, default_value, hasher_spec, name=name
    )


def index_to_string_table_from_tensor(
    mapping: Any, default_value: str = "UNK", name: str | None = None
) -> Any:
    """Makes a table from positions in a vocabulary to its words.

    Args:
      mapping: [size], the words.
      default_value: the word of unknown ids.
      name: the operations' name.

    Returns:
      A table of int64 keys and string values.

    Raises:
      ValueError: ``mapping`` is None.
    """
    if mapping is None:
        raise ValueError("mapping must be specified: the list of words, in the order of their ids.")
    return _lookup.index_to_string_table_from_tensor(mapping, default_value, name)


def string_to_index(
    tensor: Any, mapping: Any, default_value: int = -1, name: str | None = None
) -> Any:
    """Looks up strings in a new table; see ``index_table_from_tensor``."""
    table = index_table_from_tensor(mapping, default_value=default_value, name=name)
    return table.lookup(tensor)


def index_to_string(
    tensor: Any, mapping: Any, default_value: str = "UNK", name: str | None = None
) -> Any:
    """Looks up ids in a new table; see ``index_to_string_table_from_tensor``."""
    return index_to_string_table_from_tensor(mapping, default_value, name).lookup(tensor)
