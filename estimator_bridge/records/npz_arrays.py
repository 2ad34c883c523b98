"""Arrays of an .npz file, checked against the sizes in its archive before any is read."""

from __future__ import annotations

import math
import os
import zipfile
import zlib
from typing import IO

import numpy as np
import tensorflow as tf

from estimator_bridge.errors import DataError
from estimator_bridge.records.files import check_regular

__all__ = ["read_npz"]

_ENDING = ".npy"
_HEADERS = {
    (1, 0): np.lib.format.read_array_header_1_0,
    (2, 0): np.lib.format.read_array_header_2_0,
}


def read_npz(path: str) -> dict[str, np.ndarray]:
    """Returns the arrays of a file that `numpy.savez` wrote, by name.

    Args:
      path: the file, local or on an object store.

    Raises:
      DataError: there is no such file, it is damaged, its arrays would not fit into this machine's
        memory, or they hold Python objects, which would run code.
    """
    if not tf.io.gfile.exists(path):
        raise DataError(f"{path}: no such file.")
    check_regular(path)
    try:
        with tf.io.gfile.GFile(path, "rb") as file, zipfile.ZipFile(file) as archive:
            entries = archive.infolist()
            size, memory = sum(entry.file_size for entry in entries), _memory()
            if size > memory:
                raise ValueError(f"unpacked it has {size:,} bytes, and this machine {memory:,}")
            return {_name(entry): _array(archive, entry) for entry in entries}
    except (
        OSError, ValueError, EOFError, zipfile.BadZipFile, zlib.error, NotImplementedError,
        RuntimeError, SyntaxError, MemoryError, RecursionError, OverflowError, TypeError,
        tf.errors.OpError,
    ) as error:  # fmt: skip
        reason = getattr(error, "message", None) or error
        raise DataError(f"{path}: not a file that np.savez wrote: {reason}") from error


def _name(entry: zipfile.ZipInfo) -> str:
    if not entry.filename.endswith(_ENDING):
        raise ValueError(f"its entry {entry.filename!r} is not an array")
    return entry.filename[: -len(_ENDING)]


def _array(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> np.ndarray:
    with archive.open(entry) as file:
        _check_header(file, entry)
        file.seek(0)
        return np.lib.format.read_array(file, allow_pickle=False)


def _check_header(file: IO[bytes], entry: zipfile.ZipInfo) -> None:
    version = np.lib.format.read_magic(file)
    if version not in _HEADERS:
        raise ValueError(f"{entry.filename!r} is of version {version}")
    shape, _, dtype = _HEADERS[version](file)
    if dtype.hasobject:
        raise ValueError(f"{entry.filename!r} has Python objects; allow_pickle=False")
    if any(size < 0 for size in shape):
        raise ValueError(f"{entry.filename!r} has the shape {list(shape)}")
    expected_size, actual_size = math.prod(shape) * dtype.itemsize, entry.file_size - file.tell()
    if expected_size != actual_size:
        raise ValueError(
            f"{entry.filename!r} has {actual_size} bytes, want {expected_size} for {dtype.name} "
            f"{list(shape)}"
        )


def _memory() -> int:
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
