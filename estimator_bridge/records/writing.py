"""Writes records as shards with a manifest: each file whole or not at all, and resumable.

A shard is written in a staging folder, synced, and renamed. A note lists the finished shards
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
from estimator_bridge.own_files import (
    identity_of,
    is_own_folder,
    lies_at,
    move_over,
    open_to_write,
    remove_abandoned_staging,
    remove_note,
    set_aside,
    staged,
)
from estimator_bridge.records.manifest import (
    MANIFEST,
    DamagedManifestError,
    Manifest,
    Shard,
    read_manifest,
    size_and_checksum,
)
from estimator_bridge.records.progress import Progress
from estimator_bridge.records.sharding import shards_for
from estimator_bridge.records.source import OVERHEAD, Source
from estimator_bridge.records.unfinished import UNFINISHED, Unfinished, read_unfinished

__all__ = ["write"]


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
        with explained_full_disk_of(f"A note on the records in {folder}", folder):
            unfinished = _begin(folder, source, checksum, count, name)
        if isinstance(unfinished, Manifest):
            return unfinished
        _check_space(folder, source, sum(shard.bytes for shard in unfinished.shards))
        with explained_full_disk_of(f"A part of the records in {folder}", folder):
            all_shards = _write_rest(folder, source, unfinished, progress)
            manifest = Manifest(checksum, dict(source.features), all_shards, source.classes)
            _write_text(folder, MANIFEST, manifest.to_json())
            remove_note(os.path.join(folder, UNFINISHED))
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


def _begin(
    folder: str, source: Source, checksum: int, count: int, name: str
) -> Unfinished | Manifest:
    """Returns the state of the folder: empty, incomplete or complete.

    Raises:
      DataError: the folder holds something else.
    """
    remove_abandoned_staging(folder)
    names = set(tf.io.gfile.listdir(folder))
    plan = Unfinished(checksum, count, name, ())
    try:
        manifest = read_manifest(folder)
    except DamagedManifestError as error:
        # The source is at hand: what stands here is kept if it is the same, and refused otherwise.
        set_aside(os.path.join(folder, MANIFEST), f"is damaged ({error.reason})")
        _write_text(folder, UNFINISHED, plan.to_json())
        return plan
    if manifest is not None:
        if manifest.source != checksum or len(manifest.shards) != count:
            raise DataError(
                f"{folder}: holds {manifest.records} other records in {len(manifest.shards)} "
                f"files. Remove it, or write the {source.records} records of this source "
                f"({count} files) into another folder."
            )
        remove_note(os.path.join(folder, UNFINISHED))  # of a kill between the last two operations
        return manifest
    old_plan = read_unfinished(folder)
    if old_plan is not None:
        if dataclasses.replace(old_plan, shards=()) != plan:
            raise DataError(
                f"{folder}: holds a part of other records, or of these in another order: "
                f"{len(old_plan.shards)} of {plan.count} files. Remove it to start over. A "
                "dataset must yield the same elements each time: shuffle with a seed and "
                "reshuffle_each_iteration=False."
            )
        return _without_damaged(folder, old_plan)
    others = sorted(name for name in names if not _is_left_by_writers(folder, name))
    if others and UNFINISHED not in names:
        raise DataError(
            f"{folder}: not empty, and without a manifest: {', '.join(others[:3])}. Write into a "
            "new folder, so that no other file is taken for records."
        )
    _write_text(folder, UNFINISHED, plan.to_json())
    return plan


def _is_left_by_writers(folder: str, name: str) -> bool:
    """Returns whether a name is that of a killed writer's file, of this version or of 0.2.0."""
    return name.endswith(".part") or is_own_folder(os.path.join(folder, name.rstrip("/")))


def _without_damaged(folder: str, plan: Unfinished) -> Unfinished:
    """Returns the finished shards up to the first that is missing or damaged."""

    def is_whole(shard: Shard) -> bool:
        path = os.path.join(folder, shard.file)
        return tf.io.gfile.exists(path) and size_and_checksum(path) == (shard.bytes, shard.crc32)

    return dataclasses.replace(
        plan, shards=tuple(itertools.takewhile(is_whole, plan.shards))
    )  # fmt: skip


def _write_rest(
    folder: str,
    source: Source,
    plan: Unfinished,
    progress: Callable[[Progress], object] | None,
) -> tuple[Shard, ...]:
    """Writes the shards that are not finished, and returns all shards."""
    shards = list(plan.shards)
    note = read_unfinished(folder)
    old_names = {shard.file for shard in note.shards} if note else set()  # damaged ones too
    record_count = sum(shard.records for shard in shards)
    size = 0
    records = source.read(record_count)
    for number in range(len(shards), plan.count):
        end = source.records * (number + 1) // plan.count
        file = f"{plan.name}-{number:05d}-of-{plan.count:05d}.tfrecord"
        path = os.path.join(folder, file)
        with staged(folder, file) as temporary:
            with tf.io.TFRecordWriter(temporary) as writer:
                for record in itertools.islice(records, end - record_count):
                    writer.write(record)
                    record_count, size = record_count + 1, size + len(record) + OVERHEAD
                    if progress is not None:
                        progress(Progress(record_count, source.records, number, plan.count, size))
            if record_count != end:
                raise DataError(
                    f"the {source.kind} ended after {record_count} records, want {source.records} "
                    "as counted before. It must yield the same records each time."
                )
            length, crc32 = size_and_checksum(temporary)
            start = sum(shard.records for shard in shards)
            shards.append(Shard(file, end - start, length, crc32))
            _check_replaceable(path, file in old_names, shards[-1])
            _move(temporary, path)
        _write_text(folder, UNFINISHED, dataclasses.replace(plan, shards=tuple(shards)).to_json())
    if progress is not None:
        progress(Progress(record_count, source.records, plan.count, plan.count, size))
    return tuple(shards)


def _check_replaceable(path: str, is_noted: bool, shard: Shard) -> None:
    """Checks that a file in the place of a new shard is this library's: noted, or the same.

    Raises:
      DataError: it is another file.
    """
    if not lies_at(path) or (is_noted and identity_of(path)):
        return
    if not identity_of(path) or size_and_checksum(path) != (shard.bytes, shard.crc32):
        raise DataError(
            f"{path}: there is another file where a file of records would go. Move it away, or "
            "write into a new folder."
        )


def _move(temporary: str, path: str) -> None:
    _sync(temporary)
    move_over(temporary, path)
    _sync(os.path.dirname(path))


def _write_text(folder: str, name: str, text: str) -> None:
    """Writes a small file as a whole."""
    path = os.path.join(folder, name)
    try:
        with staged(folder, name) as temporary:
            with open_to_write(temporary) as file:
                file.write(text.encode())
            _move(temporary, path)
    except OSError as error:
        if error.errno is None or error.filename is not None:
            raise
        raise type(error)(error.errno, error.strerror, path) from error  # a write names no file


def _sync(path: str) -> None:
    """Makes a local file or folder durable; an object store does so when a file is closed."""
    if "://" in path:
        return
    descriptor = os.open(path or ".", os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _check_space(folder: str, source: Source, written_bytes: int) -> None:
    if "://" in folder:
        return
    free, need = shutil.disk_usage(folder).free, source.bytes - written_bytes
    if free < need:
        raise FullDiskError(
            f"The disk of {folder} has {free / 1e6:,.0f} MB free, and the records need about "
            f"{need / 1e6:,.0f} MB. Nothing was written. Free some space, or use a folder on "
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
