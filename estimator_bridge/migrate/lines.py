"""Where in a text a place of the syntax tree is."""

from __future__ import annotations

import ast
import re
from bisect import bisect_right

from estimator_bridge.migrate.values import Span

__all__ = ["Lines"]

# Where Python's parser ends a line. str.splitlines also ends one at form feeds and others.
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
        """The first character of a line, by its number from 1; past the last, the text's end."""
        return self._starts[number - 1] if number <= len(self._starts) else len(self.text)

    def line(self, number: int) -> str:
        """A line with its end, by its number from 1."""
        return self.text[self.start(number) : self.start(number + 1)]

    def offset(self, line: int, column: int) -> int:
        """The character at a place of `ast`, which counts columns in bytes of UTF-8."""
        text = self.line(line)
        if not text.isascii():
            column = len(text.encode()[:column].decode())
        return self.start(line) + column

    def place(self, offset: int) -> tuple[int, int]:
        """The line and the column of a character, both from 1."""
        line = max(bisect_right(self._starts, offset), 1)
        return line, offset - self.start(line) + 1

    def span(self, node: ast.expr | ast.stmt | ast.alias | ast.keyword | ast.arg) -> Span:
        """What a node of the tree takes up."""
        assert node.end_lineno is not None and node.end_col_offset is not None
        return Span(
            self.offset(node.lineno, node.col_offset),
            self.offset(node.end_lineno, node.end_col_offset),
        )

    def of(self, node: ast.expr | ast.stmt | ast.alias | ast.keyword | ast.arg) -> str:
        """The text of a node of the tree."""
        span = self.span(node)
        return self.text[span.start : span.end]
