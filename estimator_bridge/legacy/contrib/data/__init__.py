"""tf.contrib.data: what became tf.data.experimental, under its older names."""

from __future__ import annotations

import tensorflow as tf

from estimator_bridge.experimental import CheckpointInputPipelineHook
from estimator_bridge.legacy.contrib.data.batching import (
    assert_element_shape,
    batch_and_drop_remainder,
    padded_batch_and_drop_remainder,
    sliding_window_batch,
)
from estimator_bridge.legacy.contrib.data.readers import (
    read_batch_features,
    reduce_dataset,
    sloppy_interleave,
)
from estimator_bridge.legacy.missing import missing_getattr

__all__ = [
    "AUTOTUNE",
    "CheckpointInputPipelineHook",
    "Counter",
    "CsvDataset",
    "Dataset",
    "FixedLengthRecordDataset",
    "Iterator",
    "Optional",
    "RandomDataset",
    "Reducer",
    "SqlDataset",
    "TFRecordDataset",
    "TFRecordWriter",
    "TextLineDataset",
    "assert_element_shape",
    "batch_and_drop_remainder",
    "bucket_by_sequence_length",
    "choose_from_datasets",
    "copy_to_device",
    "dense_to_sparse_batch",
    "enumerate_dataset",
    "get_next_as_optional",
    "get_single_element",
    "group_by_reducer",
    "group_by_window",
    "ignore_errors",
    "make_batched_features_dataset",
    "make_csv_dataset",
    "make_saveable_from_iterator",
    "map_and_batch",
    "padded_batch_and_drop_remainder",
    "parallel_interleave",
    "parse_example_dataset",
    "prefetch_to_device",
    "read_batch_features",
    "reduce_dataset",
    "rejection_resample",
    "sample_from_datasets",
    "scan",
    "shuffle_and_repeat",
    "sliding_window_batch",
    "sloppy_interleave",
    "unbatch",
    "unique",
]

_data = tf.compat.v1.data

AUTOTUNE = _data.experimental.AUTOTUNE
Counter = _data.experimental.Counter
CsvDataset = _data.experimental.CsvDataset
Optional = _data.experimental.Optional
RandomDataset = _data.experimental.RandomDataset
Reducer = _data.experimental.Reducer
SqlDataset = _data.experimental.SqlDataset
TFRecordWriter = _data.experimental.TFRecordWriter
bucket_by_sequence_length = _data.experimental.bucket_by_sequence_length
choose_from_datasets = _data.experimental.choose_from_datasets
copy_to_device = _data.experimental.copy_to_device
dense_to_sparse_batch = _data.experimental.dense_to_sparse_batch
enumerate_dataset = _data.experimental.enumerate_dataset
get_next_as_optional = _data.experimental.get_next_as_optional
get_single_element = _data.experimental.get_single_element
group_by_reducer = _data.experimental.group_by_reducer
group_by_window = _data.experimental.group_by_window
ignore_errors = _data.experimental.ignore_errors
make_batched_features_dataset = _data.experimental.make_batched_features_dataset
make_csv_dataset = _data.experimental.make_csv_dataset
make_saveable_from_iterator = _data.experimental.make_saveable_from_iterator
map_and_batch = _data.experimental.map_and_batch
parallel_interleave = _data.experimental.parallel_interleave
parse_example_dataset = _data.experimental.parse_example_dataset
prefetch_to_device = _data.experimental.prefetch_to_device
rejection_resample = _data.experimental.rejection_resample
sample_from_datasets = _data.experimental.sample_from_datasets
scan = _data.experimental.scan
shuffle_and_repeat = _data.experimental.shuffle_and_repeat
unbatch = _data.experimental.unbatch
unique = _data.experimental.unique

# Datasets themselves stood here until TensorFlow 1.4.
Dataset = _data.Dataset
FixedLengthRecordDataset = _data.FixedLengthRecordDataset
Iterator = _data.Iterator
TFRecordDataset = _data.TFRecordDataset
TextLineDataset = _data.TextLineDataset

__getattr__ = missing_getattr(
    __name__,
    {
        "LMDBDataset": "is not in TensorFlow 2. Read the file with the package lmdb in "
        "tf.data.Dataset.from_generator.",
    },
    "tf.contrib.data",
)
