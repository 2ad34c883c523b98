"""Reads files of LMDB (Lightning Memory-Mapped Database), format 1, of 64-bit machines.

A file consists of pages. The first two are metas, of which the later transaction counts: it names
the root of a B+ tree, whose leaves have keys and values in the order of the keys. A value that does
not fit is in pages of its own.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator
from typing import Any, NamedTuple

from estimator_bridge.base.any_files import check_is_no_pipe

__all__ = ["LMDBFile"]

_MAGIC, _VERSION = 0xBEEFC0DE, 1
_NOTHING = 2**64 - 1  # the root of an empty tree
_HEAD = 16  # bytes before a page's content
# Of pages, and of the nodes on leaves.
_BRANCH, _LEAF = 0x01, 0x02
_IN_PAGES, _SEVERAL = 0x01, 0x04

_META = struct.Struct("<II16x")
_TREE_RECORD = struct.Struct("<IHH8x8x8x8xQ")
_PAGE = struct.Struct("<QHHHH")
_NODE = struct.Struct("<HHHH")


class _Node(NamedTuple):
    """A node of a page: on branches ``page`` is its child, on leaves ``size`` that of its value."""

    key: bytes
    flags: int
    size: int
    page: int
    place: int  # of the value in the page


class LMDBFile:
    """An open file. It is a context manager.

    Args:
      path: the file, or its folder.

    Raises:
      ValueError: there is no such file, or its format is another one.
    """

    def __init__(self, path: str):
        if os.path.isdir(path):
            path = os.path.join(path, "data.mdb")
        self._path = path
        try:
            check_is_no_pipe(path)
            self._file = open(path, "rb")  # noqa: SIM115 - closed by __exit__
        except OSError as error:
            raise ValueError(f"{error.strerror}: {path}") from error
        try:
            self._page_size, self._root = self._read_metas()
        except BaseException:
            self._file.close()
            raise

    def __enter__(self) -> LMDBFile:
        return self

    def __exit__(self, *error: Any) -> None:
        self._file.close()

    def leaves(self) -> list[int]:
        """Returns the numbers of the pages with keys and values, in order."""
        return list(self._leaves(self._root))

    def read(self, leaf: int) -> Iterator[tuple[bytes, bytes]]:
        """Yields the keys and values of one of `leaves`; of a named database, its record.

        Raises:
          ValueError: a key has several values, or the file is damaged.
        """
        page = self._page(leaf)
        for node in _nodes(page):
            content = page[node.place : node.place + node.size]
            if node.flags & _IN_PAGES:
                (first,) = struct.unpack_from("<Q", page, node.place)
                yield node.key, self._bytes(first * self._page_size + _HEAD, node.size)
            elif node.flags & _SEVERAL:
                raise ValueError(
                    f"{self._path} has several values for the key {node.key!r} (MDB_DUPSORT), "
                    "which LMDBDataset does not read. Read it with the package lmdb in "
                    "tf.data.Dataset.from_generator."
                )
            else:
                yield node.key, content

    def _leaves(self, root: int) -> Iterator[int]:
        waiting = [] if root == _NOTHING else [root]
        while waiting:
            number = waiting.pop()
            page = self._page(number)
            if page[10] & _BRANCH:
                waiting += [node.page for node in _nodes(page)][::-1]
            else:
                yield number

    def _read_metas(self) -> tuple[int, int]:
        """Returns the size of a page, and the number of the tree's root."""
        size, *first = self._read_meta(0)
        _, *second = self._read_meta(size)
        return size, max(first, second)[1]

    def _read_meta(self, offset: int) -> tuple[int, int, int]:
        """Returns the size of a page, the transaction's number, and the root."""
        start = offset + _HEAD
        magic, version = _META.unpack(self._bytes(start, _META.size))
        if magic != _MAGIC:
            raise ValueError(
                f"MDB_INVALID: File is not an LMDB file: {self._path}. Files of big-endian or "
                "32-bit machines cannot be read either."
            )
        if version != _VERSION:
            raise ValueError(
                f"MDB_VERSION_MISMATCH: Database environment version mismatch: {self._path} has "
                f"format {version}, not {_VERSION}."
            )
        trees = start + _META.size
        size, *_ = _TREE_RECORD.unpack(self._bytes(trees, _TREE_RECORD.size))
        *_, root = _TREE_RECORD.unpack(self._bytes(trees + _TREE_RECORD.size, _TREE_RECORD.size))
        _, transaction = struct.unpack("<QQ", self._bytes(trees + 2 * _TREE_RECORD.size, 16))
        return size, transaction, root

    def _page(self, number: int) -> bytes:
        page = self._bytes(number * self._page_size, self._page_size)
        if not page[10] & (_BRANCH | _LEAF):
            raise ValueError(f"MDB_CORRUPTED: Located page was wrong type: {self._path}, {number}.")
        return page

    def _bytes(self, offset: int, size: int) -> bytes:
        self._file.seek(offset)
        data = self._file.read(size)
        if len(data) < size:
            raise ValueError(
                f"MDB_PAGE_NOTFOUND: Requested page not found: {self._path} ends before byte "
                f"{offset + size}; it was not copied as a whole."
            )
        return data


def _nodes(page: bytes) -> Iterator[_Node]:
    flags, lower = _PAGE.unpack_from(page)[2:4]
    is_branch = flags & _BRANCH
    for (offset,) in struct.iter_unpack("<H", page[_HEAD:lower]):
        low, high, flags, key_size = _NODE.unpack_from(page, offset)
        start = offset + _NODE.size
        number = low | high << 16
        yield _Node(
            page[start : start + key_size],
            flags,
            number,
            number | flags << 32 if is_branch else 0,
            start + key_size,
        )
