"""Reader of IDX files, the format of the original MNIST data set.

A file is a big-endian header (two zero bytes, a type code, the number of dimensions, each
dimension as 32 bits) and then the values, row by row. Only unsigned bytes, type code 8, are read.
"""

from __future__ import annotations

import contextlib
import gzip
import math
import os
import struct
import zlib
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from estimator_bridge.base.any_files import exists, open_bytes, read_at_most
from models.mnist.errors import DataError

__all__ = ["IdxPair", "find_mnist", "read_idx", "read_pair", "shapes_of"]

_UNSIGNED_BYTE = 8
_MOST_BYTES = 1 << 30  # of one file; MNIST has 47 MB, EMNIST 547 MB
# File names as first published, and as some mirrors have them.
_STEMS = {"train": "train", "test": "t10k"}
_SEPARATORS = ("-", ".")


class IdxPair(NamedTuple):
    """The paths of one split: the file of images and the file of their labels."""

    images: str
    labels: str


def find_mnist(folder: str) -> dict[str, IdxPair] | None:
    """Looks for the four MNIST files, plain or .gz, in a folder.

    Args:
        folder: the folder; it need not exist.

    Returns:
        The pair of paths of the splits `"train"` and `"test"`, or None if none of the four files
        exists.

    Raises:
        DataError: some of the four files exist and others do not.
    """
    path_by_name: dict[str, str | None] = {}
    for stem in _STEMS.values():
        for kind, dimensions in (("images", 3), ("labels", 1)):
            names = [f"{stem}-{kind}{dot}idx{dimensions}-ubyte" for dot in _SEPARATORS]
            paths = [os.path.join(folder, name + end) for name in names for end in ("", ".gz")]
            path_by_name[names[0]] = next((path for path in paths if exists(path)), None)
    missing = [name for name, path in path_by_name.items() if path is None]
    if len(missing) == len(path_by_name):
        return None
    if missing:
        present = [path for path in path_by_name.values() if path is not None]
        raise DataError(
            f"{folder}: MNIST is incomplete: found {', '.join(map(os.path.basename, present))}, "
            f"but not {', '.join(missing)} (plain or .gz). Add what is missing, or leave out "
            "--data_dir to train on scikit-learn's digits."
        )
    paths = [path for path in path_by_name.values() if path is not None]
    return {"train": IdxPair(*paths[:2]), "test": IdxPair(*paths[2:])}


def read_idx(path: str, num_dimensions: int) -> np.ndarray:
    """Reads one IDX file of unsigned bytes and checks all of it.

    Args:
        path: the file; a name that ends in `.gz` is decompressed.
        num_dimensions: the expected number of dimensions: 3 for images, 1 for labels.

    Returns:
        The values, uint8, with the shape that the header states.

    Raises:
        DataError: the file is damaged, truncated, too long or in another format.
    """
    start = 4 + 4 * num_dimensions
    with _open(path) as file:
        header = read_at_most(file, start)
        shape = _shape(path, header, num_dimensions)
        want = math.prod(shape)
        # One byte more than wanted shows a file that is too long; a bomb is not unpacked further.
        values = read_at_most(file, want + 1)
    if len(values) != want:
        size = start + len(values)
        description = f"cut short: {size}" if len(values) < want else f"too long: at least {size}"
        raise DataError(
            f"{path}: {description} bytes, but a header that states the shape {list(shape)} wants "
            f"{start + want}. Download it again."
        )
    return np.frombuffer(values, np.uint8).reshape(shape)


@contextlib.contextmanager
def _open(path: str) -> Iterator[Any]:
    try:
        with open_bytes(path) as file:
            if path.endswith(".gz"):
                with gzip.GzipFile(fileobj=file) as unpacked:
                    yield unpacked
            else:
                yield file
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise DataError(f"{path}: damaged gzip file: {error}. Download it again.") from error


def _shape(path: str, header: bytes, num_dimensions: int) -> tuple[int, ...]:
    """Returns the shape that a header states."""
    expected = struct.pack(">HBB", 0, _UNSIGNED_BYTE, num_dimensions)
    if header[:4] != expected:
        raise DataError(
            f"{path}: not an IDX file of {num_dimensions} dimension(s) of unsigned bytes: it "
            f"starts with {header[:4].hex(' ') or 'nothing'}, want {expected.hex(' ')}."
        )
    start = 4 + 4 * num_dimensions
    if len(header) < start:
        raise DataError(f"{path}: cut short in the header: {len(header)} bytes, want {start}.")
    shape = struct.unpack(f">{num_dimensions}I", header[4:])
    if math.prod(shape) > _MOST_BYTES:
        raise DataError(
            f"{path}: a header that states the shape {list(shape)}: want at most "
            f"{_MOST_BYTES:,} values. Download it again."
        )
    return shape


def read_pair(pair: IdxPair) -> tuple[np.ndarray, np.ndarray]:
    """Reads and checks the images and labels of one split.

    Args:
        pair: the two paths.

    Returns:
        Images, uint8 [count, height, width], and labels, uint8 [count], each from 0 to 9.

    Raises:
        DataError: a file is damaged, or the two do not match.
    """
    images, labels = read_idx(pair.images, 3), read_idx(pair.labels, 1)
    if len(images) != len(labels):
        raise DataError(
            f"{pair.images} has {len(images)} images, but {pair.labels} has {len(labels)} labels: "
            "want equal numbers. One of the two belongs to another split, or is damaged."
        )
    if images.size == 0:
        raise DataError(f"{pair.images}: no pixels: the header states {list(images.shape)}.")
    if labels.max() > 9:
        at = int(np.argmax(labels > 9))
        raise DataError(f"{pair.labels}: label {at} is {labels[at]}, want 0 to 9.")
    return images, labels


def shapes_of(pairs: dict[str, IdxPair]) -> dict[str, tuple[int, int, int]]:
    """Reads and checks all of a data set.

    Args:
        pairs: see `find_mnist`.

    Returns:
        The shape of each split's images: count, height and width in pixels.

    Raises:
        DataError: a file is damaged, or the splits' images differ in size.
    """
    shapes = {split: read_pair(pair)[0].shape for split, pair in pairs.items()}
    if shapes["train"][1:] != shapes["test"][1:]:
        raise DataError(
            f"{pairs['test'].images}: images of {shapes['test'][1:]} pixels, want "
            f"{shapes['train'][1:]} as in {pairs['train'].images}."
        )
    return shapes
