"""Reads what shared libraries define and call without loading them, which may end the process."""

from __future__ import annotations

import mmap
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

__all__ = ["functions_of", "tpu_functions_called_by"]

# tensorflow-tpu looks each function up by name when it is loaded; its message about a missing one
# follows the name in the file.
_MISSING = b" not available in this library"
_LONGEST_NAME = 200
_DYNAMIC_SYMBOLS = 11  # SHT_DYNSYM
_HEADER = struct.Struct("<16x 2H I 3Q I 6H")
_SECTION = struct.Struct("<2I 4Q 2I 2Q")
_SYMBOL = struct.Struct("<I 2B H 2Q")


def tpu_functions_called_by(library: Path) -> set[str]:
    """Returns the functions of libtpu that a build of TensorFlow calls; none if it has no TPUs.

    Args:
        library: TensorFlow's libtensorflow_cc.so.2.
    """
    names = set()
    with _map(library) as text:
        end = text.find(_MISSING)
        while end >= 0:
            start = text.rfind(b"\0", max(0, end - _LONGEST_NAME), end) + 1
            names.add(text[start:end].decode("ascii", "replace"))
            end = text.find(_MISSING, end + 1)
    return {name for name in names if name.isidentifier()}


def functions_of(library: Path) -> set[str]:
    """Returns the names that a shared library defines for others.

    Args:
        library: an ELF file of 64 bits, little-endian.

    Raises:
        ValueError: it is another kind of file, or damaged.
    """
    with _map(library) as text:
        if text[:6] != b"\x7fELF\x02\x01":
            raise ValueError(f"{library} is not a shared library of 64 bits")
        try:
            return set(_defined_symbols(text))
        except (struct.error, IndexError) as error:
            raise ValueError(f"{library} is damaged: {error}") from error


def _defined_symbols(text: mmap.mmap) -> Iterator[str]:
    header = _HEADER.unpack_from(text)
    offset, size, count = header[5], header[10], header[11]
    sections = [_SECTION.unpack_from(text, offset + size * i) for i in range(count)]
    for section in sections:
        if section[1] != _DYNAMIC_SYMBOLS:
            continue
        names = sections[section[6]][4]
        for place in range(section[4], section[4] + section[5], _SYMBOL.size):
            name, _, _, defined_in, _, _ = _SYMBOL.unpack_from(text, place)
            if defined_in:
                start = names + name
                yield text[start : text.find(b"\0", start)].decode("ascii", "replace")


@contextmanager
def _map(library: Path) -> Iterator[mmap.mmap]:
    with (
        library.open("rb") as file,
        mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as text,
    ):
        yield text
