"""Examines records: their features, and the places where records are damaged or differ."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from estimator_bridge.errors import DataError
from estimator_bridge.records.features import Feature, parsing_spec
from estimator_bridge.records.framing import Damage, offset_of, records_in, whole_records

__all__ = ["Finding", "Labels", "damage_in", "features_of", "first_records", "misfits"]

_BATCH = 512
_SAMPLE = 100
_LISTS = {"int64_list": "int64", "float_list": "float32", "bytes_list": "string"}


@dataclasses.dataclass(frozen=True)
class Finding:
    """A problem in a file or a folder.

    Attributes:
      path: the file or folder.
      message: the problem, and the next step.
      offset: the byte at which the record begins, if the problem is in one.
      is_error: whether training would fail or learn from wrong data; otherwise it would be slow.
      is_image: whether it is an image that cannot be decoded; training can leave such records out.
    """

    path: str
    message: str
    offset: int | None = None
    is_error: bool = True
    is_image: bool = False

    def __str__(self) -> str:
        place = self.path if self.offset is None else f"{self.path}, byte {self.offset}"
        return f"{'error' if self.is_error else 'advice'}: {place}: {self.message}"


@dataclasses.dataclass(frozen=True)
class Labels:
    """The valid labels of records.

    Attributes:
      feature: the feature with the labels.
      classes: the number of classes; labels are from 0 to classes - 1.
    """

    feature: str
    classes: int


def damage_in(path: str) -> tuple[int, Damage | None]:
    """Reads a whole file; returns the number of whole records, and the first damage.

    Raises:
      OSError: the file cannot be read.
    """
    count, framing = records_in(path)
    dataset = tf.data.TFRecordDataset(path)
    if framing is not None:
        dataset = dataset.take(count)
    try:
        dataset.reduce(np.int64(0), lambda total, _: total + 1)
    except tf.errors.DataLossError:
        whole_count = 0
        try:
            for _ in dataset:
                whole_count += 1
        except tf.errors.DataLossError:
            pass
        return whole_count, Damage(
            offset_of(path, whole_count), whole_count, "its checksum does not fit its content"
        )
    return count, framing


def first_records(paths: Sequence[str], count: int = _SAMPLE) -> list[tf.train.Example]:
    """Returns the first whole records of files.

    Raises:
      DataError: the first is not a `tf.train.Example`.
    """
    examples: list[tf.train.Example] = []
    for path in paths:
        whole_count = whole_records(path, count - len(examples))
        try:
            for record in tf.data.TFRecordDataset(path).take(whole_count):
                examples.append(_example(path, record.numpy()))
        except tf.errors.DataLossError:
            continue  # reported with its place by `damage_in`
        if len(examples) >= count:
            break
    return examples


def features_of(paths: Sequence[str]) -> dict[str, Feature]:
    """Returns the features of files without a manifest, from their first 100 records.

    A feature with different lengths in those records has the shape [None].

    Raises:
      DataError: a record is not a `tf.train.Example`, or a feature has two types.
    """
    occurrences_by_name: dict[str, set[tuple[str, int]]] = {}
    records = first_records(paths)
    for example in records:
        for name, feature in example.features.feature.items():
            kind = feature.WhichOneof("kind")
            if kind:
                length = len(getattr(feature, kind).value)
                occurrences_by_name.setdefault(name, set()).add((_LISTS[kind], length))
    return {
        name: _feature(name, occurrences, paths[0])
        for name, occurrences in sorted(occurrences_by_name.items())
    }


def misfits(
    path: str, features: Mapping[str, Feature], records: int, labels: Labels | None
) -> Iterator[Finding]:
    """Yields the first record of a file that has other features, and the first wrong label.

    Args:
      path: the file.
      features: the features of each record, by name.
      records: the number of whole records at the start of the file; others are not read.
      labels: the valid labels; None to check no labels.
    """
    spec = parsing_spec(features)
    batches = tf.data.TFRecordDataset(path).take(records).batch(_BATCH)
    checked_labels = labels if labels is not None and labels.feature in features else None
    start = 0
    for batch in batches:
        try:
            parsed = tf.io.parse_example(batch, spec)
            sizes = _wrong_sizes(parsed, features)
        except tf.errors.InvalidArgumentError:
            parsed, sizes = None, None
        if parsed is None or sizes is not None:
            number, reason = _first_misfit(batch.numpy(), spec, features)
            yield Finding(
                path,
                f"record {start + number}: {reason}. Every record needs the same features and "
                "shapes: write the records again.",
                offset_of(path, start + number),
            )
            return
        if checked_labels is not None:
            wrong = _wrong_label(parsed[checked_labels.feature], checked_labels)
            if wrong is not None:
                number, reason = wrong
                yield Finding(
                    path, f"record {start + number}: {reason}.", offset_of(path, start + number)
                )
                checked_labels = None  # one of a file is enough
        start += len(batch)


def _wrong_label(values: tf.Tensor, labels: Labels) -> tuple[int, str] | None:
    rows = np.asarray(values).reshape(len(values), -1)
    if not np.issubdtype(rows.dtype, np.integer):
        return 0, f"the label {labels.feature!r} is {values.dtype.name}, want whole numbers"
    is_wrong = ((rows < 0) | (rows >= labels.classes)).any(axis=1)
    if not is_wrong.any():
        return None
    at = int(np.argmax(is_wrong))
    label_values = rows[at].tolist()
    return at, (
        f"the label {labels.feature!r} is "
        f"{label_values[0] if len(label_values) == 1 else label_values}, want 0 to "
        f"{labels.classes - 1} for {labels.classes} classes"
    )


def _wrong_sizes(parsed: Mapping[str, Any], features: Mapping[str, Feature]) -> str | None:
    """Returns the name of a feature of bytes with a wrong size in some record."""
    for name, feature in features.items():
        if feature.dtype == "uint8":
            lengths = tf.strings.length(parsed[name]).numpy()
            if (lengths != feature.size).any():
                return name
    return None


def _first_misfit(
    records: Sequence[bytes], spec: Mapping[str, Any], features: Mapping[str, Feature]
) -> tuple[int, str]:
    for number, record in enumerate(records):
        try:
            parsed = tf.io.parse_example([record], spec)
        except tf.errors.InvalidArgumentError:
            return number, _difference(record, features)
        wrong = _wrong_sizes(parsed, features)
        if wrong:
            size = int(tf.strings.length(parsed[wrong][0]))
            return number, (
                f"feature {wrong!r} has {size} bytes, want {features[wrong].size} for the shape "
                f"{list(features[wrong].shape)}"
            )
    raise AssertionError("a batch failed, and none of its records did")


def _difference(record: bytes, features: Mapping[str, Feature]) -> str:
    """Returns how a record that cannot be parsed differs from the features."""
    try:
        example = tf.train.Example.FromString(record)
    except Exception:  # protobuf's own type has moved between releases
        return "not a tf.train.Example"
    stored_features = example.features.feature
    for name, want in features.items():
        kind = stored_features[name].WhichOneof("kind") if name in stored_features else None
        if kind is None:
            names = ", ".join(sorted(stored_features)) or "none"
            return f"feature {name!r} is missing; it has {names}"
        stored_dtype = "string" if want.dtype == "uint8" else want.dtype
        dtype, size = _LISTS[kind], len(getattr(stored_features[name], kind).value)
        want_size = 1 if want.dtype == "uint8" else want.size
        if dtype != stored_dtype or (want_size is not None and size != want_size):
            return (
                f"feature {name!r} has {size} values of {dtype}, want {want_size or 'some'} of "
                f"{stored_dtype}"
            )
    return "its features cannot be parsed"


def _feature(name: str, occurrences: set[tuple[str, int]], path: str) -> Feature:
    dtypes, lengths = {dtype for dtype, _ in occurrences}, {length for _, length in occurrences}
    if len(dtypes) > 1:
        raise DataError(
            f"{path}: feature {name!r} has the types {', '.join(sorted(dtypes))} in different "
            "records. Write the records again with one type."
        )
    (dtype,) = dtypes
    if len(lengths) > 1:
        return Feature(dtype, (None,))
    (length,) = lengths
    return Feature(dtype, () if length == 1 else (length,))


def _example(path: str, record: bytes) -> tf.train.Example:
    try:
        return tf.train.Example.FromString(record)
    except Exception as error:  # protobuf's own type has moved between releases
        raise DataError(
            f"{os.fspath(path)}: its records are not tf.train.Examples: {error}. Read them with "
            "tf.data.TFRecordDataset, and parse them as they were written."
        ) from error
