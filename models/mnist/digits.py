"""scikit-learn's bundled handwritten digits as TFRecords: 1,797 images, 8 by 8 pixels."""

from __future__ import annotations

import numpy as np

from estimator_bridge.base.any_files import exists
from models.mnist.records import write_records

__all__ = ["split_digits", "write_digits"]

# Fixed, so that every machine trains and tests on the same digits.
_SPLIT_SEED = 2018
_TEST_FRACTION = 0.2
_NUM_SHARDS = {"train": 4, "test": 2}
_BRIGHTEST = 16.0


def split_digits() -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Loads the digits and splits them, each class in the same proportion.

    Returns:
        For `"train"` (1,437 digits) and `"test"` (360): images, uint8 [count, 8, 8] from 0 to
        255, and labels, int64 [count].
    """
    from sklearn.datasets import load_digits
    from sklearn.model_selection import train_test_split

    digits = load_digits()
    # Scaled from 0..16 to a byte's range, so that full MNIST is read the same way.
    images = np.rint(digits.images * (255.0 / _BRIGHTEST)).astype(np.uint8)
    labels = digits.target.astype(np.int64)
    train_images, test_images, train_labels, test_labels = train_test_split(
        images, labels, test_size=_TEST_FRACTION, random_state=_SPLIT_SEED, stratify=labels
    )
    return {"train": (train_images, train_labels), "test": (test_images, test_labels)}


def write_digits(folder: str) -> None:
    """Writes the digits as sharded TFRecords, unless the folder exists.

    Args:
        folder: the folder of the shards; created completely or not at all.
    """
    if exists(folder):
        return
    splits = split_digits()
    height, width = splits["train"][0].shape[1:]
    records = {
        split: [_record(image, label) for image, label in zip(images, labels)]
        for split, (images, labels) in splits.items()
    }
    write_records(folder, records, _NUM_SHARDS, about={"height": height, "width": width})


def _record(image: np.ndarray, label: int) -> bytes:
    import tensorflow as tf

    feature = {
        "image": tf.train.Feature(bytes_list=tf.train.BytesList(value=[image.tobytes()])),
        "label": tf.train.Feature(int64_list=tf.train.Int64List(value=[label])),
    }
    example = tf.train.Example(features=tf.train.Features(feature=feature))
    return example.SerializeToString(deterministic=True)
