"""Names the Python 2 constructs of a source that Python 3 cannot parse."""

from __future__ import annotations

import re

__all__ = ["python2_construct"]

# Patterns and names of constructs, the most certain first.
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
    """Names the Python 2 construct that keeps Python 3 from parsing a source.

    Args:
      text: the source.
      line: the line where Python stopped, from 1.

    Returns:
      The name; "" if neither the line nor the one above it has one.
    """
    lines = text.split("\n")
    for number in (line, line - 1):
        if 1 <= number <= len(lines):
            code = _COMMENT.sub("", lines[number - 1])
            for pattern, name in _CONSTRUCTS:
                if pattern.search(code):
                    return name
    return ""
