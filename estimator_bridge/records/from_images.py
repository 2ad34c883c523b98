"""Records from a folder of images, one sub-folder for each class."""

from __future__ import annotations

import os
from collections.abc import Iterator

import numpy as np
import tensorflow as tf

from estimator_bridge.errors import DataError
from estimator_bridge.records.features import Feature, encode
from estimator_bridge.records.files import check_regular
from estimator_bridge.records.images import decoded_image
from estimator_bridge.records.source import OVERHEAD, Source
from estimator_bridge.records.unreadable import reason_of
from estimator_bridge.tensorflow_private.names import eager_mode

__all__ = ["from_images"]

_ENDINGS = (".jpg", ".jpeg", ".png", ".gif", ".bmp")
_FEATURES = {"image": Feature("string"), "label": Feature("int64")}
_FEW = 3


def from_images(folder: str, seed: int | None = 0) -> Source:
    """Returns the images of a folder as records of "image" and "label".

    "image" is the unchanged content of the file. "label" is the number of its sub-folder, in the
    order of the names, which the manifest lists as classes.

    Args:
      folder: a folder, local or on an object store. It has a sub-folder for each class, which
        contains only image files (JPEG, PNG, GIF, BMP). Names that start with "." are ignored.
      seed: the seed of the order in which images are written; None keeps them sorted by class.

    Raises:
      DataError: the folder is missing, empty or mixed. Reading a damaged image also raises it.
    """
    folder = os.fspath(folder)
    classes, files = _list(folder)
    order = np.arange(len(files))
    if seed is not None:
        np.random.RandomState(seed).shuffle(order)

    def read(start: int) -> Iterator[bytes]:
        for index in order[start:]:
            path, label = files[index]
            yield encode(_FEATURES, {"image": _content(path), "label": label})

    sizes = (int(tf.io.gfile.stat(path).length) for path, _ in files)
    # Names and lengths of the two features take about 40 bytes more.
    total = sum(sizes) + len(files) * (OVERHEAD + 40)
    return Source("images", len(files), total, _FEATURES, read, classes)


def _list(folder: str) -> tuple[tuple[str, ...], list[tuple[str, int]]]:
    """Returns the classes, and the images with their labels."""
    if not tf.io.gfile.isdir(folder):
        raise DataError(
            f"{folder}: no such folder. Name a folder with a sub-folder for each class."
        )
    names = _names(folder)
    classes = [name for name in names if tf.io.gfile.isdir(os.path.join(folder, name))]
    loose_files = [name for name in names if name not in classes]
    if not names:
        raise DataError(f"{folder}: empty. Put the images of each class into a sub-folder of it.")
    if loose_files:
        raise DataError(
            f"{folder}: mixed: {len(classes)} sub-folders of classes, and also "
            f"{_few(loose_files)}. Move the files into the sub-folder of a class, or out of the "
            "folder."
        )
    files, others = [], []
    for label, name in enumerate(classes):
        images = [os.path.join(folder, name, file) for file in _names(os.path.join(folder, name))]
        if not images:
            raise DataError(f"{os.path.join(folder, name)}: empty: a class without images.")
        others += [p for p in images if not p.lower().endswith(_ENDINGS) or tf.io.gfile.isdir(p)]
        files += [(path, label) for path in images]
    if others:
        raise DataError(
            f"{folder}: mixed: {_few(others)} are not images. Want files that end in "
            f"{', '.join(_ENDINGS)}, directly in the sub-folder of their class."
        )
    return tuple(classes), files


def _content(path: str) -> bytes:
    """Returns the content of an image's file, and checks it: damage would stop a training."""
    check_regular(path)
    with tf.io.gfile.GFile(path, "rb") as file:
        content = file.read()
    try:
        with eager_mode():
            decoded_image(content)
    except tf.errors.OpError as error:
        raise DataError(
            f"{path}: not an image that TensorFlow can decode: {reason_of(error)}. Remove the "
            "file, or convert it to JPEG or PNG."
        ) from error
    return content


def _names(folder: str) -> list[str]:
    entries = (name.rstrip("/") for name in tf.io.gfile.listdir(folder))
    return sorted(name for name in entries if name and not name.startswith("."))


def _few(names: list[str]) -> str:
    rest = len(names) - _FEW
    return ", ".join(names[:_FEW]) + (f" and {rest} more" if rest > 0 else "")
