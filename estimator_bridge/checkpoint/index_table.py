"""The table in a checkpoint's index: keys and values, with every offset checked.

The format is that of LevelDB: blocks of entries, whose keys leave out what they share with the key
before, and a footer that says where the block is that lists the others.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

__all__ = ["TableError", "table_entries", "varint"]

_FOOTER = 48
_MAGIC = 0xDB4775248B80FB57
_TRAILER = 5  # of a block: its kind, and its checksum, which TensorFlow checks
_WORD = 4
_MOST_BITS = 64


class TableError(ValueError):
    """The bytes are not such a table; the message says why."""


def table_entries(content: bytes) -> list[tuple[bytes, bytes]]:
    """Returns the keys and values of a table, in order.

    Args:
      content: the file's bytes.

    Raises:
      TableError: an offset leads out of the file or of its block, keys are not in order, or a block
        is compressed, which those of checkpoints are not.
    """
    if len(content) < _FOOTER:
        raise TableError("file is too short to be an sstable")
    if struct.unpack("<Q", content[-8:])[0] != _MAGIC:
        raise TableError("not an sstable (bad magic number)")
    footer = content[-_FOOTER:-8]
    _, _, place = _handle(footer, 0)  # of a block that nothing reads
    offset, size, _ = _handle(footer, place)
    entries: list[tuple[bytes, bytes]] = []
    for _, handle in _block(content, offset, size):
        start, length, _ = _handle(handle, 0)
        entries += _block(content, start, length)
    for (key, _), (following, _) in zip(entries, entries[1:]):
        if following <= key:
            raise TableError("its keys are not in order")
    return entries


def varint(content: bytes, place: int) -> tuple[int, int]:
    """Returns an unsigned number, and the place after it.

    Raises:
      TableError: the bytes end within the number, or it has more than 64 bits.
    """
    value = shift = 0
    while place < len(content) and shift < _MOST_BITS:
        byte = content[place]
        value |= (byte & 0x7F) << shift
        place, shift = place + 1, shift + 7
        if byte < 0x80:
            if value >> _MOST_BITS:
                break
            return value, place
    raise TableError("a number in it is cut short or too long")


def _handle(content: bytes, place: int) -> tuple[int, int, int]:
    """Returns a block's offset, its size, and the place after both."""
    offset, place = varint(content, place)
    size, place = varint(content, place)
    return offset, size, place


def _block(content: bytes, offset: int, size: int) -> Iterator[tuple[bytes, bytes]]:
    """Yields the entries of a block."""
    if offset + size + _TRAILER > len(content) - _FOOTER or size < _WORD:
        raise TableError(f"a block of {size} bytes at byte {offset} is not within it")
    if content[offset + size]:
        raise TableError("a block of it is compressed")
    block = content[offset : offset + size]
    (count,) = struct.unpack("<I", block[-_WORD:])
    end = size - _WORD * (count + 1)
    if not count or end < 0:
        raise TableError("a block of it is cut short")
    restarts = set(struct.unpack(f"<{count}I", block[end:-_WORD]))
    key, place = b"", 0
    while place < end:
        is_restart = place in restarts
        restarts.discard(place)
        shared, place = varint(block, place)
        suffix_size, place = varint(block, place)
        length, place = varint(block, place)
        if shared > len(key) or (is_restart and shared) or place + suffix_size + length > end:
            raise TableError("an entry of it is not within its block")
        key = key[:shared] + block[place : place + suffix_size]
        yield key, block[place + suffix_size : place + suffix_size + length]
        place += suffix_size + length
    if restarts - {0}:
        raise TableError("a block of it points between its entries")
