"""Describes a folder of records in a few lines, without reading all of it."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from typing import Any

import tensorflow as tf

from estimator_bridge.records.features import Feature
from estimator_bridge.records.files import Paths, find_records
from estimator_bridge.records.framing import records_in
from estimator_bridge.records.inspection import features_of, first_records
from estimator_bridge.tensorflow_private.names import eager_mode

__all__ = ["Listing", "describe", "feature_lines"]

_WIDTH = 60


@dataclasses.dataclass(frozen=True)
class Listing:
    """The contents of record files.

    Attributes:
      records: the number of records.
      bytes: the size of the files.
      files: the number of files.
      features: the features of each record, by name.
      classes: the names of the labels, if the manifest has them.
      examples: the first records.
    """

    records: int
    bytes: int
    files: int
    features: dict[str, Feature]
    classes: tuple[str, ...]
    examples: tuple[tf.train.Example, ...]

    def lines(self) -> Iterator[str]:
        """Yields the description, line by line."""
        yield f"{self.records:,} records, {self.bytes / 1e6:,.1f} MB in {self.files} files"
        yield from feature_lines(self.features)
        if self.classes:
            yield f"classes: {', '.join(f'{n} {name}' for n, name in enumerate(self.classes))}"
        for number, example in enumerate(self.examples):
            yield f"record {number}"
            for name, feature in sorted(example.features.feature.items()):
                yield f"  {name} = {_shorten(feature)}"


def describe(paths: Paths, examples: int = 1) -> Listing:
    """Describes record files, from their manifest or from the framing of their records.

    Args:
      paths: a folder, a file or a pattern, local or on an object store; or a list of them.
      examples: the number of records to show.

    Raises:
      DataError: there are no records, or the files are mixed or incomplete.
    """
    with eager_mode():
        files = find_records(paths)
        manifests = tuple(files.manifests.values())
        sizes = [int(tf.io.gfile.stat(path).length) for path in files.paths]
        shards = sum(len(manifest.shards) for manifest in manifests)
        if manifests and shards == len(files.paths):
            records = sum(manifest.records for manifest in manifests)
        else:
            records = sum(records_in(path)[0] for path in files.paths)
        classes = {manifest.classes for manifest in manifests}
        return Listing(
            records,
            sum(sizes),
            len(sizes),
            files.features or features_of(files.paths),
            next(iter(classes), ()) if len(classes) == 1 else (),
            tuple(first_records(files.paths, examples)) if examples else (),
        )


def feature_lines(features: Mapping[str, Feature]) -> Iterator[str]:
    """Yields a line for each feature: its name, type and shape."""
    width = max(map(len, features), default=0)
    for name, feature in features.items():
        shape = ", ".join("?" if size is None else str(size) for size in feature.shape)
        yield f"  {name:{width}}  {feature.dtype} [{shape}]"


def _shorten(feature: Any) -> str:
    kind = feature.WhichOneof("kind")
    values = list(getattr(feature, kind).value) if kind else []
    if kind == "bytes_list" and any(len(value) > _WIDTH for value in values):
        return ", ".join(f"{len(value):,} bytes" for value in values)
    text = str(values[0] if len(values) == 1 else values)
    return text if len(text) <= _WIDTH else f"{text[:_WIDTH]}... ({len(values):,} values)"
