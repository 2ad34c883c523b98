"""The framing of a TFRecord file: where each record begins, read without the records' content.

A record is its length (8 bytes), the length's checksum (4), the content, and the content's checksum
(4). Checksums are CRC-32C, rotated and shifted by a constant. TensorFlow checks contents. This
module checks lengths: they show where a damaged record begins, and whether a file contains records
at all.

TensorFlow allocates as many bytes as a length states before it looks at the file's size, and ends
the process by a signal if that fails. So each length is compared with the file's size here, before
TensorFlow reads the record.
"""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
import os
import struct
import time
from collections.abc import Callable, Iterator, Sequence

import tensorflow as tf

from estimator_bridge.base.any_files import check_is_no_pipe, is_remote
from estimator_bridge.errors import DataError

__all__ = [
    "MOST_BYTES",
    "Damage",
    "begins_as_records",
    "check_lengths",
    "offset_of",
    "records_in",
    "walk",
    "whole_records",
]

# Of one record: no larger Example can be parsed, because protocol buffers end there.
MOST_BYTES = (1 << 31) - 1
HEADER = 12
FOOTER = 4
_POLYNOMIAL = 0x82F63B78  # Castagnoli's, reversed
_ROTATED_BY = 0xA282EAD8
_WORD = 0xFFFFFFFF
_GZIP = b"\x1f\x8b"


def _table() -> tuple[int, ...]:
    entries = []
    for entry in range(256):
        for _ in range(8):
            entry = (entry >> 1) ^ (_POLYNOMIAL if entry & 1 else 0)  # noqa: PLW2901
        entries.append(entry)
    return tuple(entries)


_TABLE = _table()


@dataclasses.dataclass(frozen=True)
class Damage:
    """A place where a file is damaged.

    Attributes:
      offset: the byte at which the damaged record begins.
      record: the number of whole records before it.
      reason: what is wrong.
      length: the length that its header states, if the header itself is whole.
    """

    offset: int
    record: int
    reason: str
    length: int | None = None

    def __str__(self) -> str:
        return f"record {self.record} at byte {self.offset}: {self.reason}"


def walk(path: str) -> Iterator[int | Damage]:
    """Yields the length of each record's content, and at the end the damage, if any."""
    offset = record = 0
    with _open(path) as (size, header_at):
        while offset < size:
            content = _content_at(offset, record, size, header_at)
            yield content
            if isinstance(content, Damage):
                return
            offset, record = offset + HEADER + content + FOOTER, record + 1


def whole_records(path: str, limit: int | None = None) -> int:
    """Returns the number of records before the first damage of the framing.

    Args:
      path: the file.
      limit: the largest number of interest; records after it are not looked at.
    """
    lengths = itertools.islice(walk(path), limit)
    return sum(not isinstance(length, Damage) for length in lengths)


def check_lengths(paths: Sequence[str], seconds: float = 1.0) -> None:
    """Checks that no record states a length with which TensorFlow would end the process.

    Other damage is left to the reader. Only lengths are read, so the check of a warm disk takes a
    second for half a million records. Files of object stores are not checked: each length would be
    a request.

    Args:
      paths: the files.
      seconds: the time after which the check ends: on a slow disk it would delay a training.

    Raises:
      DataError: a record of a file states more bytes than the file has, or more than `MOST_BYTES`.
    """
    end = time.monotonic() + seconds
    for path in paths:
        if is_remote(path):
            continue
        size = os.stat(path).st_size
        for length in walk(path):
            if isinstance(length, Damage) and (length.length or 0) > min(size, MOST_BYTES):
                raise DataError(
                    f"{path}, byte {length.offset}: damaged from record {length.record} on: "
                    f"{length.reason}. `estimator-bridge data check` reports all damage. Copy the "
                    "file again, or write the records again."
                )
            if time.monotonic() > end:
                return


def records_in(path: str) -> tuple[int, Damage | None]:
    """Returns the number of whole records, and the first damage of the framing."""
    count = 0
    for item in walk(path):
        if isinstance(item, Damage):
            return count, item
        count += 1
    return count, None


def offset_of(path: str, count: int) -> int:
    """Returns the byte at which a record begins.

    Args:
      path: the file.
      count: the number of records before it, which are whole.
    """
    offset = 0
    for number, item in enumerate(walk(path)):
        if number == count or isinstance(item, Damage):
            break
        offset += HEADER + item + FOOTER
    return offset


def begins_as_records(path: str) -> str | None:
    """Returns why a file is not a TFRecord file, by its first bytes; None if it is, or is empty."""
    check_is_no_pipe(path)
    with tf.io.gfile.GFile(path, "rb") as file:
        header = file.read(HEADER)
    if not header or _length(header) is not None:
        return None
    return _bad_header(header)


@contextlib.contextmanager
def _open(path: str) -> Iterator[tuple[int, Callable[[int], bytes]]]:
    """Gives a file's size, and a function that reads the header at an offset."""
    if is_remote(path):
        size = int(tf.io.gfile.stat(path).length)
        with tf.io.gfile.GFile(path, "rb") as remote:

            def header_at(offset: int) -> bytes:
                remote.seek(offset)
                return remote.read(HEADER)

            yield size, header_at
        return
    check_is_no_pipe(path)
    with open(path, "rb", buffering=0) as file:
        descriptor = file.fileno()
        size = os.fstat(descriptor).st_size
        yield size, lambda offset: os.pread(descriptor, HEADER, offset)


def _content_at(
    offset: int, record: int, size: int, header_at: Callable[[int], bytes]
) -> int | Damage:
    """Returns the length of a record's content, or its damage."""
    header = header_at(offset)
    length = _length(header)
    if length is None:
        return Damage(offset, record, _bad_header(header))
    end = offset + HEADER + length + FOOTER
    if end > size:
        reason = f"cut short: it ends at byte {end}, and the file at {size}"
        return Damage(offset, record, reason, length)
    if length > MOST_BYTES:
        reason = f"{length} bytes long, more than any Example: the limit is {MOST_BYTES}"
        return Damage(offset, record, reason, length)
    return length


def _length(header: bytes) -> int | None:
    """Returns the length in a record's header; None if the header is damaged or cut short."""
    if len(header) < HEADER:
        return None
    length, checksum = struct.unpack("<QI", header)
    return length if _mask(_crc32c(header[:8])) == checksum else None


def _bad_header(header: bytes) -> str:
    if header.startswith(_GZIP):
        return "compressed by gzip, which this reader does not decompress: decompress the file"
    if len(header) < HEADER:
        return f"cut short within the {HEADER} bytes of a record's header"
    return f"the header {header.hex(' ')} is not that of a TFRecord"


def _crc32c(content: bytes) -> int:
    crc = _WORD
    for byte in content:
        crc = _TABLE[(crc ^ byte) & 0xFF] ^ (crc >> 8)
    return crc ^ _WORD


def _mask(crc: int) -> int:
    return (((crc >> 15) | (crc << 17)) + _ROTATED_BY) & _WORD
