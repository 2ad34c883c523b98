"""Photographs in the layout of the flowers records: JPEG images and their classes."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable
from typing import Any

import tensorflow as tf

import estimator_bridge as eb
from estimator_bridge.records.inspection import first_records
from models.common.augment import shifted
from models.common.checked_records import CheckedRecords, checked_records
from models.common.errors import UserError
from models.common.first_examples import input_for
from models.common.task import InputRequest
from models.flowers.patches import PATCH_SIZE, folder_of, write_patches

__all__ = ["Photographs", "open_photographs", "prepare"]

_IMAGE, _CLASS, _ONE_HOT = "image", "class", "one_hot_class"
_FEATURES = {
    _IMAGE: tf.io.FixedLenFeature([], tf.string),
    _CLASS: tf.io.FixedLenFeature([], tf.int64),
}
# Names that folders of splits have.
_TEST_FOLDERS = ("test", "val", "validation")
_TEST_SHARE, _USUAL_SIZE = 0.2, 192
_MOST_SHIFT = 1 / 8  # of the image's size
_SHUFFLED = 2048  # JPEG images in memory
_MOST_DECODED = 1 << 30  # bytes of decoded images in memory; larger sets are decoded in each epoch


@dataclasses.dataclass(frozen=True)
class Photographs:
    """A set of labeled photographs.

    Attributes:
        name: `"flowers"`, `"patches"` or `"patches-quarter"`.
        folder: where it is.
        files: the files of records of the splits `"train"` and `"test"`.
        records: their records, checked.
        classes: the number of classes.
        image_size: the height and the width to which images are resized.
    """

    name: str
    folder: str
    files: dict[str, list[str]]
    records: dict[str, CheckedRecords]
    classes: int
    image_size: int

    @property
    def sizes(self) -> dict[str, int]:
        """The numbers of records of the splits."""
        return {split: checked.count for split, checked in self.records.items()}

    def input_fn(self, request: InputRequest) -> Callable[..., tf.data.Dataset]:
        """Makes the input_fn of a request.

        It returns batches of (images float32 [batch, image_size, image_size, 3] from -1 to 1,
        classes int64 [batch]); in training, flipped, shifted, and changed in color.
        """
        return input_for(request, lambda training: self._reader(request, training))

    def _reader(self, request: InputRequest, training: bool) -> Callable[..., tf.data.Dataset]:
        def decode(features: dict[str, tf.Tensor], *labels: tf.Tensor) -> Any:
            image = tf.io.decode_jpeg(features[_IMAGE], channels=3)
            image = prepare(image[tf.newaxis], self.image_size)[0]
            return (image, *labels) if labels else image

        def augment(images: tf.Tensor, labels: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
            return _augment(images, request.seed), labels

        return eb.records.input_fn(
            self.files[request.split],
            training,
            request.batch_size,
            _FEATURES,
            label=_CLASS,
            decode=decode,
            transform=augment if training else None,
            shuffle=_SHUFFLED,
            seed=request.seed,
            cache=training and self._cache_of(request.split),
            leave_out=self.records[request.split].leave_out,
        )

    def _cache_of(self, split: str) -> str | bool:
        """Returns what the reader keeps in memory: decoded images if they fit, or JPEG images."""
        decoded = self.sizes[split] * self.image_size**2 * 3 * tf.float32.size
        return "decoded" if decoded <= _MOST_DECODED else True


def prepare(images: tf.Tensor, size: int) -> tf.Tensor:
    """Makes what the backbones take of images of bytes.

    Args:
        images: uint8 [batch, height, width, 3].
        size: the height and the width of the result.

    Returns:
        float32 [batch, size, size, 3], from -1 to 1.
    """
    resized = tf.image.resize(tf.cast(images, tf.float32), [size, size])
    return tf.ensure_shape(resized / 127.5 - 1.0, [None, size, size, 3])


def _augment(images: tf.Tensor, seed: int | None) -> tf.Tensor:
    images = tf.image.random_flip_left_right(images, seed)
    images = shifted(images, max(1, round(images.shape[1] * _MOST_SHIFT)), seed)
    # Brightness and contrast of each image, in the batch at once.
    count = tf.shape(images)[0]
    contrast = tf.random.uniform([count, 1, 1, 1], 0.8, 1.2, seed=seed)
    brightness = tf.random.uniform([count, 1, 1, 1], -0.1, 0.1, seed=seed)
    return tf.clip_by_value(images * contrast + brightness, -1.0, 1.0)


def open_photographs(
    data_dir: str,
    image_size: int | None,
    smallest: int,
    patches: str = "photograph",
    skip_bad: bool = False,
) -> Photographs:
    """Finds the records of a folder; if there are none, writes the patches there.

    Args:
        data_dir: a folder with the folders `train` and `val` of records, or with `.tfrec` files,
            the last fifth of which are the test set.
        image_size: the size to resize images to; None: the data's own.
        smallest: the smallest size that the model takes.
        patches: the task on the patches; see `models.flowers.patches.write_patches`.
        skip_bad: whether records with damaged images are left out.

    Raises:
        DataError: files are missing, damaged or mixed.
        UserError: records have other features, classes that are out of range, or, without
            `skip_bad`, images that cannot be decoded.
    """
    files = _files_in(data_dir)
    name, folder, own_size = "flowers", data_dir, _USUAL_SIZE
    if files is None:
        name, own_size = folder_of(patches), PATCH_SIZE
        folder = os.path.join(data_dir, name)
        write_patches(folder, patches)
        files = _files_in(folder)
        assert files is not None
    classes = _equal_classes(files)
    records = {
        split: checked_records(paths, _CLASS, classes, skip_bad) for split, paths in files.items()
    }
    size = image_size or max(own_size, smallest)
    return Photographs(name, folder, files, records, classes, size)


def _files_in(folder: str) -> dict[str, list[str]] | None:
    """Returns the files of the splits; None if the folder has none."""
    train = os.path.join(folder, "train")
    if tf.io.gfile.isdir(train):
        tests = [os.path.join(folder, name) for name in _TEST_FOLDERS]
        test = next(filter(tf.io.gfile.isdir, tests), None)
        if test is None:
            raise UserError(
                f"{folder}: has a folder train and none of {', '.join(_TEST_FOLDERS)}. Add the "
                "records to evaluate on as one of them."
            )
        return {"train": _records(train), "test": _records(test)}
    files = sorted(tf.io.gfile.glob(os.path.join(folder, "*.tfrec")))
    if not files:
        return None
    count = max(1, round(_TEST_SHARE * len(files)))
    if count == len(files):
        raise UserError(
            f"{folder}: one file of records, which cannot be divided into a training and a test "
            "set. Write more files, or make the folders train and test."
        )
    return {"train": files[:-count], "test": files[-count:]}


def _records(folder: str) -> list[str]:
    from estimator_bridge.records.files import find_records

    return list(find_records(folder).paths)


def _equal_classes(files: dict[str, list[str]]) -> int:
    """Returns the number of classes, by the first record of each file of this machine."""
    first, *others = (path for paths in files.values() for path in paths)
    classes = _classes_in(first)
    for path in others:
        if "://" not in path and (count := _classes_in(path)) != classes:
            raise UserError(
                f"{path}: one_hot_class has {count} values, but {classes} in {first}. Name a "
                "folder with the records of one data set."
            )
    return classes


def _classes_in(path: str) -> int:
    """Returns the number of classes, from the first record's one_hot_class.

    Raises:
        DataError: the record is no `tf.train.Example`.
        UserError: there is no whole record, or it has other features.
    """
    records = first_records([path], 1)
    if not records:
        raise UserError(
            f"{path}, byte 0: empty, or the first record is damaged. Copy the file again, or "
            "remove it."
        )
    features = records[0].features.feature
    missing = [name for name in (_IMAGE, _CLASS, _ONE_HOT) if name not in features]
    if missing:
        raise UserError(
            f"{path}: its records have no feature {', '.join(missing)}, but "
            f"{', '.join(sorted(features))}. Want the layout of the flowers records: image (JPEG), "
            "class (int64) and one_hot_class (a float for each class)."
        )
    return len(features[_ONE_HOT].float_list.value)
