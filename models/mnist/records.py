"""Sharded TFRecords with a manifest that reveals a damaged or missing shard before training.

TensorFlow notices a damaged record only when it reads it, perhaps in the middle of training. The
manifest holds each shard's size and checksum, so that all of them are checked in milliseconds.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import zlib
from collections.abc import Iterator, Mapping, Sequence

from estimator_bridge.base.any_files import exists, is_plain_name, open_bytes, open_text
from estimator_bridge.base.foreign_json import foreign_json
from estimator_bridge.own_files import (
    make_own_folder,
    move_new,
    new_token,
    remove_empty_folder,
    remove_own_folder,
)
from models.mnist.errors import DataError

__all__ = ["MANIFEST", "Manifest", "Shard", "open_records", "write_records"]

MANIFEST = "manifest.json"


@dataclasses.dataclass(frozen=True)
class Shard:
    """One TFRecord file: its name, record count, size and checksum."""

    file: str
    records: int
    bytes: int
    crc32: int

    def __post_init__(self) -> None:
        if not is_plain_name(self.file):
            raise ValueError(f"the shard's name {self.file!r} is not that of a file in the folder")


@dataclasses.dataclass(frozen=True)
class Manifest:
    """The contents of a folder of TFRecords.

    Attributes:
        about: facts about the examples that a reader needs, such as an image's height.
        splits: the shards of each split.
    """

    about: dict[str, int]
    splits: dict[str, list[Shard]]

    def size(self, split: str) -> int:
        """Returns the number of records in a split."""
        return sum(shard.records for shard in self.splits[split])


def write_records(
    folder: str,
    splits: Mapping[str, Sequence[bytes]],
    num_shards: Mapping[str, int],
    about: Mapping[str, int],
) -> None:
    """Writes TFRecords and their manifest: all of them, or nothing.

    Args:
        folder: the folder to create. If another process creates it first, its contents stay.
        splits: the records of each split, in order; they are dealt to the shards in turn.
        num_shards: the number of shards of each split.
        about: facts for the manifest.
    """
    parent = os.path.dirname(os.path.abspath(folder))
    os.makedirs(parent, exist_ok=True)
    # In the same parent, so that the final rename stays in one file system.
    token = new_token()
    staging = os.path.join(parent, f".{os.path.basename(folder)}-{token}")
    temporary_path = os.path.join(staging, f"{token}.records")
    try:
        make_own_folder(staging, token)
        os.mkdir(temporary_path)
        shards = {
            split: list(_write_split(temporary_path, split, records, num_shards[split]))
            for split, records in splits.items()
        }
        manifest = Manifest(about=dict(about), splits=shards)
        with open(os.path.join(temporary_path, MANIFEST), "w", encoding="utf-8") as file:
            json.dump(dataclasses.asdict(manifest), file, indent=2)
        remove_empty_folder(folder)
        if not move_new(temporary_path, folder) and not exists(os.path.join(folder, MANIFEST)):
            raise FileExistsError(f"{folder} is there already, and holds other files")
    finally:
        with contextlib.suppress(OSError):
            remove_own_folder(staging)


def _write_split(
    folder: str, split: str, records: Sequence[bytes], num_shards: int
) -> Iterator[Shard]:
    import tensorflow as tf

    for index in range(num_shards):
        name = f"{split}-{index:05d}-of-{num_shards:05d}.tfrecord"
        path = os.path.join(folder, name)
        shard_records = records[index::num_shards]
        with tf.io.TFRecordWriter(path) as writer:
            for record in shard_records:
                writer.write(record)
        size, crc32 = _size_and_checksum(path)
        yield Shard(file=name, records=len(shard_records), bytes=size, crc32=crc32)


def _size_and_checksum(path: str) -> tuple[int, int]:
    size = crc32 = 0
    with open_bytes(path) as file:
        while block := file.read(1 << 20):
            size += len(block)
            crc32 = zlib.crc32(block, crc32)
    return size, crc32


def open_records(folder: str) -> Manifest:
    """Reads the manifest of a folder and checks each shard against it.

    Args:
        folder: a folder that `write_records` wrote.

    Returns:
        The manifest.

    Raises:
        DataError: the manifest or a shard is missing or damaged; the message names the file.
    """
    advice = f"Remove {folder} to have it written again."
    path = os.path.join(folder, MANIFEST)
    try:
        with open_text(path) as file:
            content = foreign_json(file.read())
        splits = {
            split: [Shard(**shard) for shard in shards]
            for split, shards in content["splits"].items()
        }
        manifest = Manifest(about=dict(content["about"]), splits=splits)
    except FileNotFoundError:
        raise DataError(f"{path}: missing, so the shards cannot be checked. {advice}") from None
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise DataError(f"{path}: damaged manifest ({error!r}). {advice}") from error
    for shard in (shard for shards in splits.values() for shard in shards):
        _check_shard(os.path.join(folder, shard.file), shard, advice)
    return manifest


def _check_shard(path: str, shard: Shard, advice: str) -> None:
    if not exists(path):
        raise DataError(f"{path}: missing TFRecord file of {shard.records} records. {advice}")
    size, crc32 = _size_and_checksum(path)
    if size != shard.bytes:
        raise DataError(f"{path}: damaged TFRecord: {size} bytes, want {shard.bytes}. {advice}")
    if crc32 != shard.crc32:
        raise DataError(
            f"{path}: damaged TFRecord: checksum {crc32:08x}, want {shard.crc32:08x}. {advice}"
        )
