"""The manifest of a folder of records: its shards, with checksums, and the records' features."""

from __future__ import annotations

import dataclasses
import json
import os
import zlib
from collections.abc import Mapping
from typing import Any

import tensorflow as tf

from estimator_bridge.errors import DataError
from estimator_bridge.records.features import Feature

__all__ = ["MANIFEST", "Manifest", "Shard", "read_manifest", "size_and_checksum"]

MANIFEST = "manifest.json"

_FORMAT = 1
_BLOCK = 1 << 20


@dataclasses.dataclass(frozen=True)
class Shard:
    """A file of records.

    Attributes:
      file: its name in the folder.
      records: the number of records.
      bytes: its size.
      crc32: the checksum of its content.
    """

    file: str
    records: int
    bytes: int
    crc32: int


@dataclasses.dataclass(frozen=True)
class Manifest:
    """The contents of a folder of records.

    Attributes:
      source: a checksum of the kind, the number and the first of the records.
      features: the features of each record, by name.
      shards: the files, in order.
      classes: the names of the labels 0, 1, ...; empty if they have none.
    """

    source: int
    features: dict[str, Feature]
    shards: tuple[Shard, ...]
    classes: tuple[str, ...] = ()

    @property
    def records(self) -> int:
        """The number of records in all shards."""
        return sum(shard.records for shard in self.shards)

    @property
    def bytes(self) -> int:
        """The size of all shards."""
        return sum(shard.bytes for shard in self.shards)

    def to_json(self) -> str:
        """Returns the manifest as text."""
        content = {
            "format": _FORMAT,
            "records": self.records,
            "bytes": self.bytes,
            "source": self.source,
            "features": {
                name: {"dtype": feature.dtype, "shape": list(feature.shape)}
                for name, feature in self.features.items()
            },
            "classes": list(self.classes),
            "shards": [dataclasses.asdict(shard) for shard in self.shards],
        }
        return json.dumps(content, indent=2) + "\n"

    @classmethod
    def from_json(cls, text: str, path: str) -> Manifest:
        """Returns the manifest of a text.

        Raises:
          DataError: the text is not a manifest, or is one of a later version.
        """
        try:
            content = json.loads(text)
            version = content["format"]
            if version == _FORMAT:
                return cls(
                    source=int(content["source"]),
                    features=_features(content["features"]),
                    shards=tuple(Shard(**shard) for shard in content["shards"]),
                    classes=tuple(content["classes"]),
                )
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise DataError(
                f"{path}: damaged manifest ({error!r}). Write the records again, or remove this "
                "file to read them without one."
            ) from error
        raise DataError(
            f"{path}: a manifest of format {version!r}, want {_FORMAT}. A later estimator_bridge "
            "wrote it: install that version, or write the records again."
        )


def read_manifest(folder: str) -> Manifest | None:
    """Reads the manifest of a folder.

    Returns:
      The manifest; None if the folder has none.

    Raises:
      DataError: the manifest is damaged.
    """
    path = os.path.join(folder, MANIFEST)
    if not tf.io.gfile.exists(path):
        return None
    with tf.io.gfile.GFile(path, "rb") as file:
        return Manifest.from_json(file.read().decode("utf-8", "replace"), path)


def size_and_checksum(path: str) -> tuple[int, int]:
    """Returns a file's size and the CRC-32 of its content."""
    size = crc32 = 0
    with tf.io.gfile.GFile(path, "rb") as file:
        while block := file.read(_BLOCK):
            size += len(block)
            crc32 = zlib.crc32(block, crc32)
    return size, crc32


def _features(content: Mapping[str, Any]) -> dict[str, Feature]:
    return {name: Feature(one["dtype"], tuple(one["shape"])) for name, one in content.items()}
