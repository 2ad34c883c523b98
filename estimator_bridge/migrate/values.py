"""What rules say: findings, and what to write instead."""

from __future__ import annotations

import enum
from dataclasses import dataclass, field

__all__ = ["Edit", "Finding", "Severity", "Span"]


class Severity(enum.Enum):
    """What becomes of what was found.

    The values are what reports show.
    """

    WORKS = "works as is"
    REWRITTEN = "rewritten automatically"
    BY_HAND = "by hand"
    UNAVAILABLE = "cannot be had"


@dataclass(frozen=True, order=True)
class Span:
    """A part of a source's text: characters from `start` up to `end`."""

    start: int
    end: int

    def overlaps(self, other: Span) -> bool:
        """Whether two spans share a character; insertions at one place do not."""
        return self.start < other.end and other.start < self.end


@dataclass(frozen=True)
class Edit:
    """What to write in place of a span.

    Attributes:
      span: what is replaced; an empty one inserts.
      text: what stands there afterwards.
    """

    span: Span
    text: str


@dataclass(frozen=True)
class Finding:
    """What a rule found in one place.

    Attributes:
      rule: the rule's code.
      file: as the user named it, or below the folder that the user named.
      line: from 1; of a notebook, in the cell.
      column: from 1, in characters.
      severity: what becomes of it.
      message: what is there.
      how: what to do, or what `rewrite` does; "" where there is nothing to do.
      cell: which code cell of a notebook; 0 in other files.
      edits: what `rewrite` writes. They are made together or not at all.
      imports: the statements that the edits need at the top of the module.
    """

    rule: str
    file: str
    line: int
    column: int
    severity: Severity
    message: str
    how: str = ""
    cell: int = 0
    edits: tuple[Edit, ...] = field(default=(), repr=False)
    imports: tuple[str, ...] = field(default=(), repr=False)
