"""Writes records as shards with a manifest: each file whole or not at all, and resumable.

A shard is written under a temporary name, synced, and renamed. A note lists the finished shards
until the manifest, which is written last, replaces it. So a folder with a manifest is complete, and
a second run after a kill continues with the next shard.
"""

from __future__ import annotations

import contextlib
import dataclasses
import fcntl
import itertools
import os
import shutil
from collections.abc import Iterator
from typing import Callable

import tensorflow as tf

from estimator_bridge.checkpoint import FullDiskError, explained_full_disk_of
from estimator_bridge.errors import DataError
from estimator_bridge.records.manifest import MANIFEST, Manifest, Shard, size_and_checksum
from estimator_bridge.records.progress import Progress
from estimator_bridge.records.sharding import shards_for
from estimator_bridge.records.source import OVERHEAD, Source
from estimator_bridge.records.unfinished import UNFINISHED, Unfinished, read_unfinished

__all__ = ["write"]

_TEMPORARY = ".part"


def write(
    source: Source,
    folder: str,
    shards: int | None = None,
    name: str = "data",
    progress: Callable[[Progress], object] | None = None,
) -> Manifest:
    """Writes records into a folder, as TFRecord files and a manifest.

    The same call continues a run that was stopped: finished files stay, and the result has the
    same bytes as without the stop. If the folder is complete, nothing is written.

    Args:
      source: the records: from `from_images`, `from_arrays`, `from_csv` or `from_dataset`.
      folder: the folder, local or on an object store; it is created. Write each split of the data
        into a separate folder.
      shards: the number of files; by default `shards_for` the source's size.
      name: the start of the files' names.
      progress: called with the `Progress` after each record; `ProgressLine()` shows it.

    Returns:
      The manifest.

    Raises:
      DataError: the folder holds something else, or a part of another source.
      DiskFullError: the records do not fit on the disk; finished files stay, for a later run.
      ValueError: `shards` is not a positive whole number, or exceeds the number of records.
    """
    folder = os.fspath(folder)
    count = _count(source, shards)
    checksum = source.checksum()
    tf.io.gfile.makedirs(folder)
    with _only_writer(folder):
        begun = _begun(folder, source, checksum, count, name)
        if isinstance(begun, Manifest):
            return begun
        _check_space(folder, source, sum(shard.bytes for shard in begun.shards))
        with explained_full_disk_of(f"A part of the records in {folder}", folder):
            finished = _write_rest(folder, source, begun, progress)
            manifest = Manifest(checksum, dict(source.features), finished, source.classes)
            _replace(folder, MANIFEST, manifest.to_json())
            tf.io.gfile.remove(os.path.join(folder, UNFINISHED))
    return manifest


def _count(source: Source, shards: int | None) -> int:
    if shards is None:
        return shards_for(source.bytes, source.records)
    if isinstance(shards, bool) or not hasattr(shards, "__index__"):
        raise ValueError(f"shards must be a whole number, got {shards!r}.")
    if not 1 <= shards <= source.records:
        raise ValueError(
            f"shards must be from 1 to {source.records}, the number of records, got {shards}. "
            f"Leave it out for {shards_for(source.bytes, source.records)}."
        )
    return int(shards)


def _begun(
    folder: str, source: Source, checksum: int, count: int, name: str
) -> Unfinished | Manifest:
    """Returns the state of the folder: empty, incomplete or complete.

    Raises:
      DataError: the folder holds something else.
    """
    there = set(tf.io.gfile.listdir(folder))
    if MANIFEST in there:
        path = os.path.join(folder, MANIFEST)
        with tf.io.gfile.GFile(path) as file:
            manifest = Manifest.from_json(file.read(), path)
        if manifest.source != checksum or len(manifest.shards) != count:
            raise DataError(
                f"{folder}: holds {manifest.records} other records in {len(manifest.shards)} "
                f"files. Remove it, or write the {source.records} records of this source "
                f"({count} files) into another folder."
            )
        if UNFINISHED in there:  # killed between the last two operations
            tf.io.gfile.remove(os.path.join(folder, UNFINISHED))
        return manifest
    planned = Unfinished(checksum, count, name, ())
    if UNFINISHED in there:
        found = read_unfinished(folder)
        if dataclasses.replace(found, shards=()) != planned:
            raise DataError(
                f"{folder}: holds a part of other records, or of these in another order: "
                f"{len(found.shards)} of {found.count} files. Remove it to start over. A dataset "
                "must yield the same elements each time: shuffle with a seed and "
                "reshuffle_each_iteration=False."
            )
        return _without_damaged(folder, found)
    others = sorted(n for n in there if not n.endswith(_TEMPORARY))
    if others:
        raise DataError(
            f"{folder}: not empty, and without a manifest: {', '.join(others[:3])}. Write into a "
            "new folder, so that no other file is taken for records."
        )
    _replace(folder, UNFINISHED, planned.to_json())
    return planned


def _without_damaged(folder: str, found: Unfinished) -> Unfinished:
    """Returns the finished shards up to the first that is missing or damaged."""

    def is_whole(shard: Shard) -> bool:
        path = os.path.join(folder, shard.file)
        return tf.io.gfile.exists(path) and size_and_checksum(path) == (shard.bytes, shard.crc32)

    return dataclasses.replace(
        found, shards=tuple(itertools.takewhile(is_whole, found.shards))
    )  # fmt: skip


def _write_rest(
    folder: str,
    source: Source,
    begun: Unfinished,
    progress: Callable[[Progress], object] | None,
) -> tuple[Shard, ...]:
    """Writes the shards that are not finished, and returns all shards."""
    done = list(begun.shards)
    written = sum(shard.records for shard in done)
    size = 0
    records = source.read(written)
    for number in range(len(done), begun.count):
        end = source.records * (number + 1) // begun.count
        file = f"{begun.name}-{number:05d}-of-{begun.count:05d}.tfrecord"
        with _renamed(os.path.join(folder, file)) as temporary:
            with tf.io.TFRecordWriter(temporary) as writer:
                for record in itertools.islice(records, end - written):
                    writer.write(record)
                    written, size = written + 1, size + len(record) + OVERHEAD
                    if progress is not None:
                        progress(Progress(written, source.records, number, begun.count, size))
            if written != end:
                raise DataError(
                    f"the {source.kind} ended after {written} records, want {source.records} as "
                    "counted before. It must yield the same records each time."
                )
        length, crc32 = size_and_checksum(os.path.join(folder, file))
        start = sum(shard.records for shard in done)
        done.append(Shard(file, end - start, length, crc32))
        _replace(folder, UNFINISHED, dataclasses.replace(begun, shards=tuple(done)).to_json())
    if progress is not None:
        progress(Progress(written, source.records, begun.count, begun.count, size))
    return tuple(done)


@contextlib.contextmanager
def _renamed(path: str) -> Iterator[str]:
    """Gives a temporary name within the context; the file gets its own name if nothing fails."""
    temporary = path + _TEMPORARY
    try:
        yield temporary
        _sync(temporary)
        tf.io.gfile.rename(temporary, path, overwrite=True)
        _sync(os.path.dirname(path))
    except BaseException:
        with contextlib.suppress(tf.errors.OpError):
            tf.io.gfile.remove(temporary)
        raise


def _replace(folder: str, name: str, text: str) -> None:
    """Writes a small file as a whole."""
    path = os.path.join(folder, name)
    with _renamed(path) as temporary, tf.io.gfile.GFile(temporary, "w") as file:
        file.write(text)


def _sync(path: str) -> None:
    """Makes a local file or folder durable; an object store does so when a file is closed."""
    if "://" in path:
        return
    descriptor = os.open(path or ".", os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _check_space(folder: str, source: Source, written: int) -> None:
    if "://" in folder:
        return
    free, needed = shutil.disk_usage(folder).free, source.bytes - written
    if free < needed:
        raise FullDiskError(
            f"The disk of {folder} has {free / 1e6:,.0f} MB free, and the records need about "
            f"{needed / 1e6:,.0f} MB. Nothing was written. Free some space, or use a folder on "
            "another disk."
        )


@contextlib.contextmanager
def _only_writer(folder: str) -> Iterator[None]:
    """Holds a lock on a local folder, which the system releases when the process ends.

    Raises:
      DataError: another process writes into the folder.
    """
    if "://" in folder:
        yield
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    except BlockingIOError:
        raise DataError(
            f"{folder}: another process writes records there. Wait for it, or use another folder."
        ) from None
    finally:
        os.close(descriptor)
