"""scikit-learn's digits as records: 1,797 images of 8 by 8 pixels, enough to test a ResNet with."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import tensorflow as tf

import estimator_bridge as eb
from models.common.augment import shifted
from models.common.checked_records import checked_records
from models.common.first_examples import input_for
from models.common.task import InputRequest
from models.mnist.digits import split_digits
from models.resnet.image_data import ImageData

__all__ = ["open_digits"]

_SHAPE, _CLASSES, _DEPTH = (8, 8, 1), 10, 8
_MOST_PIXELS = 1


def open_digits(folder: str) -> ImageData:
    """Opens the digits, written at first use.

    Args:
        folder: has a folder of records for each split.

    Raises:
        DataError: files are missing.
        UserError: records are damaged.
    """
    folders = {split: os.path.join(folder, split) for split in ("train", "test")}
    sizes = {split: _write(split, path) for split, path in folders.items()}

    def input_fn(request: InputRequest) -> Callable[..., tf.data.Dataset]:
        path = folders[request.split]
        return input_for(request, lambda training: _reader(path, request, training))

    return ImageData("resnet-digits", folder, _SHAPE, _CLASSES, sizes, _DEPTH, input_fn, _prepare)


def _write(split: str, path: str) -> int:
    if eb.records.read_manifest(path) is None:
        images, labels = split_digits()[split]
        source = eb.records.from_arrays({"image": images[..., None], "label": labels})
        eb.records.write(source, path)
    return checked_records(path, "label", _CLASSES).count


def _reader(path: str, request: InputRequest, training: bool) -> Callable[..., tf.data.Dataset]:
    def images(features: dict[str, tf.Tensor], *labels: tf.Tensor) -> Any:
        images = _prepare(features["image"])
        if training:
            images = shifted(images, _MOST_PIXELS, request.seed)
        return (images, *labels) if labels else images  # prediction leaves the labels out

    return eb.records.input_fn(
        path,
        training,
        request.batch_size,
        label="label",
        seed=request.seed,
        transform=images,
        cache=True,
    )


def _prepare(images: tf.Tensor) -> tf.Tensor:
    return tf.cast(images, tf.float32) / 127.5 - 1.0
