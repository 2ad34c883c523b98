"""Converts positions in the syntax tree to offsets in the text."""

from __future__ import annotations

import ast
import re
from bisect import bisect_right

from estimator_bridge.migrate.findings import Span

__all__ = ["Lines"]

# Lines as Python's parser ends them; str.splitlines also ends lines at form feeds and others.
_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n|$)")


class Lines:
    """The lines of a text.

    Args:
      text: the text.
    """

    def __init__(self, text: str):
        self.text = text
        ends = {match.end() for match in _LINE.finditer(text)}
        self._starts = sorted({0, *ends} - {len(text)})

    def __len__(self) -> int:
        return len(self._starts)

    def start(self, number: int) -> int:
        """Returns the offset of a line by its number, from 1; past the last, the text's end."""
        return self._starts[number - 1] if number <= len(self._starts) else len(self.text)

    def line(self, number: int) -> str:
        """Returns a line with its line end by its number, from 1."""
        return self.text[self.start(number) : self.start(number + 1)]

    def offset(self, line: int, column: int) -> int:
        """Returns the offset of a position in `ast`, which counts columns in UTF-8 bytes."""
        text = self.line(line)
        if not text.isascii():
            column = len(text.encode()[:column].decode())
        return self.start(line) + column

    def place(self, offset: int) -> tuple[int, int]:
        """Returns the line and the column of an offset, both from 1."""
        line = max(bisect_right(self._starts, offset), 1)
        return line, offset - self.start(line) + 1

    def span(self, node: ast.expr | ast.stmt | ast.alias | ast.keyword | ast.arg) -> Span:
        """Returns the span of a node."""
        assert node.end_lineno is not None and node.end_col_offset is not None
        return Span(
            self.offset(node.lineno, node.col_offset),
            self.offset(node.end_lineno, node.end_col_offset),
        )

    def of(self, node: ast.expr | ast.stmt | ast.alias | ast.keyword | ast.arg) -> str:
        """Returns the text of a node."""
        span = self.span(node)
        return self.text[span.start : span.end]
