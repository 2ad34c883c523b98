"""The order of columns in an input, which decides the place of each column's values.

``tf.contrib.layers`` sorted columns by a text of their fields; this module makes the same text.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

__all__ = ["kind_of", "sort_key", "sorted_columns"]

_SPARSE = "column_name is_integerized bucket_size lookup_config combiner dtype"
# By class here: contrib's class, its fields, and those that its text leaves out.
_TEXTS = {
    "Integerized": ("_SparseColumnIntegerized", _SPARSE, ""),
    "Hashed": ("_SparseColumnHashed", _SPARSE, ""),
    "Keys": ("_SparseColumnKeys", _SPARSE, ""),
    "Vocabulary": ("_SparseColumnVocabulary", _SPARSE, ""),
    "Weighted": ("_WeightedSparseColumn", "sparse_id_column weight_column_name dtype", ""),
    "Numbers": (
        "_RealValuedColumn", "column_name dimension default_value dtype normalizer", "normalizer",
    ),
    "Bucketized": ("_BucketizedColumn", "source_column boundaries", ""),
    "Crossed": (
        "_CrossedColumn",
        "columns hash_bucket_size hash_key combiner ckpt_to_load_from tensor_name_in_ckpt", "",
    ),
    "OneHot": ("_OneHotColumn", "sparse_id_column", ""),
    "Embedding": (
        "_EmbeddingColumn",
        "sparse_id_column dimension combiner initializer ckpt_to_load_from tensor_name_in_ckpt "
        "shared_embedding_name shared_vocab_size max_norm trainable", "initializer",
    ),
    "Scattered": (
        "_ScatteredEmbeddingColumn", "column_name size dimension hash_key combiner initializer",
        "initializer",
    ),
    "LookupConfig": (
        "_SparseIdLookupConfig",
        "vocabulary_file keys num_oov_buckets vocab_size default_value", "",
    ),
}  # fmt: skip


def kind_of(column: Any) -> str:
    """Returns the name of contrib's class for a column, for errors."""
    name = type(column).__name__
    return _TEXTS[name][0] if name in _TEXTS else name


def sort_key(column: Any) -> str:
    """Returns the text by which a column is sorted; equal columns have the same."""
    name, fields, left_out = _TEXTS[type(column).__name__]
    if not left_out:
        return _text(column)
    pairs = [
        f"{field}={value if isinstance(value, str) else _text(value)}"
        for field in fields.split()
        if field not in left_out.split()
        for value in [getattr(column, field)]
    ]
    return f"{name}({', '.join(pairs)})"


def _text(value: Any) -> str:
    entry = _TEXTS.get(type(value).__name__)
    if entry is not None:
        pairs = (f"{field}={_text(getattr(value, field))}" for field in entry[1].split())
        return f"{entry[0]}({', '.join(pairs)})"
    if type(value) is tuple:
        return f"({', '.join(map(_text, value))}{',' if len(value) == 1 else ''})"
    return repr(value)


def sorted_columns(columns: Iterable[Any]) -> list[Any]:
    """Returns the distinct columns, in the order of contrib."""
    return sorted(set(columns), key=sort_key)
