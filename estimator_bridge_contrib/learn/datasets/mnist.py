"""The MNIST digits, as tf.contrib.learn read them."""

from __future__ import annotations

from typing import Any

import numpy as np

from estimator_bridge.legacy.mnist import (
    IMAGES,
    LABELS,
    DataSet,
    DataSets,
    decode,
    read_data_sets,
)

__all__ = [
    "DataSet",
    "dense_to_one_hot",
    "extract_images",
    "extract_labels",
    "load_mnist",
    "read_data_sets",
]


def load_mnist(train_dir: str = "MNIST-data") -> DataSets:
    """Reads the training, validation and test sets from a folder.

    Args:
      train_dir: the folder of MNIST's four files; missing files are downloaded to it.

    Raises:
      FileNotFoundError: a file is missing and cannot be downloaded.
    """
    return read_data_sets(train_dir)


def extract_images(f: Any) -> np.ndarray:
    """Reads an open gzip file of images, uint8 [examples, rows, columns, 1].

    Raises:
      ValueError: the file is not one of MNIST's images.
    """
    return decode(f.read(), IMAGES, getattr(f, "name", "the given file"))[..., np.newaxis]


def extract_labels(f: Any, one_hot: bool = False, num_classes: int = 10) -> np.ndarray:
    """Reads an open gzip file of labels.

    Args:
      f: the file.
      one_hot: whether labels are [examples, num_classes] instead of uint8 [examples].
      num_classes: the number of classes.

    Raises:
      ValueError: the file is not one of MNIST's labels.
    """
    labels = decode(f.read(), LABELS, getattr(f, "name", "the given file"))
    return dense_to_one_hot(labels, num_classes) if one_hot else labels


def dense_to_one_hot(labels_dense: Any, num_classes: int) -> np.ndarray:
    """Returns labels as float64 [examples, num_classes], 1 for the label's class and else 0."""
    return np.eye(num_classes)[np.ravel(labels_dense)]
