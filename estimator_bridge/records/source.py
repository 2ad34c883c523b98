"""A source of records, which the writer reads in order from any record on."""

from __future__ import annotations

import dataclasses
import itertools
import zlib
from collections.abc import Iterator, Mapping
from typing import Callable

from estimator_bridge.records.features import Feature

__all__ = ["OVERHEAD", "Source", "mean_size"]

# Bytes of a file around each record: its length and two checksums.
OVERHEAD = 16
_SAMPLE = 256

Record = bytes  # serialized


@dataclasses.dataclass(frozen=True)
class Source:
    """Records to be written.

    Attributes:
      kind: its kind, for errors and progress: "images", "CSV".
      records: the number of records.
      bytes: the estimated size of all records, which decides the number of files.
      features: the features of each record, by name.
      read: returns the serialized records from a given one on; the same in each call.
      classes: the names of the labels 0, 1, ...; empty if they have none.
    """

    kind: str
    records: int
    bytes: int
    features: Mapping[str, Feature]
    read: Callable[[int], Iterator[Record]]
    classes: tuple[str, ...] = ()

    def checksum(self) -> int:
        """Returns a checksum of the kind, the number and the first of the records.

        A stopped write continues only if the checksum is unchanged: another source, or a dataset
        that is reshuffled each time, would lose some records and repeat others.
        """
        head = f"{self.kind} {self.records} {dict(self.features)} {self.classes}".encode()
        crc32 = zlib.crc32(head)
        for record in itertools.islice(self.read(0), 16):
            crc32 = zlib.crc32(record, crc32)
        return crc32


def mean_size(records: Iterator[bytes]) -> float:
    """Returns the mean size of the first records in a file, in bytes."""
    sizes = [len(record) + OVERHEAD for record in itertools.islice(records, _SAMPLE)]
    return sum(sizes) / max(1, len(sizes))
