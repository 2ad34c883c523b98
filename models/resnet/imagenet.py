"""ImageNet from the TFRecords that TPU programs read: JPEG images, labels from 1 to 1,000."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import tensorflow as tf

import estimator_bridge as eb
from models.common.checked_records import CheckedRecords, all_of, checked_labels, count_records
from models.common.first_examples import input_for
from models.common.task import InputRequest
from models.resnet.image_data import ImageData

__all__ = ["is_imagenet", "open_imagenet"]

_FILES = {"train": "train-*", "test": "validation-*"}
# The numbers of images, by the number of files that the whole set has.
_WHOLE = {1024: 1_281_167, 128: 50_000}
_SIZE, _CLASSES, _DEPTH = 224, 1000, 50
_MARGIN = 32  # pixels around the part of a test image that is evaluated, of 256
_MEAN, _DEVIATION = (123.7, 116.3, 103.5), (58.4, 57.1, 57.4)
_IMAGE, _LABEL = "image/encoded", "image/class/label"
_FEATURES = {
    _IMAGE: tf.io.FixedLenFeature([], tf.string),
    _LABEL: tf.io.FixedLenFeature([], tf.int64),
}


def is_imagenet(data_dir: str) -> bool:
    """Returns whether a folder has files of ImageNet's layout."""
    return bool(tf.io.gfile.glob(os.path.join(data_dir, _FILES["train"])))


def open_imagenet(folder: str, skip_bad: bool = False) -> ImageData:
    """Opens the files of a folder, `train-*` and `validation-*`.

    Args:
        folder: local, or on an object store.
        skip_bad: whether records with damaged images are left out.

    Raises:
        DataError: files are missing or mixed.
        UserError: records are damaged, or a label is out of range.
    """
    patterns = {split: os.path.join(folder, names) for split, names in _FILES.items()}
    records = {split: _records_in(pattern, skip_bad) for split, pattern in patterns.items()}
    sizes = {split: checked.count for split, checked in records.items()}

    def input_fn(request: InputRequest) -> Callable[..., tf.data.Dataset]:
        pattern = patterns[request.split]
        leave_out = records[request.split].leave_out
        return input_for(request, lambda training: _reader(pattern, request, training, leave_out))

    return ImageData(
        "imagenet", folder, (_SIZE, _SIZE, 3), _CLASSES, sizes, _DEPTH, input_fn, _prepare,
        all_of(list(records.values())).damaged,
    )  # fmt: skip


def _records_in(pattern: str, skip_bad: bool) -> CheckedRecords:
    files = sorted(tf.io.gfile.glob(pattern))
    if not files:
        return CheckedRecords(eb.records.check(pattern).records)  # an error: what is missing
    count = None if skip_bad else _WHOLE.get(len(files))
    if "://" in pattern and not skip_bad:
        return CheckedRecords(count or count_records(files))
    # Of the whole set, which takes hours to decode, the first file stands for the others.
    checked = [
        checked_labels(path, _LABEL, 1, _CLASSES, _IMAGE, skip_bad)
        for path in files[: 1 if count else None]
    ]
    return CheckedRecords(count) if count else all_of(checked)


def _reader(
    pattern: str,
    request: InputRequest,
    training: bool,
    leave_out: Mapping[str, Sequence[int]],
) -> Callable[..., tf.data.Dataset]:
    def decode(features: dict[str, tf.Tensor], *labels: tf.Tensor) -> Any:
        content = features[_IMAGE]
        image = _prepare(_random_part(content, request.seed) if training else _center(content))
        return (image, labels[0] - 1) if labels else image

    return eb.records.input_fn(
        pattern,
        training,
        request.batch_size,
        _FEATURES,
        label=_LABEL,
        decode=decode,
        seed=request.seed,
        leave_out=leave_out,
    )


def _random_part(content: tf.Tensor, seed: int | None) -> tf.Tensor:
    """Decodes a random part of a JPEG, at least 8 % of it, and flips it at random."""
    begin, size, _ = tf.image.sample_distorted_bounding_box(
        tf.io.extract_jpeg_shape(content),
        tf.zeros([1, 0, 4]),
        seed or 0,
        min_object_covered=0.1,
        aspect_ratio_range=(3 / 4, 4 / 3),
        area_range=(0.08, 1.0),
        max_attempts=10,
        use_image_if_no_bounding_boxes=True,
    )
    part = tf.image.decode_and_crop_jpeg(content, tf.concat([begin[:2], size[:2]], 0), channels=3)
    return tf.image.random_flip_left_right(_resize(part), seed)


def _center(content: tf.Tensor) -> tf.Tensor:
    """Decodes the square in the middle of a JPEG, seven eighths of its shorter side."""
    height, width, _ = tf.unstack(tf.io.extract_jpeg_shape(content))
    shorter = tf.cast(tf.minimum(height, width), tf.float32)
    side = tf.cast(shorter * (_SIZE / (_SIZE + _MARGIN)), tf.int32)
    part = tf.stack([(height - side) // 2, (width - side) // 2, side, side])
    return _resize(tf.image.decode_and_crop_jpeg(content, part, channels=3))


def _resize(image: tf.Tensor) -> tf.Tensor:
    return tf.ensure_shape(tf.image.resize(image, [_SIZE, _SIZE], "bicubic"), [_SIZE, _SIZE, 3])


def _prepare(images: tf.Tensor) -> tf.Tensor:
    return (tf.cast(images, tf.float32) - tf.constant(_MEAN)) / tf.constant(_DEVIATION)
