"""Checks a checkpoint's index before TensorFlow reads it.

TensorFlow ends the process where an index states an impossible shape, or a string's length that its
data file does not have: it takes a file with right checksums for its own. A model_dir can come from
anybody, so this is checked here first. What TensorFlow reports by an error of its own, such as a
data file that was cut short, is left to it.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from estimator_bridge.base.any_files import check_is_no_pipe
from estimator_bridge.checkpoint.index_table import TableError, table_entries, varint
from estimator_bridge.tensorflow_private.saving import BundleEntryProto, BundleHeaderProto

__all__ = ["TableError", "check_index", "index_entries"]

_MOST_BYTES = 1 << 30  # of an index: ten million variables
_MOST_ELEMENTS = (1 << 63) - 1
_MOST_DIMENSIONS = 254
_REFERENCES = 100  # the types of reference variables, which no checkpoint has
_SLICE = b"\0"  # the first byte of the keys of a partitioned variable's parts
_CHECKSUM = 4  # bytes
_ALLOCATED = 1 << 31  # bytes that TensorFlow may ask for before it finds that a file is shorter


def check_index(path: str, data_files: Sequence[str]) -> None:
    """Checks that TensorFlow can read an index, and the values that it lists, or can refuse them.

    Args:
      path: the index.
      data_files: the checkpoint's data files, in order.

    Raises:
      TableError: it is not; the message says why.
      tf.errors.OpError: a file cannot be read.
    """
    length = int(tf.io.gfile.stat(path).length)
    if length > _MOST_BYTES:
        raise TableError(f"it has {length:,} bytes, and an index at most {_MOST_BYTES:,}")
    check_is_no_pipe(path)
    with tf.io.gfile.GFile(path, "rb") as file:
        content = file.read()
    _check(content, tuple((one, int(tf.io.gfile.stat(one).length)) for one in data_files))


def index_entries(path: str) -> tuple[int, dict[str, Any]]:
    """Reads an index of this machine.

    Args:
      path: the index.

    Returns:
      The number of data files, and a BundleEntryProto by name. The names of the parts of
      partitioned variables are not text, and may be anything.

    Raises:
      TableError: it is no index.
      OSError: it cannot be read.
    """
    check_is_no_pipe(path)
    with open(path, "rb") as file:
        shards, entries = _entries(file.read())
    return shards, {
        key.decode("utf-8", "backslashreplace"): _parse(BundleEntryProto, value)
        for key, value in entries
    }


@functools.lru_cache(maxsize=4)  # each value of a checkpoint is read by a reader of its own
def _check(content: bytes, data_files: tuple[tuple[str, int], ...]) -> None:
    shards, entries = _entries(content)
    if shards != len(data_files):
        data_files = ()  # TensorFlow looks for others
    for key, value in entries:
        try:
            if not key.startswith(_SLICE):
                key.decode("utf-8")
            _check_entry(_parse(BundleEntryProto, value), data_files)
        except (TableError, UnicodeDecodeError) as error:
            name = key.decode("utf-8", "backslashreplace")
            raise TableError(f"the entry {name!r}: {error}") from None


def _entries(content: bytes) -> tuple[int, list[tuple[bytes, bytes]]]:
    """Returns the number of data files, and the keys and descriptions of the values."""
    entries = table_entries(content)
    if not entries or entries[0][0]:
        raise TableError("it has no header")
    return _parse(BundleHeaderProto, entries[0][1]).num_shards, entries[1:]


def _parse(kind: Any, content: bytes) -> Any:
    try:
        return kind.FromString(content)
    except Exception:  # protobuf's own type has moved between releases
        raise TableError("its description cannot be parsed") from None


def _check_entry(entry: Any, data_files: Sequence[tuple[str, int]]) -> None:
    dtype, has_lengths = _type(entry.dtype)
    shape = [dim.size for dim in entry.shape.dim]
    elements = 1
    for size in shape:  # in order, as TensorFlow multiplies them
        elements *= size
        if size < 0 or elements > _MOST_ELEMENTS:
            raise TableError(f"no value has the shape {shape}")
    if entry.shape.unknown_rank or len(shape) > _MOST_DIMENSIONS:
        raise TableError("no value has such a shape")
    if entry.slices:
        for part in entry.slices:
            _check_slice(part, shape)
        if len(set(map(_extents, entry.slices))) < len(entry.slices):
            raise TableError("it lists a part twice")
        return  # the parts have entries of their own
    end = entry.offset + entry.size
    if entry.offset < 0 or entry.size < 0 or end > _MOST_ELEMENTS or entry.shard_id < 0:
        raise TableError(f"no file has {entry.size} bytes at byte {entry.offset}")
    has_file = entry.shard_id < len(data_files)
    path, length = data_files[entry.shard_id] if has_file else ("", 0)
    if entry.size > max(length, _ALLOCATED):
        raise TableError(f"it has {entry.size} bytes, and its data file {length}")
    if elements * (1 if has_lengths else dtype.size) > entry.size:
        raise TableError(f"{entry.size} bytes for {dtype.name} {shape}")
    if has_lengths and has_file and entry.offset < length:
        with tf.io.gfile.GFile(path, "rb") as file:
            file.seek(entry.offset)
            content = file.read(min(entry.size, length - entry.offset))
        _check_lengths(content, elements, entry.size, dtype == tf.variant)


@functools.cache  # to compare types takes long, and an index may list many values
def _type(number: int) -> tuple[tf.DType, bool]:
    """Returns a type, and whether a value's bytes begin with the lengths of its parts."""
    try:
        dtype = tf.as_dtype(number)
    except (TypeError, ValueError):
        number = 0
    if not 0 < number < _REFERENCES:
        raise TableError("there is no type of that number")
    return dtype, dtype in (tf.string, tf.variant)


def _check_lengths(content: bytes, count: int, size: int, is_variant: bool) -> None:
    """Checks the lengths of a value of strings or variants.

    Strings follow all of their lengths and a checksum. Variants each follow their own length, with
    a checksum after them.
    """
    place = total = 0
    for _ in range(count):
        if place >= len(content):
            return  # the file was cut short
        length, place = varint(content, place)
        total += length
        place += length + _CHECKSUM if is_variant else 0
        if total > size or place > size:
            raise TableError(f"its strings have {total} bytes, and it has {size}")


def _extents(part: Any) -> tuple[tuple[int, int | None], ...]:
    """Returns a part's starts and lengths; None where it is as long as the whole."""
    return tuple((e.start, e.length if e.HasField("length") else None) for e in part.extent)


def _check_slice(part: Any, shape: Sequence[int]) -> None:
    if len(part.extent) != len(shape):
        raise TableError(f"a part of {len(part.extent)} dimensions, and the shape is {shape}")
    for extent, size in zip(part.extent, shape):
        length = extent.length if extent.HasField("length") else size - extent.start
        if extent.start < 0 or length < 0 or extent.start + length > size:
            raise TableError(f"a part is not within the shape {shape}")
