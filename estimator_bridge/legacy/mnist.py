"""``tensorflow.examples.tutorials.mnist.input_data``: the MNIST digits as batches of arrays."""

from __future__ import annotations

import gzip
import io
import math
import struct
import zlib
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf

from estimator_bridge.base.any_files import check_is_no_pipe, read_at_most
from estimator_bridge.legacy.downloads import local_copy

__all__ = ["IMAGES", "LABELS", "DataSet", "DataSets", "decode", "read_data_sets"]

_SOURCE = "https://storage.googleapis.com/cvdf-datasets/mnist/"
_FILES = {
    "train": ("train-images-idx3-ubyte.gz", "train-labels-idx1-ubyte.gz"),
    "test": ("t10k-images-idx3-ubyte.gz", "t10k-labels-idx1-ubyte.gz"),
}
# The magic numbers at the start of the files.
IMAGES, LABELS = 2051, 2049
_MOST_BYTES = 1 << 30
_N_CLASSES = 10


class DataSet:
    """Images and labels, and the position of the next batch.

    Args:
      images: uint8 [examples, rows, columns, 1].
      labels: [examples], or [examples, 10].
      fake_data: whether to generate all images.
      one_hot: whether generated labels are one-hot.
      dtype: uint8 keeps the images unchanged, float32 divides them by 255.
      reshape: whether to flatten images to rows of pixels.
      seed: the seed of the shuffling, combined with the graph's. As in the original, it seeds
        NumPy's global generator.

    Raises:
      TypeError: dtype is not uint8 or float32.
      ValueError: the numbers of labels and images differ.
    """

    def __init__(
        self,
        images: Any,
        labels: Any,
        fake_data: bool = False,
        one_hot: bool = False,
        dtype: Any = tf.float32,
        reshape: bool = True,
        seed: int | None = None,
    ):
        of_graph, of_op = tf.compat.v1.get_seed(seed)
        np.random.seed(of_graph if seed is None else of_op)
        dtype = tf.as_dtype(dtype)
        if dtype not in (tf.uint8, tf.float32):
            raise TypeError(f"Invalid image dtype {dtype!r}, expected uint8 or float32.")
        self.one_hot = one_hot
        if not fake_data:
            if len(images) != len(labels):
                raise ValueError(f"There are {len(images)} images and {len(labels)} labels.")
            if reshape:
                images = images.reshape(len(images), -1)
            if dtype == tf.float32:
                images = images.astype(np.float32) * np.float32(1.0 / 255.0)
        self._images, self._labels = images, labels
        self._num_examples = 10000 if fake_data else len(images)
        self._epochs_completed = 0
        self._next = 0

    @property
    def images(self) -> Any:
        """The images, in the order of the current epoch."""
        return self._images

    @property
    def labels(self) -> Any:
        """The labels, in the same order."""
        return self._labels

    @property
    def num_examples(self) -> int:
        """The number of examples."""
        return self._num_examples

    @property
    def epochs_completed(self) -> int:
        """The number of completed epochs."""
        return self._epochs_completed

    def next_batch(self, batch_size: int, fake_data: bool = False, shuffle: bool = True) -> Any:
        """Returns the next images and labels; a batch may reach into the next epoch.

        Args:
          batch_size: the number of examples.
          fake_data: whether to generate them.
          shuffle: whether to shuffle each epoch.

        Returns:
          The images and the labels.
        """
        if fake_data:
            label = [1] + [0] * (_N_CLASSES - 1) if self.one_hot else 0
            return [[1] * 784] * batch_size, [label] * batch_size
        start, self._next = self._next, self._next + batch_size
        if shuffle and start == 0 and self._epochs_completed == 0:
            self._shuffle()
        if self._next <= self._num_examples:
            return self._images[start : self._next], self._labels[start : self._next]
        rest = self._images[start:], self._labels[start:]
        self._epochs_completed += 1
        if shuffle:
            self._shuffle()
        self._next -= self._num_examples
        images, labels = self._images[: self._next], self._labels[: self._next]
        return np.concatenate([rest[0], images]), np.concatenate([rest[1], labels])

    def _shuffle(self) -> None:
        order = np.arange(self._num_examples)
        np.random.shuffle(order)
        self._images, self._labels = self._images[order], self._labels[order]


class DataSets(NamedTuple):
    """The training, validation and test sets."""

    train: DataSet
    validation: DataSet
    test: DataSet


def read_data_sets(
    train_dir: str,
    fake_data: bool = False,
    one_hot: bool = False,
    dtype: Any = tf.float32,
    reshape: bool = True,
    validation_size: int = 5000,
    seed: int | None = None,
    source_url: str = _SOURCE,
) -> DataSets:
    """Reads the four files of MNIST.

    Args:
      train_dir: the folder of the files; missing files are downloaded to it.
      fake_data: whether to read nothing and generate images.
      one_hot: whether labels are [examples, 10].
      dtype: see `DataSet`.
      reshape: see `DataSet`.
      validation_size: the number of training images to hold out for validation.
      seed: see `DataSet`.
      source_url: the URL to download from, with a slash at the end.

    Returns:
      The three sets.

    Raises:
      ValueError: validation_size is out of range, or a file is not one of MNIST's.
      FileNotFoundError: a file is missing and cannot be downloaded.
    """
    if fake_data:
        made_up = (DataSet([], [], True, one_hot, dtype, seed=seed) for _ in DataSets._fields)
        return DataSets(*made_up)
    arrays = {}
    source = source_url or _SOURCE
    for part, (image_file, label_file) in _FILES.items():
        numbers = _read(_local(label_file, train_dir, source), LABELS)
        if one_hot:
            numbers = np.eye(_N_CLASSES)[numbers]
        pictures = _read(_local(image_file, train_dir, source), IMAGES)
        arrays[part] = pictures[..., np.newaxis], numbers
    images, labels = arrays["train"]
    if not 0 <= validation_size <= len(images):
        raise ValueError(
            f"Validation size should be between 0 and {len(images)}. Received: {validation_size}."
        )
    parts = [
        (images[validation_size:], labels[validation_size:]),
        (images[:validation_size], labels[:validation_size]),
        arrays["test"],
    ]
    return DataSets(*(DataSet(*part, False, False, dtype, reshape, seed) for part in parts))


def _local(name: str, folder: str, source: str) -> str:
    files = ", ".join(sum(_FILES.values(), ()))
    return local_copy(
        name, folder, source + name, f"Put MNIST's four files ({files}) in {folder!r}."
    )


class _DamagedFileError(ValueError, OSError):
    """A file is not what gzip wrote; the original's error was an OSError."""


def _read(path: str, kind: int) -> np.ndarray:
    check_is_no_pipe(path)
    with tf.io.gfile.GFile(path, "rb") as file:
        return decode(file.read(), kind, path)


def decode(packed: bytes, kind: int, name: str) -> np.ndarray:
    """Returns the numbers of a file of MNIST, uint8 [examples] or [examples, rows, columns].

    Args:
      packed: the content of the gzip file.
      kind: the number at its start: IMAGES or LABELS.
      name: the file's name, for the error.

    Raises:
      ValueError: the file is damaged, or of another kind.
    """
    dimensions = 3 if kind == IMAGES else 1
    start = 4 * (1 + dimensions)
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(packed)) as file:
            head = file.read(start).ljust(start, b"\0")
            magic, *shape = struct.unpack(f">{1 + dimensions}I", head)
            if magic != kind:
                raise ValueError(
                    f"Invalid magic number {magic} in MNIST file: {name}. Expected {kind}."
                )
            size = math.prod(shape)
            if size > _MOST_BYTES:
                raise ValueError(f"{name}: its header states the shape {shape}, more than 1 GiB.")
            content = read_at_most(file, size)
    except (OSError, EOFError, zlib.error) as error:
        raise _DamagedFileError(
            f"{name}: damaged gzip file: {error}. Download it again."
        ) from error
    if len(content) < size:
        raise ValueError(f"{name}: cut short: its header states the shape {shape}.")
    return np.frombuffer(content, np.uint8).reshape(shape)
