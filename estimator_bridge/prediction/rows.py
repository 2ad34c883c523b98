"""A record that was read, and where it stands; a record that could not be read, and why."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from typing import Any, Union

__all__ = ["BadRow", "Found", "Row", "RowError"]


class RowError(ValueError):
    """One record does not fit the model, or cannot be read; the message says why."""


@dataclasses.dataclass(frozen=True)
class Row:
    """A record.

    Attributes:
      path: its file.
      place: its place in the file, such as "line 7"; empty if it is the whole file.
      fields: its values by name. Cells of a CSV file are strings, whatever they hold.
      content: the bytes of an image's file or of a TFRecord, for models that take these.
    """

    path: str
    place: str
    fields: Mapping[str, Any]
    content: bytes | None = None

    def __str__(self) -> str:
        return f"{self.path}, {self.place}" if self.place else self.path


@dataclasses.dataclass(frozen=True)
class BadRow:
    """A record that cannot be read.

    Attributes:
      path: its file.
      place: its place in the file.
      reason: what is wrong.
    """

    path: str
    place: str
    reason: str

    def __str__(self) -> str:
        return f"{self.path}, {self.place}: {self.reason}" if self.place else (
            f"{self.path}: {self.reason}"
        )  # fmt: skip


Found = Iterator[Union[Row, BadRow]]
