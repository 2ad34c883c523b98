"""Initializers that load a matrix of a checkpoint, whose rows belong to another vocabulary now."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tensorflow as tf

from estimator_bridge.tensorflow_private.contrib_names import load_and_remap_matrix_initializer

__all__ = ["load_linear_multiclass_bias_initializer", "load_variable_slot_initializer"]

Initializer = Callable[..., tf.Tensor]


def load_linear_multiclass_bias_initializer(
    ckpt_path: str,
    bias_tensor_name: str,
    new_class_vocab_size: int,
    old_class_vocab_file: str,
    new_class_vocab_file: str,
    num_class_oov_buckets: int = 0,
    initializer: Initializer | None = None,
    max_rows_in_memory: int = -1,
) -> Initializer:
    """Returns an initializer that loads the biases of classes.

    Args:
      ckpt_path: the checkpoint.
      bias_tensor_name: the name of the biases in it: [classes] or [classes, 1].
      new_class_vocab_size: the number of classes in new_class_vocab_file.
      old_class_vocab_file: a file of the checkpoint's classes, one a line.
      new_class_vocab_file: a file of the model's classes.
      num_class_oov_buckets: the number of further classes.
      initializer: initializes classes that the checkpoint lacks; zeros by default.
      max_rows_in_memory: the number of rows that are read at once; -1 for all.

    Returns:
      An initializer of [new_class_vocab_size + num_class_oov_buckets, 1].
    """
    return load_and_remap_matrix_initializer(
        ckpt_path=ckpt_path,
        old_tensor_name=bias_tensor_name,
        new_row_vocab_size=new_class_vocab_size,
        new_col_vocab_size=1,
        old_row_vocab_file=old_class_vocab_file,
        new_row_vocab_file=new_class_vocab_file,
        num_row_oov_buckets=num_class_oov_buckets,
        initializer=initializer or tf.compat.v1.zeros_initializer(),
        max_rows_in_memory=max_rows_in_memory,
    )


def load_variable_slot_initializer(
    ckpt_path: str,
    old_tensor_name: str,
    primary_partition_info: Any,
    new_row_vocab_size: int,
    new_col_vocab_size: int,
    old_row_vocab_file: str | None = None,
    new_row_vocab_file: str | None = None,
    old_col_vocab_file: str | None = None,
    new_col_vocab_file: str | None = None,
    num_row_oov_buckets: int = 0,
    num_col_oov_buckets: int = 0,
    initializer: Initializer | None = None,
    max_rows_in_memory: int = -1,
) -> Initializer:
    """Returns an initializer that loads an optimizer's slot.

    Args:
      ckpt_path: the checkpoint.
      old_tensor_name: the name of a matrix in it.
      primary_partition_info: which part of its variable the slot belongs to; an optimizer does not
        say that to the initializer. None for a variable without parts.
      new_row_vocab_size: the number of rows in new_row_vocab_file, or of the rows to load.
      new_col_vocab_size: the number of columns in new_col_vocab_file, or of the columns to load.
      old_row_vocab_file: a file of the names of the checkpoint's rows; None to keep the rows.
      new_row_vocab_file: a file of the names of the model's rows.
      old_col_vocab_file: a file of the names of the checkpoint's columns; None to keep the columns.
      new_col_vocab_file: a file of the names of the model's columns.
      num_row_oov_buckets: the number of further rows.
      num_col_oov_buckets: the number of further columns.
      initializer: initializes what the checkpoint lacks; zeros by default.
      max_rows_in_memory: the number of rows that are read at once; -1 for all.

    Returns:
      An initializer of [new_row_vocab_size + num_row_oov_buckets, new_col_vocab_size +
      num_col_oov_buckets], or of a part of it.

    Raises:
      TypeError: the initializer is not callable.
    """
    load = load_and_remap_matrix_initializer(
        ckpt_path=ckpt_path,
        old_tensor_name=old_tensor_name,
        new_row_vocab_size=new_row_vocab_size,
        new_col_vocab_size=new_col_vocab_size,
        old_row_vocab_file=old_row_vocab_file,
        new_row_vocab_file=new_row_vocab_file,
        old_col_vocab_file=old_col_vocab_file,
        new_col_vocab_file=new_col_vocab_file,
        num_row_oov_buckets=num_row_oov_buckets,
        num_col_oov_buckets=num_col_oov_buckets,
        initializer=initializer,
        max_rows_in_memory=max_rows_in_memory,
    )

    def initialize(shape: Any, dtype: Any = tf.float32, partition_info: Any = None) -> tf.Tensor:
        del partition_info
        return load(shape, dtype, partition_info=primary_partition_info)

    return initialize
