"""The framing of a TFRecord file: where each record begins, read without the records' content.

A record is its length (8 bytes), the length's checksum (4), the content, and the content's checksum
(4). Checksums are CRC-32C, rotated and shifted by a constant. TensorFlow checks contents. This
module checks lengths: they show where a damaged record begins, and whether a file contains records
at all.
"""

from __future__ import annotations

import dataclasses
import struct
from collections.abc import Iterator

import tensorflow as tf

__all__ = ["Damage", "begins_as_records", "next_record", "offset_of", "records_in", "walk"]

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
    """

    offset: int
    record: int
    reason: str

    def __str__(self) -> str:
        return f"record {self.record} at byte {self.offset}: {self.reason}"


def walk(path: str) -> Iterator[int | Damage]:
    """Yields the length of each record's content, and at the end the damage, if any."""
    size = int(tf.io.gfile.stat(path).length)
    offset = record = 0
    with tf.io.gfile.GFile(path, "rb") as file:
        while offset < size:
            file.seek(offset)
            header = file.read(HEADER)
            length = _length(header)
            if length is None:
                yield Damage(offset, record, _bad_header(header))
                return
            end = offset + HEADER + length + FOOTER
            if end > size:
                yield Damage(
                    offset, record, f"cut short: it ends at byte {end}, and the file at {size}"
                )
                return
            yield length
            offset, record = end, record + 1


def records_in(path: str) -> tuple[int, Damage | None]:
    """Returns the number of whole records, and the first damage of the framing."""
    count = 0
    for found in walk(path):
        if isinstance(found, Damage):
            return count, found
        count += 1
    return count, None


def offset_of(path: str, count: int) -> int:
    """Returns the byte at which a record begins.

    Args:
      path: the file.
      count: the number of records before it, which are whole.
    """
    offset = 0
    for number, found in enumerate(walk(path)):
        if number == count or isinstance(found, Damage):
            break
        offset += HEADER + found + FOOTER
    return offset


def next_record(path: str, offset: int) -> int | None:
    """Returns the byte at which the next record begins, for a record whose content is damaged.

    Args:
      path: the file.
      offset: the byte at which the damaged record begins.

    Returns:
      The next record's first byte; None if the header is damaged too, or the file ends within the
      record.
    """
    with tf.io.gfile.GFile(path, "rb") as file:
        file.seek(offset)
        length = _length(file.read(HEADER))
    if length is None:
        return None
    end = offset + HEADER + length + FOOTER
    return end if end <= int(tf.io.gfile.stat(path).length) else None


def begins_as_records(path: str) -> str | None:
    """Returns why a file is not a TFRecord file, by its first bytes; None if it is, or is empty."""
    with tf.io.gfile.GFile(path, "rb") as file:
        header = file.read(HEADER)
    if not header or _length(header) is not None:
        return None
    return _bad_header(header)


def _length(header: bytes) -> int | None:
    """Returns the length in a record's header; None if the header is damaged or cut short."""
    if len(header) < HEADER:
        return None
    length, checksum = struct.unpack("<QI", header)
    return length if _masked(_crc32c(header[:8])) == checksum else None


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


def _masked(crc: int) -> int:
    return (((crc >> 15) | (crc << 17)) + _ROTATED_BY) & _WORD
