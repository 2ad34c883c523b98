"""Checks of records before a training: their number, damage, and labels out of range."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import tensorflow as tf

import estimator_bridge as eb
from estimator_bridge.records.framing import offset_of
from estimator_bridge.records.inspection import damage_in
from models.errors import UserError

__all__ = ["checked_labels", "checked_records"]

_SHOWN = 5
_BATCH = 512
_MISSING = np.iinfo(np.int64).min


def checked_records(paths: str | Sequence[str], label: str, classes: int) -> int:
    """Returns the number of records, after a check of those of this machine.

    Args:
        paths: a folder with a manifest, or files.
        label: the feature of the labels.
        classes: the number of classes; labels are from 0 on.

    Raises:
        DataError: files are missing or mixed.
        UserError: records are damaged or differ in shape, or a label is out of range; the message
            names the file and the byte.
    """
    files = [paths] if isinstance(paths, str) else list(paths)
    if any("://" in path for path in files):
        return sum(1 for _ in tf.data.TFRecordDataset(files, num_parallel_reads=16))
    report = eb.records.check(paths, eb.records.Labels(label, classes))
    if not report.is_good:
        errors = [str(finding) for finding in report.findings if finding.is_error]
        raise UserError("\n".join(errors[:_SHOWN]))
    return report.records


def checked_labels(path: str, label: str, first: int, last: int) -> int:
    """Returns the number of records of a file whose other features may differ in shape.

    Args:
        path: the file, of this machine.
        label: the feature of the labels.
        first: the smallest label.
        last: the largest label.

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
            found = labels[is_wrong][0]
            told = "missing" if found == _MISSING else found
            raise UserError(
                f"{path}, byte {offset_of(path, number)}: record {number}: the label {label!r} is "
                f"{told}, want {first} to {last}."
            )
        at += len(labels)
    return count
