"""Checks of records before a training: their number, damage, and labels out of range."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence

import numpy as np
import tensorflow as tf

import estimator_bridge as eb
from estimator_bridge.records.framing import offset_of
from estimator_bridge.records.images import images_of
from estimator_bridge.records.inspection import damage_in
from estimator_bridge.records.unreadable import unreadable_in
from models.common.errors import UserError

__all__ = ["CheckedRecords", "all_of", "checked_labels", "checked_records", "count_records"]

_SHOWN = 5
_BATCH = 512
_MISSING = np.iinfo(np.int64).min
_ADVICE = "--skip_bad_records trains without the damaged images."


@dataclasses.dataclass(frozen=True)
class CheckedRecords:
    """Records that were checked.

    Attributes:
        count: the number of records that are read.
        leave_out: the numbers of those with damaged images, which are not read, by file.
        damaged: a line for each of these.
    """

    count: int
    leave_out: Mapping[str, Sequence[int]] = dataclasses.field(default_factory=dict)
    damaged: tuple[str, ...] = ()


def all_of(parts: Sequence[CheckedRecords]) -> CheckedRecords:
    """Returns the records of several files together."""
    return CheckedRecords(
        sum(part.count for part in parts),
        {path: numbers for part in parts for path, numbers in part.leave_out.items()},
        tuple(line for part in parts for line in part.damaged),
    )


def checked_records(
    paths: str | Sequence[str], label: str, classes: int, skip_bad: bool = False
) -> CheckedRecords:
    """Returns records after a check of those of this machine; all images are decoded once.

    Args:
        paths: a folder with a manifest, or files.
        label: the feature of the labels.
        classes: the number of classes; labels are from 0 on.
        skip_bad: whether records with damaged images are left out; records of an object store are
            then checked too.

    Raises:
        DataError: files are missing or mixed.
        UserError: records are damaged or differ in shape, or a label is out of range; the message
            names the file and the byte.
    """
    files = [paths] if isinstance(paths, str) else list(paths)
    if any("://" in path for path in files) and not skip_bad:
        return CheckedRecords(count_records(files))
    report = eb.records.check(paths, eb.records.Labels(label, classes))
    errors = [one for one in report.findings if one.is_error and not (skip_bad and one.is_image)]
    if errors:
        lines = list(map(str, errors[:_SHOWN]))
        if any(one.is_image for one in errors):
            lines.append(_ADVICE)
        raise UserError("\n".join(lines))
    left_out = report.damaged_images
    damages = [f"{path}: record {n}" for path, numbers in left_out.items() for n in numbers]
    return CheckedRecords(report.records - len(damages), left_out, tuple(damages))


def count_records(files: Sequence[str]) -> int:
    """Returns the number of records of files, all of which are read."""
    records = tf.data.TFRecordDataset(files, num_parallel_reads=16)
    return int(records.reduce(np.int64(0), lambda total, _: total + 1))


def checked_labels(
    path: str, label: str, first: int, last: int, image: str, skip_bad: bool = False
) -> CheckedRecords:
    """Returns the records of a file whose other features may differ in shape, after a check.

    Args:
        path: the file.
        label: the feature of the labels.
        first: the smallest label.
        last: the largest label.
        image: the feature of the images, all of which are decoded once.
        skip_bad: whether records with damaged images are left out.

    Raises:
        UserError: a record is damaged or has no label, or a label is out of range; the message
            names the file and the byte.
    """
    count, damage = damage_in(path)
    if damage is not None:
        raise UserError(
            f"{path}, byte {damage.offset}: damaged from record {damage.record} on: "
            f"{damage.reason}. Copy the file again."
        )
    feature = {label: tf.io.FixedLenFeature([], tf.int64, _MISSING)}
    at = 0
    for batch in tf.data.TFRecordDataset(path).batch(_BATCH):
        try:
            labels = tf.io.parse_example(batch, feature)[label].numpy()
        except tf.errors.InvalidArgumentError as error:
            raise UserError(f"{path}: its records do not have one label {label!r} each: "
                            f"{error.message}") from error  # fmt: skip
        is_wrong = (labels < first) | (labels > last)
        if is_wrong.any():
            number = at + int(np.argmax(is_wrong))
            value = labels[is_wrong][0]
            description = "missing" if value == _MISSING else value
            raise UserError(
                f"{path}, byte {offset_of(path, number)}: record {number}: the label {label!r} is "
                f"{description}, want {first} to {last}."
            )
        at += len(labels)
    bad = list(unreadable_in(path, count, images_of([image])))
    if bad and not skip_bad:
        raise UserError("\n".join([*(f"{one}. Damaged image." for one in bad[:_SHOWN]), _ADVICE]))
    numbers = tuple(one.record for one in bad)
    damages = tuple(f"{path}: record {number}" for number in numbers)
    return CheckedRecords(count - len(bad), {path: numbers} if bad else {}, damages)
