"""Handwritten digits as `tf.data`: full MNIST if its files exist, else scikit-learn's digits."""

from __future__ import annotations

import dataclasses
import os
from typing import Callable

import numpy as np
import tensorflow as tf

from estimator_bridge.checkpoint import explained_full_disk_of
from estimator_bridge.records.framing import check_lengths
from models.mnist.check import DIGITS_FOLDER
from models.mnist.digits import write_digits
from models.mnist.idx import IdxPair, find_mnist, shapes_of
from models.mnist.records import Manifest, open_records

__all__ = ["DigitData", "examples", "make_dataset", "open_data"]

# Parsing is cheap, and the training step needs the other cores.
_PARALLEL_CALLS = 2
# A smaller training set is augmented by shifting each image one pixel to each side and corner,
# which halves the test errors on scikit-learn's few digits.
_FEW = 10_000
_SHIFTS = 9
# Bytes before the values of an IDX file: magic number and one number per dimension.
_IMAGES_HEADER, _LABELS_HEADER = 16, 8


@dataclasses.dataclass(frozen=True)
class DigitData:
    """A checked set of labeled images of digits.

    Attributes:
        name: `"digits"` or `"mnist"`.
        folder: its folder.
        height: height of an image, in pixels.
        width: width of an image, in pixels.
        sizes: the number of examples of the splits `"train"` and `"test"`.
        read: maps a split's name to a dataset, one pass in order, of (image float32
            [height, width, 1] from 0 to 1, label int64 []).
    """

    name: str
    folder: str
    height: int
    width: int
    sizes: dict[str, int]
    read: Callable[[str], tf.data.Dataset]


def open_data(data_dir: str) -> DigitData:
    """Finds the data, or writes it at first use, and checks all of it.

    Args:
        data_dir: a folder with the four MNIST IDX files, plain or .gz. If it has none of them,
            scikit-learn's digits are used, and written as TFRecords to `digits` in it unless they
            exist.

    Returns:
        The data.

    Raises:
        DataError: a file is damaged or missing; the message names it.
        OSError: the folder cannot be read or written.
    """
    pairs = find_mnist(data_dir)
    if pairs is not None:
        return _open_mnist(data_dir, pairs)
    folder = os.path.join(data_dir, DIGITS_FOLDER)
    with explained_full_disk_of(f"The folder {folder}"):
        write_digits(folder)
    return _open_digits(folder, open_records(folder))


def _open_digits(folder: str, manifest: Manifest) -> DigitData:
    height, width = manifest.about["height"], manifest.about["width"]

    def parse(record: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        example = tf.io.parse_single_example(
            record,
            {
                "image": tf.io.FixedLenFeature([], tf.string),
                "label": tf.io.FixedLenFeature([], tf.int64),
            },
        )
        return _pixels(example["image"], height, width), example["label"]

    def read(split: str) -> tf.data.Dataset:
        files = [os.path.join(folder, shard.file) for shard in manifest.splits[split]]
        check_lengths(files)
        return tf.data.TFRecordDataset(files).map(parse, num_parallel_calls=_PARALLEL_CALLS)

    sizes = {split: manifest.size(split) for split in ("train", "test")}
    return DigitData("digits", folder, height, width, sizes, read)


def _open_mnist(folder: str, pairs: dict[str, IdxPair]) -> DigitData:
    # tf.data reads the files itself, so that the traced program does not carry 55 MB of constants.
    shapes = shapes_of(pairs)
    _, height, width = shapes["train"]

    def parse(image: tf.Tensor, label: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        value = tf.reshape(tf.io.decode_raw(label, tf.uint8), [])
        return _pixels(image, height, width), tf.cast(value, tf.int64)

    def read(split: str) -> tf.data.Dataset:
        images = _idx_values(pairs[split].images, _IMAGES_HEADER, height * width)
        labels = _idx_values(pairs[split].labels, _LABELS_HEADER, 1)
        dataset = tf.data.Dataset.zip((images, labels))
        return dataset.map(parse, num_parallel_calls=_PARALLEL_CALLS)

    sizes = {split: shape[0] for split, shape in shapes.items()}
    return DigitData("mnist", folder, height, width, sizes, read)


def _idx_values(path: str, header_bytes: int, value_bytes: int) -> tf.data.Dataset:
    return tf.data.FixedLengthRecordDataset(
        path,
        value_bytes,
        header_bytes=header_bytes,
        compression_type="GZIP" if path.endswith(".gz") else "",
    )


def _pixels(content: tf.Tensor, height: int, width: int) -> tf.Tensor:
    pixels = tf.reshape(tf.io.decode_raw(content, tf.uint8), [height, width, 1])
    return tf.cast(pixels, tf.float32) / 255.0


def make_dataset(
    data: DigitData,
    split: str,
    *,
    shuffle_seed: int | None = None,
    first: int | None = None,
) -> tf.data.Dataset:
    """Makes the dataset of one split, unbatched.

    Args:
        data: the data.
        split: `"train"`: repeated indefinitely and reshuffled each epoch; a small set is also
            augmented by one-pixel shifts. `"test"`: one pass, in order.
        shuffle_seed: the same seed gives the same order; None gives another one in each run.
        first: only this many examples, unshuffled; None: all.

    Returns:
        A dataset of (image float32 [height, width, 1] from 0 to 1, label int64 []).
    """
    dataset = data.read(split)
    if first is not None:
        first_examples = dataset.take(first).cache()
        return first_examples.repeat() if split == "train" else first_examples
    if split == "train":
        size = data.sizes[split]
        if size < _FEW:
            dataset, size = dataset.flat_map(_shift), size * _SHIFTS
        # Cached after parsing: mapping single examples costs ten times as much as reading them.
        dataset = dataset.cache().shuffle(size, seed=shuffle_seed).repeat()
    return dataset


def _shift(image: tf.Tensor, label: tf.Tensor) -> tf.data.Dataset:
    height, width, _ = image.shape
    padded = tf.pad(image, [[1, 1], [1, 1], [0, 0]])
    images = [padded[y : y + height, x : x + width] for y in range(3) for x in range(3)]
    return tf.data.Dataset.from_tensor_slices((images, [label] * _SHIFTS))


def examples(data: DigitData, split: str, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Reads the first examples of a split, to show them.

    Args:
        data: the data.
        split: `"train"` or `"test"`.
        count: maximum number of examples.

    Returns:
        Images, float32 [count, height, width] from 0 to 1, and labels, int64 [count].
    """
    rows = list(data.read(split).take(count).as_numpy_iterator())
    images, labels = zip(*rows)
    return np.stack(images)[..., 0], np.array(labels)
