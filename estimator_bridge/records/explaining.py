"""Explains an error from records in the middle of a training: finds the record."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import tensorflow as tf

from estimator_bridge.records.images import image_features, images_of
from estimator_bridge.records.inspection import damage_in, features_of
from estimator_bridge.records.unreadable import unreadable_in
from estimator_bridge.tensorflow_private.names import eager_mode

__all__ = ["first_unreadable"]


def first_unreadable(
    paths: Sequence[str],
    read: Callable[[tf.Tensor], Any],
    leave_out: Mapping[str, Sequence[int]],
) -> Callable[[tf.errors.OpError], str | None]:
    """Returns a function that looks for the first record of files that cannot be read.

    Args:
      paths: the files of the input.
      read: reads one serialized record as the input does.
      leave_out: the numbers of the records that the input leaves out, by file.
    """

    def explain(error: tf.errors.OpError) -> str | None:
        del error  # it has no place
        with eager_mode():
            decode = images_of(image_features(paths, features_of(paths)))
            for path in paths:
                explanation = _first_in(
                    path, lambda record: (decode(record), read(record)), leave_out
                )
                if explanation is not None:
                    return explanation
        return None

    return explain


def _first_in(
    path: str, read: Callable[[tf.Tensor], Any], leave_out: Mapping[str, Sequence[int]]
) -> str | None:
    whole_count, damage = damage_in(path)
    for bad in unreadable_in(path, whole_count, read):
        if bad.record not in leave_out.get(path, ()):
            return (
                f"{bad}. `estimator-bridge data check` reports all such records. Write the records "
                "again without it, or leave it out: "
                "eb.records.input_fn(leave_out=eb.records.check(...).damaged_images)."
            )
    if damage is not None:
        return (
            f"{path}, byte {damage.offset}: damaged from record {damage.record} on: "
            f"{damage.reason}. Copy the file again, or write the records again."
        )
    return None
