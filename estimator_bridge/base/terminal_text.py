r"""Makes foreign names safe to print: file names, tensor names and texts of files.

A terminal obeys control characters: a file's name can clear the screen, forge a line of output or
type into the terminal. They are shown as escapes, such as ``\x1b``.
"""

from __future__ import annotations

import re

__all__ = ["printable", "printable_text"]

# Control characters of ASCII and Latin-1; marks that reorder what is shown; separators that some
# programs take for the end of a line; and halves of surrogate pairs, which stand for undecodable
# bytes of file names and which no output can encode.
_ORDERING = "\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069"
_UNSAFE = re.compile(f"[\x00-\x1f\x7f-\x9f{_ORDERING}\ufeff\ud800-\udfff]")
_UNSAFE_BUT_LINES = re.compile(f"[\x00-\x08\x0b-\x1f\x7f-\x9f{_ORDERING}\ufeff\ud800-\udfff]")


def printable(name: object) -> str:
    """Returns a name for one line of output, with control characters and line ends as escapes."""
    return _UNSAFE.sub(_escape, str(name))


def printable_text(text: object) -> str:
    """Returns a text for output; unlike `printable`, it keeps line ends and tabs."""
    return _UNSAFE_BUT_LINES.sub(_escape, str(text))


def _escape(match: re.Match[str]) -> str:
    code = ord(match[0])
    short = {9: r"\t", 10: r"\n", 13: r"\r"}.get(code)
    return short or (f"\\x{code:02x}" if code <= 0xFF else f"\\u{code:04x}")
