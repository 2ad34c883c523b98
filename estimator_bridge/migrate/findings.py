"""The results of rules: findings and edits."""

from __future__ import annotations

import enum
from dataclasses import dataclass, field

__all__ = ["Edit", "Finding", "Severity", "Span"]


class Severity(enum.Enum):
    """The handling of a finding.

    Reports show the values.
    """

    WORKS = "works as is"
    REWRITTEN = "rewritten automatically"
    BY_HAND = "by hand"
    UNAVAILABLE = "unavailable"


@dataclass(frozen=True, order=True)
class Span:
    """A part of a source's text: characters from `start` up to `end`."""

    start: int
    end: int

    def overlaps(self, other: Span) -> bool:
        """Returns whether two spans share a character; insertions at one position do not."""
        return self.start < other.end and other.start < self.end


@dataclass(frozen=True)
class Edit:
    """A replacement of a span.

    Attributes:
      span: the replaced span; an empty one inserts.
      text: the new text.
    """

    span: Span
    text: str


@dataclass(frozen=True)
class Finding:
    """A finding of a rule at one position.

    Attributes:
      rule: the rule's code.
      file: the path as the user named it, or below a folder that the user named.
      line: the line, from 1; in a notebook, that in the cell.
      column: the column in characters, from 1.
      severity: its handling.
      message: the problem.
      how: what to do, or what `rewrite` does; "" if no change is needed.
      cell: the number of a notebook's code cell; 0 in other files.
      edits: the edits of `rewrite`, applied together or not at all.
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
