"""Names the Python 2 constructs of a source that Python 3 cannot parse."""

from __future__ import annotations

import re

__all__ = ["python2_construct"]

# What stands in a line, and what to call it. The order is that of how sure each is.
_CONSTRUCTS = [
    (re.compile(r"^\s*(?:.*[:;]\s*)?print\s+(?![=(.,)\]])\S"), "a print statement"),
    (re.compile(r"^\s*(?:.*[:;]\s*)?print\s*>>"), "a print statement to a file"),
    (re.compile(r"^\s*except\s+[\w.()\s,]+,\s*\w+\s*:"), "except A, e"),
    (re.compile(r"^\s*raise\s+[\w.]+\s*,"), "raise A, message"),
    (re.compile(r"^\s*exec\s+[^\s(=.]"), "an exec statement"),
    (re.compile(r"<>"), "the operator <>"),
    (re.compile(r"\b0[0-7]+\b(?!\.)"), "an octal number such as 0777"),
    (re.compile(r"\b\d+[lL]\b"), "a long number such as 10L"),
    (re.compile(r"\b[uU][rR]['\"]"), "a string ur'...'"),
    (re.compile(r"`[^`]+`"), "backquotes for repr()"),
    (
        re.compile(r"\bdef\s+\w+\s*\(.*\([\w\s,]+\).*\)\s*:|\blambda\s*\("),
        "unpacking in parameters",
    ),
]
_COMMENT = re.compile(r"#.*$")


def python2_construct(text: str, line: int) -> str:
    """Says which of Python 2's constructs keeps Python 3 from parsing a source.

    Args:
      text: the source.
      line: where Python stopped, from 1.

    Returns:
      Its name; "" where the line, and the one above it, hold none.
    """
    lines = text.split("\n")
    for number in (line, line - 1):
        if 1 <= number <= len(lines):
            code = _COMMENT.sub("", lines[number - 1])
            for pattern, name in _CONSTRUCTS:
                if pattern.search(code):
                    return name
    return ""
