"""Checks a folder of records: damage, shapes, labels, and the number and size of its files."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Callable

import tensorflow as tf

from estimator_bridge.errors import DataError
from estimator_bridge.records.features import Feature
from estimator_bridge.records.files import Paths, RecordFiles, check_regular, find_records
from estimator_bridge.records.images import image_features, images_of
from estimator_bridge.records.inspection import (
    Finding,
    Labels,
    damage_in,
    features_of,
    misfits,
)
from estimator_bridge.records.manifest import Manifest, read_manifest, size_and_checksum
from estimator_bridge.records.sharding import LARGEST, SMALLEST, shards_for
from estimator_bridge.records.unreadable import Unreadable, unreadable_in
from estimator_bridge.tensorflow_private.names import eager_mode

__all__ = ["RecordReport", "check"]

# Files of equal counts of records differ in size.
_TOLERANCE = 1.5
# Damaged images of a file that are reported one by one.
_SHOWN = 5


@dataclasses.dataclass(frozen=True)
class RecordReport:
    """The result of a check.

    Attributes:
      records: the number of whole records.
      bytes: the size of the files.
      files: the number of files.
      features: the features of each record, by name.
      findings: the problems, in the order of the files.
      images: the number of images that were decoded.
      damaged_images: the numbers of the records whose images cannot be decoded, by file: the
        argument ``leave_out`` of `input_fn`.
    """

    records: int
    bytes: int
    files: int
    features: dict[str, Feature]
    findings: tuple[Finding, ...]
    images: int = 0
    damaged_images: Mapping[str, tuple[int, ...]] = dataclasses.field(default_factory=dict)

    @property
    def is_good(self) -> bool:
        """True if training can read the records; advice may remain."""
        return not any(finding.is_error for finding in self.findings)


def check(
    paths: Paths,
    labels: Labels | None = None,
    each: Callable[[str], object] = lambda _: None,
    images: bool = True,
) -> RecordReport:
    """Reads all records, and reports what is wrong with them.

    Features with images are recognized by the first bytes of their values.

    Args:
      paths: a folder, a file or a pattern, local or on an object store; or a list of them.
      labels: the labels' feature and the number of classes, to check that labels are in range.
      each: called with each file before it is read.
      images: whether to decode all images, on all cores, which takes most of the time.

    Raises:
      DataError: there are no records, or a folder is mixed. Damaged files are findings.
    """
    with eager_mode():
        files, missing = _listed_files(paths)
        features = files.features or features_of(files.paths)
        findings = [*missing, *_label_findings(files, features, labels)]
        with_images = image_features(files.paths, features) if images else ()
        damaged: dict[str, tuple[int, ...]] = {}
        records = size = 0
        for path in files.paths:
            each(path)
            whole_count, file_findings = _check_file(path, files, features, labels)
            records, size = records + whole_count, size + int(tf.io.gfile.stat(path).length)
            findings += file_findings
            if with_images:
                bad = list(unreadable_in(path, whole_count, images_of(with_images)))
                findings += _image_findings(path, bad, {one.offset for one in file_findings})
                if bad:
                    damaged[path] = tuple(one.record for one in bad)
        findings += _advice(files.paths, size, records)
    decoded = records * len(with_images)
    return RecordReport(
        records, size, len(files.paths), dict(features), tuple(findings), decoded, damaged
    )


def _image_findings(
    path: str, bad: Sequence[Unreadable], reported_offsets: set[int | None]
) -> Iterator[Finding]:
    """Yields the first damaged images of a file, but those of records that are reported already."""
    bad = [one for one in bad if one.offset not in reported_offsets]
    for one in bad[:_SHOWN]:
        yield Finding(
            path,
            f"record {one.record}: damaged image: {one.reason}. Write the records again without "
            "it, or leave it out in training.",
            one.offset,
            is_image=True,
        )
    if len(bad) > _SHOWN:
        yield Finding(path, f"{len(bad) - _SHOWN:,} more damaged images.", is_image=True)


def _listed_files(paths: Paths) -> tuple[RecordFiles, list[Finding]]:
    """Returns the files; what `find_records` refuses because of a manifest becomes findings."""
    folder = os.fspath(paths).rstrip("/") if isinstance(paths, (str, os.PathLike)) else None
    manifest = read_manifest(folder) if folder and tf.io.gfile.isdir(folder) else None
    if folder is None or manifest is None:
        return find_records(paths), []
    names = set(tf.io.gfile.listdir(folder))
    paths_of_shards = [os.path.join(folder, s.file) for s in manifest.shards if s.file in names]
    missing = [
        Finding(os.path.join(folder, s.file), f"missing: {s.records} records. Copy it again.")
        for s in manifest.shards
        if s.file not in names
    ]
    for path in paths_of_shards:
        check_regular(path)
    if not paths_of_shards:
        raise DataError(
            f"{folder}: none of the {len(manifest.shards)} files that its manifest lists exists. "
            "Copy them again, or write the records again."
        )
    return RecordFiles(tuple(paths_of_shards), {folder: manifest}), missing


def _check_file(
    path: str, files: RecordFiles, features: dict[str, Feature], labels: Labels | None
) -> tuple[int, list[Finding]]:
    whole_count, damage = damage_in(path)
    findings = []
    shard = _shard_of(path, files.manifests.get(os.path.dirname(path)))
    if damage is not None:
        losses = "" if shard is None else f" {shard.records - whole_count} records are lost."
        findings.append(
            Finding(
                path,
                f"damaged from record {damage.record} on: {damage.reason}.{losses} Copy the file "
                "again, or write the records again.",
                damage.offset,
            )
        )
    elif shard is not None and size_and_checksum(path) != (shard.bytes, shard.crc32):
        size = int(tf.io.gfile.stat(path).length)
        findings.append(
            Finding(
                path,
                f"not the file that was written: {whole_count} records and {size} bytes, want "
                f"{shard.records} and {shard.bytes}, with another checksum. Copy it again.",
            )
        )
    elif not whole_count:
        findings.append(Finding(path, "empty: no record. Remove it."))
    findings += misfits(path, features, whole_count, labels)
    return whole_count, findings


def _shard_of(path: str, manifest: Manifest | None):
    name = os.path.basename(path)
    shards = manifest.shards if manifest else ()
    return next((shard for shard in shards if shard.file == name), None)


def _label_findings(
    files: RecordFiles, features: dict[str, Feature], labels: Labels | None
) -> Iterator[Finding]:
    if labels is not None and labels.feature not in features:
        yield Finding(
            os.path.dirname(files.paths[0]) or ".",
            f"no feature {labels.feature!r} to check labels of; records have "
            f"{', '.join(features)}.",
        )


def _advice(paths: tuple[str, ...], size: int, records: int) -> Iterator[Finding]:
    """Yields advice where the number of files breaks the rule of `shards_for`."""
    folder, count = os.path.dirname(paths[0]) or ".", len(paths)
    want = shards_for(size, records)
    mean = size / count
    rewrite = f"`estimator-bridge data write` would make {want}."
    if mean > LARGEST * _TOLERANCE or (count < want / _TOLERANCE and mean > SMALLEST * _TOLERANCE):
        yield Finding(
            folder,
            f"too few files: {count} of {mean / 1e6:.1f} MB are read less in parallel than "
            f"possible. {rewrite}",
            is_error=False,
        )
    elif count > 1 and mean < SMALLEST / _TOLERANCE and count > want:
        yield Finding(
            folder,
            f"files are too small: {count} of {mean / 1e6:.3f} MB; an object store takes longer to "
            f"open one than to read it. {rewrite}",
            is_error=False,
        )
