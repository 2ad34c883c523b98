"""The manifest of a folder of records: its shards, with checksums, and the records' features."""

from __future__ import annotations

import dataclasses
import json
import math
import os
import shlex
import zlib
from collections.abc import Mapping
from typing import Any

import tensorflow as tf

from estimator_bridge.base.any_files import check_is_file, is_plain_name
from estimator_bridge.base.foreign_json import foreign_json
from estimator_bridge.errors import DataError
from estimator_bridge.records.features import Feature
from estimator_bridge.records.framing import MOST_BYTES

__all__ = [
    "MANIFEST",
    "DamagedManifestError",
    "Manifest",
    "Shard",
    "read_manifest",
    "size_and_checksum",
]

MANIFEST = "manifest.json"

_FORMAT = 1
_MOST_BYTES = 64 << 20  # a million shards
_DTYPES = ("float32", "int64", "string", "uint8")
_BLOCK = 1 << 20


class DamagedManifestError(DataError):
    """A manifest cannot be read.

    Reading records does not go on without it: which files are whole, and which belong to the data
    set, only the manifest says.

    Args:
      path: the manifest.
      reason: what is wrong with it.

    Attributes:
      reason: see above.
    """

    def __init__(self, path: str, reason: str):
        quoted = shlex.quote(path)
        super().__init__(
            f"{path}: damaged manifest ({reason}). Write the records again into this folder, which "
            "keeps equal files, or read all its files without a manifest after: "
            f"mv {quoted} {shlex.quote(path + '.damaged')}"
        )
        self.reason = reason


@dataclasses.dataclass(frozen=True)
class Shard:
    """A file of records.

    Attributes:
      file: its name in the folder.
      records: the number of records.
      bytes: its size.
      crc32: the checksum of its content.

    Raises:
      ValueError: the name leads out of the folder, or a number is not one.
    """

    file: str
    records: int
    bytes: int
    crc32: int

    def __post_init__(self) -> None:
        if not is_plain_name(self.file):
            raise ValueError(f"the shard's name {self.file!r} is not that of a file in the folder")
        for number in (self.records, self.bytes, self.crc32):
            if isinstance(number, bool) or not isinstance(number, int) or number < 0:
                raise ValueError(f"{number!r} is not a count, in the shard {self.file!r}")


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
          DamagedManifestError: the text is not a manifest.
          DataError: it is one of a later version.
        """
        try:
            content = foreign_json(text)
            version = content["format"]
            if version == _FORMAT:
                return cls(
                    source=int(content["source"]),
                    features=_features(content["features"]),
                    shards=tuple(Shard(**shard) for shard in content["shards"]),
                    classes=_classes(content["classes"]),
                )
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise DamagedManifestError(path, repr(error)) from error
        raise DataError(
            f"{path}: a manifest of format {version!r}, want {_FORMAT}. A later estimator_bridge "
            "wrote it: install that version, or write the records again."
        )


def read_manifest(folder: str) -> Manifest | None:
    """Reads the manifest of a folder.

    Returns:
      The manifest; None if the folder has none.

    Raises:
      DamagedManifestError: the manifest is damaged.
    """
    path = os.path.join(folder, MANIFEST)
    if not tf.io.gfile.exists(path):
        return None
    try:
        check_is_file(path)
    except OSError as error:
        raise DamagedManifestError(path, f"it {error.strerror}") from None
    with tf.io.gfile.GFile(path, "rb") as file:
        content = file.read(_MOST_BYTES + 1)
    if len(content) > _MOST_BYTES:
        raise DamagedManifestError(path, f"it has more than {_MOST_BYTES:,} bytes")
    return Manifest.from_json(content.decode("utf-8", "replace"), path)


def size_and_checksum(path: str) -> tuple[int, int]:
    """Returns a file's size and the CRC-32 of its content."""
    size = crc32 = 0
    with tf.io.gfile.GFile(path, "rb") as file:
        while block := file.read(_BLOCK):
            size += len(block)
            crc32 = zlib.crc32(block, crc32)
    return size, crc32


def _features(content: Mapping[str, Any]) -> dict[str, Feature]:
    return {name: _feature(name, one["dtype"], one["shape"]) for name, one in content.items()}


def _feature(name: str, dtype: Any, shape: Any) -> Feature:
    sizes = [0 if size is None and at == 0 else size for at, size in enumerate(shape)]
    if dtype not in _DTYPES or any(type(size) is not int or size < 0 for size in sizes):
        raise ValueError(f"the feature {name!r} is {dtype!r} of shape {shape!r}")
    if math.prod(sizes) > MOST_BYTES:
        raise ValueError(f"the feature {name!r} of shape {shape!r} fits in no record")
    return Feature(dtype, tuple(shape))


def _classes(content: Any) -> tuple[str, ...]:
    if not isinstance(content, list) or not all(isinstance(name, str) for name in content):
        raise ValueError("the classes are not a list of names")
    return tuple(content)
