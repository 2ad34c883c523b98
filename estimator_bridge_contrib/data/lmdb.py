"""Datasets of LMDB files."""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow as tf

from estimator_bridge_contrib.data.lmdb_files import LMDBFile

__all__ = ["LMDBDataset"]


def LMDBDataset(filenames: Any) -> tf.compat.v1.data.Dataset:
    """Reads the keys and values of LMDB files, in the order of the keys of each file.

    It needs no other package. The dataset keeps its position in checkpoints of its iterator.

    Args:
      filenames: a path or several, texts or a tensor: each a file or its folder.

    Returns:
      A dataset of pairs of a key and a value, which are text scalars.

    Raises:
      tf.errors.InvalidArgumentError: when it is read, a file is missing or has another format.
    """
    names = tf.convert_to_tensor(filenames, tf.string, name="filenames")
    dataset = tf.compat.v1.data.Dataset.from_tensor_slices(tf.reshape(names, [-1]))
    return dataset.flat_map(_pages).flat_map(_pairs)


def _pages(path: tf.Tensor) -> tf.data.Dataset:
    """Returns pairs of a file's path and the number of one of its pages."""
    # A function without state, so the position of an iterator can be saved.
    leaves = tf.numpy_function(_leaves, [path], tf.int64, stateful=False, name="lmdb_pages")
    leaves.set_shape([None])
    return tf.data.Dataset.from_tensor_slices(leaves).map(lambda leaf: (path, leaf))


def _pairs(path: tf.Tensor, leaf: tf.Tensor) -> tf.data.Dataset:
    kinds = [tf.string, tf.string]
    rows = tf.numpy_function(_read, [path, leaf], kinds, stateful=False, name="lmdb_page")
    for part in rows:
        part.set_shape([None])
    return tf.data.Dataset.from_tensor_slices(tuple(rows))


def _leaves(path: bytes) -> np.ndarray:
    with LMDBFile(path.decode()) as file:
        return np.array(file.leaves(), np.int64)


def _read(path: bytes, leaf: Any) -> tuple[np.ndarray, np.ndarray]:
    with LMDBFile(path.decode()) as file:
        pairs = list(file.read(int(leaf)))
    # Arrays of objects: texts of NumPy would lose zeros at the end of a value.
    keys, values = (np.empty(len(pairs), object) for _ in range(2))
    for i, (key, value) in enumerate(pairs):
        keys[i], values[i] = key, value
    return keys, values
