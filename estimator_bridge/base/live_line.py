"""A line at the bottom of a terminal that is drawn again and makes room for other output."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Any, TextIO

__all__ = ["LiveLine", "is_live"]

_ERASE = "\r\x1b[2K"


def is_live(stream: TextIO) -> bool:
    """Whether a stream is a terminal that can redraw a line."""
    is_dumb = os.environ.get("TERM", "").lower() in ("", "dumb", "unknown")
    return stream.isatty() and not is_dumb


class LiveLine:
    """One line that changes in place.

    While it is shown, ``write`` of the streams below is wrapped: what the program writes there
    erases the line first, and passes unchanged. Log handlers that hold the stream are covered too.

    Args:
      stream: the terminal.
    """

    def __init__(self, stream: TextIO):
        self._stream = stream
        self._is_shown = self._is_drawing = False
        self._is_line_open = False  # the program has begun a line: nothing is drawn over it
        self._wrappers: list[tuple[TextIO, Callable[..., Any]]] = []

    @property
    def width(self) -> int:
        """The number of characters that fit."""
        columns = os.environ.get("COLUMNS", "")
        if columns.isdecimal() and int(columns):
            return int(columns) - 1
        try:
            return (os.get_terminal_size(self._stream.fileno()).columns or 80) - 1
        except (OSError, ValueError):  # a stream without a file
            return 79

    def draw(self, text: str) -> None:
        """Replaces the line; ``text`` may hold escape sequences, and has to fit."""
        self._wrap_streams()
        if not self._is_line_open:
            self._put(_ERASE + text)
            self._is_shown = True

    def erase(self) -> None:
        """Removes the line until the next ``draw``."""
        if self._is_shown:
            self._is_shown = False
            self._put(_ERASE)

    def write(self, text: str) -> None:
        """Writes a line that stays, above the live one's next place."""
        self.erase()
        self._put(("\n" if self._is_line_open else "") + text + "\n")
        self._is_line_open = False

    def close(self) -> None:
        """Removes the line, and gives the streams back."""
        self.erase()
        for stream, wrapper in self._wrappers:
            if vars(stream).get("write") is wrapper:
                del stream.write
        self._wrappers, self._is_line_open = [], False

    def _put(self, text: str) -> None:
        self._is_drawing = True
        try:
            self._stream.write(text)
            self._stream.flush()
        finally:
            self._is_drawing = False

    def _wrap_streams(self) -> None:
        if self._wrappers:
            return
        for stream in {id(s): s for s in (self._stream, sys.stdout, sys.stderr)}.values():
            if hasattr(stream, "__dict__") and stream.isatty():
                wrapper = self._making_room(stream.write)
                stream.write = wrapper  # type: ignore[method-assign]
                self._wrappers.append((stream, wrapper))

    def _making_room(self, write: Callable[[str], int]) -> Callable[[str], int]:
        def make_room(text: str) -> int:
            if not self._is_drawing and text:
                self.erase()
                self._is_line_open = not text.endswith("\n")
            return write(text)

        return make_room
