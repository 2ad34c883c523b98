"""Reads the records of TFRecord files and the files of images."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from estimator_bridge.base.any_files import check_is_no_pipe
from estimator_bridge.prediction.rows import BadRow, Found, Row
from estimator_bridge.records.framing import Damage, walk
from estimator_bridge.records.source import OVERHEAD
from estimator_bridge.tensorflow_private.names import tf_record_random_reader

__all__ = ["image_rows", "record_rows"]


def record_rows(path: str) -> Found:
    """Yields the records of a TFRecord file, with their features if they are Examples.

    After a record whose content is damaged comes the next one. After a damaged header nothing of
    the file can be found.
    """
    try:
        check_is_no_pipe(path)
    except OSError as error:
        yield BadRow(path, "", f"{error.strerror}")
        return
    reader = tf_record_random_reader(path)
    offset = 0
    for number, length in enumerate(walk(path)):
        place = f"record {number} at byte {offset}"
        if isinstance(length, Damage):
            consequence = "the rest of the file cannot be read"
            yield BadRow(path, place, f"damaged: {length.reason}; {consequence}")
            return
        try:
            content, _ = reader.read(offset)
        except tf.errors.OpError as error:
            yield BadRow(path, place, f"damaged: {error.message}")
        else:
            yield Row(path, place, _features(content), content)
        offset += length + OVERHEAD


def image_rows(path: str) -> Found:
    """Yields the one image of a file, not decoded."""
    try:
        check_is_no_pipe(path)
        with tf.io.gfile.GFile(path, "rb") as file:
            content = file.read()
    except OSError as error:
        yield BadRow(path, "", f"{error.strerror}")
        return
    except tf.errors.OpError as error:
        yield BadRow(path, "", f"cannot be read: {error.message}")
        return
    if not content:
        yield BadRow(path, "", "empty: no image")
        return
    yield Row(path, "", {"file": path}, content)


def _features(content: bytes) -> dict[str, Any]:
    """Returns the features of an Example; none of other records, which some models take."""
    try:
        example = tf.train.Example.FromString(content)
    except Exception:  # protobuf's own type has moved between releases
        return {}
    features = {}
    for name, feature in example.features.feature.items():
        kind = feature.WhichOneof("kind")
        if kind:
            values = list(getattr(feature, kind).value)
            features[name] = values[0] if len(values) == 1 else values
    return features
