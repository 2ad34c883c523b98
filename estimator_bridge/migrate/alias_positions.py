"""Adds the positions of names in import statements, which Python 3.9 does not provide."""

from __future__ import annotations

import ast
import io
import tokenize

__all__ = ["place_aliases"]


def place_aliases(tree: ast.AST, source: str) -> None:
    """Gives each `ast.alias` the positions that it has from Python 3.10 on.

    Args:
        tree: the source's syntax tree; it is changed.
        source: the text.
    """
    lines = source.splitlines(keepends=True)
    names = [t for t in tokenize.generate_tokens(io.StringIO(source).readline) if t.string.strip()]
    for node in ast.walk(tree):
        if isinstance(node, (ast.Import, ast.ImportFrom)) and node.end_lineno is not None:
            start = (node.lineno, _column(lines, node.lineno, node.col_offset))
            end = (node.end_lineno, _column(lines, node.end_lineno, node.end_col_offset or 0))
            inside = [t for t in names if start <= t.start and t.end <= end]
            inside = [t for t in inside if t.type in (tokenize.NAME, tokenize.OP)]
            first = next(i for i, t in enumerate(inside) if t.string == "import") + 1
            groups: list[list[tokenize.TokenInfo]] = [[]]
            for token in inside[first:]:
                if token.string == ",":
                    groups.append([])
                elif token.string not in "()":
                    groups[-1].append(token)
            for alias, group in zip(node.names, groups):
                (row, column), (end_row, end_column) = group[0].start, group[-1].end
                alias.lineno, alias.end_lineno = row, end_row
                alias.col_offset = len(lines[row - 1][:column].encode())
                alias.end_col_offset = len(lines[end_row - 1][:end_column].encode())


def _column(lines: list[str], row: int, offset: int) -> int:
    """Converts an offset in bytes to a column in characters."""
    return len(lines[row - 1].encode()[:offset].decode())
