"""CIFAR-10 from its binary files: 60,000 photographs of 32 by 32 pixels."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf

import estimator_bridge as eb
from estimator_bridge.base.any_files import check_is_no_pipe
from models.common.augment import shifted
from models.common.errors import UserError
from models.common.first_examples import input_for
from models.common.own_part import own_part
from models.common.task import InputRequest
from models.resnet.image_data import ImageData

__all__ = ["FILES", "SIZE", "find_cifar", "open_cifar"]

_FOLDER = "cifar-10-batches-bin"
FILES = {
    "train": [f"data_batch_{number}.bin" for number in range(1, 6)],
    "test": ["test_batch.bin"],
}
SIZE, _CLASSES, _DEPTH = 32, 10, 20
_BYTES = 1 + 3 * SIZE**2  # a label, then the planes of red, green and blue
_SHUFFLED, _MOST_PIXELS = 50_000, 4
# The training set's, over all channels.
_MEAN, _DEVIATION = 120.7, 64.2


def find_cifar(data_dir: str) -> str | None:
    """Returns the folder with the files: the given one or one in it; None without any."""
    folders = (data_dir, os.path.join(data_dir, _FOLDER))
    first = FILES["train"][0]
    return next((one for one in folders if tf.io.gfile.exists(os.path.join(one, first))), None)


def open_cifar(folder: str) -> ImageData:
    """Opens the files of a folder, after a check of their sizes and labels.

    Raises:
        UserError: a file is missing or damaged, or a label is out of range.
    """
    paths = {split: [os.path.join(folder, f) for f in files] for split, files in FILES.items()}
    sizes = {split: sum(map(_records_in, files)) for split, files in paths.items()}

    def input_fn(request: InputRequest) -> Callable[..., tf.data.Dataset]:
        files = paths[request.split]
        return input_for(request, lambda training: _reader(files, request, training))

    return ImageData(
        "cifar10", folder, (SIZE, SIZE, 3), _CLASSES, sizes, _DEPTH, input_fn, _prepare
    )


def _records_in(path: str) -> int:
    advice = "Unpack the archive of CIFAR-10's binary version again"
    if not tf.io.gfile.exists(path):
        raise UserError(f"{path}: missing. {advice}; it has six files of records.")
    check_is_no_pipe(path)
    size = tf.io.gfile.stat(path).length
    if not size or size % _BYTES:
        raise UserError(
            f"{path}: damaged: {size} bytes, want a multiple of {_BYTES}, the size of a label and "
            f"an image. {advice}."
        )
    with tf.io.gfile.GFile(path, "rb") as file:
        labels = np.frombuffer(file.read(), np.uint8)[::_BYTES]
    if labels.max() >= _CLASSES:
        at = int(np.argmax(labels >= _CLASSES))
        raise UserError(
            f"{path}, byte {at * _BYTES}: label {labels[at]}, want 0 to {_CLASSES - 1}. {advice}."
        )
    return size // _BYTES


def _reader(
    files: list[str], request: InputRequest, training: bool
) -> Callable[..., tf.data.Dataset]:
    def records(params: Any, input_context: tf.distribute.InputContext | None) -> tf.data.Dataset:
        every = tf.data.FixedLengthRecordDataset(files, _BYTES)
        examples = own_part(every, params, input_context)
        return examples.shuffle(_SHUFFLED, seed=request.seed).repeat() if training else examples

    def parse(batch: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        content = tf.ensure_shape(tf.io.decode_raw(batch, tf.uint8), [None, _BYTES])
        planes = tf.reshape(content[:, 1:], [-1, 3, SIZE, SIZE])
        images = _prepare(tf.transpose(planes, [0, 2, 3, 1]))
        if training:
            images = shifted(images, _MOST_PIXELS, request.seed)
            images = tf.image.random_flip_left_right(images, request.seed)
        return images, tf.cast(content[:, 0], tf.int64)

    batches = eb.data.input_fn(records, training, request.batch_size)

    def input_fn(
        params: Any = None,
        mode: str | None = None,
        input_context: tf.distribute.InputContext | None = None,
    ) -> tf.data.Dataset:
        parsed = batches(params, mode, input_context).map(parse, tf.data.AUTOTUNE)
        return parsed.prefetch(tf.data.AUTOTUNE)

    return input_fn


def _prepare(images: tf.Tensor) -> tf.Tensor:
    return (tf.cast(images, tf.float32) - _MEAN) / _DEVIATION
