"""Finds the record files of a folder, a pattern or a list, and checks them before any is read."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Mapping, Sequence
from typing import Union

import tensorflow as tf

from estimator_bridge.base.any_files import check_is_file
from estimator_bridge.errors import DataError
from estimator_bridge.records.features import Feature
from estimator_bridge.records.framing import begins_as_records
from estimator_bridge.records.manifest import MANIFEST, Manifest, read_manifest
from estimator_bridge.records.unfinished import UNFINISHED

__all__ = ["Paths", "RecordFiles", "check_regular", "find_records"]

Paths = Union[str, "os.PathLike[str]", Sequence[str]]

_PATTERN = "*?["
# Files that folders of records may also have.
_BESIDE = (".json", ".md", ".txt", ".crc")
_FEW = 3


@dataclasses.dataclass(frozen=True)
class RecordFiles:
    """Files of records.

    Attributes:
      paths: the files, in order.
      manifests: the manifests of their folders, by folder.
    """

    paths: tuple[str, ...]
    manifests: Mapping[str, Manifest]

    @property
    def features(self) -> dict[str, Feature] | None:
        """The features that the manifests agree on; None without a manifest."""
        feature_sets = {str(m.features): m.features for m in self.manifests.values()}
        if len(feature_sets) > 1:
            raise DataError(
                "the folders have records of different features: "
                + "; ".join(f"{f}: {sorted(m.features)}" for f, m in self.manifests.items())
                + ". Read them by separate input functions."
            )
        return next(iter(feature_sets.values()), None)


def find_records(paths: Paths) -> RecordFiles:
    """Finds record files, and checks their sizes and first bytes.

    Args:
      paths: a folder, a file or a pattern such as "gs://bucket/train-*"; or a list of them. In a
        folder with a manifest, the files are those that it lists. In a folder without one, each
        file must contain records. Names that start with "." or "_", and text files, are ignored.

    Raises:
      DataError: nothing was found; a folder is mixed or incomplete; a file does not contain
        records, or its size differs from that in its manifest.
    """
    patterns = [os.fspath(paths)] if isinstance(paths, (str, os.PathLike)) else list(paths)
    if not patterns:
        raise DataError("no path of records was given. Name a folder, files or a pattern.")
    record_paths: dict[str, None] = {}
    manifests = {}
    for path in map(os.fspath, patterns):
        if tf.io.gfile.isdir(path):
            path = path.rstrip("/") or path  # noqa: PLW2901 - the files' paths have no "//"
            manifest, files = _in_folder(path)
            if manifest:
                manifests[path] = manifest
            record_paths.update(dict.fromkeys(files))
        else:
            record_paths.update(dict.fromkeys(_matching(path)))
    return RecordFiles(tuple(record_paths), manifests)


def _in_folder(folder: str) -> tuple[Manifest | None, list[str]]:
    names = sorted(tf.io.gfile.listdir(folder))
    if MANIFEST not in names and UNFINISHED in names:
        raise DataError(
            f"{folder}: not written to its end. Run the same `estimator-bridge data write` again: "
            "it continues where it stopped."
        )
    manifest = read_manifest(folder)
    if manifest:
        _check_sizes(folder, manifest)
        return manifest, [os.path.join(folder, shard.file) for shard in manifest.shards]
    names = [name for name in names if not name.startswith((".", "_"))]
    files = [os.path.join(folder, name) for name in names if not name.endswith(_BESIDE)]
    if not files:
        raise DataError(f"{folder}: empty: no file of records. Name the folder that has them.")
    inner = [path for path in files if tf.io.gfile.isdir(path)]
    if inner:
        raise DataError(
            f"{folder}: has sub-folders ({', '.join(inner[:_FEW])}). Name one of them, or a "
            "pattern, so that splits are not mixed."
        )
    _check_kind(folder, files)
    return None, files


def _matching(pattern: str) -> list[str]:
    is_pattern = any(character in pattern for character in _PATTERN)
    files = sorted(tf.io.gfile.glob(pattern)) if is_pattern else [pattern]
    files = [path for path in files if not tf.io.gfile.isdir(path)]
    if not files or not (is_pattern or tf.io.gfile.exists(pattern)):
        problem = "no file matches the pattern" if is_pattern else "no such file or folder"
        raise DataError(f"{pattern}: {problem}. Name a folder, files or a pattern of records.")
    _check_kind(pattern, files)
    return files


def _check_sizes(folder: str, manifest: Manifest) -> None:
    for shard in manifest.shards:
        path = os.path.join(folder, shard.file)
        if not tf.io.gfile.exists(path):
            raise DataError(
                f"{path}: missing: {MANIFEST} lists it with {shard.records} records. Copy it "
                f"again, or remove {folder} and write the records again."
            )
        check_regular(path)
        size = int(tf.io.gfile.stat(path).length)
        if size != shard.bytes:
            raise DataError(
                f"{path}: damaged: it has {size} bytes, want {shard.bytes} as {MANIFEST} says. "
                f"`estimator-bridge data check {folder}` reports the first damaged record. Copy "
                "the file again, or remove the folder and write the records again."
            )


def check_regular(path: str) -> None:
    """Checks that a path is not a pipe or a device, which nothing reads to its end.

    Raises:
      DataError: it is one, or cannot be examined.
    """
    try:
        check_is_file(path)
    except OSError as error:
        raise DataError(f"{path}: {error.strerror}. Name files of records.") from None


def _check_kind(place: str, files: Sequence[str]) -> None:
    for path in files:
        check_regular(path)
    wrong = [(path, why) for path in files if (why := begins_as_records(path))]
    if not wrong:
        return
    path, why = wrong[0]
    if len(wrong) == len(files):
        raise DataError(f"{path}: not a TFRecord file: {why}. Name files of records.")
    raise DataError(
        f"{place}: mixed: {len(wrong)} of {len(files)} files are not TFRecord files, the first "
        f"{path}: {why}. Move them away, or name a pattern that leaves them out."
    )
