"""Describes a step that needs too much memory: the missing bytes and the largest arrays."""

from __future__ import annotations

import dataclasses
import re
from typing import Any

from estimator_bridge.compile_for.units import as_bytes

__all__ = ["Buffer", "OutOfMemory", "read_sizes"]

_UNITS = {"": 1, "B": 1, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}
_AMOUNT = r"([\d.]+)([BKMGT]?)i?B?"
_NEEDED = (
    re.compile(rf"required for [\w ]+? \({_AMOUNT}\) exceeds available \w+ \({_AMOUNT}\)"),
    re.compile(rf"Used {_AMOUNT} of {_AMOUNT} hbm"),
)
_SHOWN = 5


@dataclasses.dataclass(frozen=True)
class Buffer:
    """An array that a step keeps in the chip's memory.

    Attributes:
      op: TensorFlow's name of the operation that makes it, or of the argument.
      line: 'file:line: code' of the user's program; None if no line is the user's.
      shape: XLA's notation, such as 'f32[500,10]'.
      bytes: the size with padding.
    """

    op: str
    line: str | None
    shape: str
    bytes: int

    def __str__(self) -> str:
        place = f", made at {self.line}" if self.line else ""
        return f"{as_bytes(self.bytes):>8}  {self.shape}  {self.op}{place}"


@dataclasses.dataclass(frozen=True)
class OutOfMemory:
    """The memory that a step needs and the memory available.

    Attributes:
      needed: bytes, a lower bound: the compiler stops before it has counted all.
      available: the bytes that a program on one core may use.
      buffers: the largest arrays; not all of them are kept at the same time.
    """

    needed: int
    available: int
    buffers: tuple[Buffer, ...] = ()

    @property
    def missing(self) -> int:
        """The bytes missing."""
        return max(self.needed - self.available, 0)

    def __str__(self) -> str:
        lines = [
            f"Out of memory by at least {as_bytes(self.missing)}: the step needs "
            f"{as_bytes(self.needed)} of HBM, and a program may use {as_bytes(self.available)}."
        ]
        if self.buffers:
            lines.append("The largest arrays:")
            lines += [f"  {buffer}" for buffer in self.buffers[:_SHOWN]]
        return "\n".join(lines)

    def as_json(self) -> dict[str, Any]:
        """Returns plain values."""
        return {**dataclasses.asdict(self), "missing": self.missing}


def read_sizes(message: str) -> tuple[int, int] | None:
    """Returns the needed and available bytes in a compiler's error; None if it has none."""
    for pattern in _NEEDED:
        match = pattern.search(message)
        if match:
            need, unit, available, unit_available = match.groups()
            return _size(need, unit), _size(available, unit_available)
    return None


def _size(number: str, unit: str) -> int:
    return int(float(number) * _UNITS[unit])
