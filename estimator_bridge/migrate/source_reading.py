"""Reads a source as Python does, with its encoding, byte order mark and line ends."""

from __future__ import annotations

import codecs
import io
import os
import stat
import tokenize
from dataclasses import dataclass

__all__ = ["MOST_BYTES", "Source", "UnreadableError", "read_source"]

# Larger files are data, or generated.
MOST_BYTES = 4_000_000


class UnreadableError(Exception):
    """A file's text cannot be read; the message says why, and what to do."""


@dataclass(frozen=True)
class Source:
    """A file's text.

    Attributes:
      path: the file.
      text: its text with the original line ends, without a byte order mark.
      encoding: the encoding that the file declares (PEP 263); by default UTF-8.
      mark: the byte order mark, if it begins with one.
    """

    path: str
    text: str
    encoding: str
    mark: bytes = b""

    @property
    def content(self) -> bytes:
        """The bytes of the text, in its encoding."""
        return self.encode_text(self.text)

    def encode_text(self, text: str) -> bytes:
        """Returns a new text as the file's bytes.

        Raises:
          UnicodeEncodeError: the file's encoding lacks some of the characters.
        """
        return self.mark + text.encode(self.encoding)

    def display(self, text: str) -> str:
        """Returns a text of this source for display."""
        return text


def read_source(path: str) -> Source:
    """Reads a file.

    Raises:
      UnreadableError: it is not a regular file, too large, or not text in its encoding.
      OSError: it cannot be opened.
    """
    status = os.stat(path)
    if not stat.S_ISREG(status.st_mode):  # opening a pipe would wait for its writer
        raise UnreadableError("is a pipe or a device, not a file")
    if status.st_size > MOST_BYTES:
        raise UnreadableError(f"has {status.st_size:,} bytes; the limit is {MOST_BYTES:,}")
    with open(path, "rb") as file:
        content = file.read()
    return Source(path, *decode_source(content))


def decode_source(content: bytes) -> tuple[str, str, bytes]:
    """Returns the text of a file's bytes, its encoding, and its byte order mark.

    Raises:
      UnreadableError: the bytes are not text in the declared encoding.
    """
    mark = codecs.BOM_UTF8 if content.startswith(codecs.BOM_UTF8) else b""
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(content).readline)
    except SyntaxError as error:
        if "unknown encoding" in str(error) or "encoding problem" in str(error):
            raise UnreadableError(f"names an encoding that Python does not know: {error}") from None
        encoding = "utf-8"  # it names none, and its first lines are not UTF-8
    encoding = "utf-8" if encoding == "utf-8-sig" else encoding
    try:
        text = content[len(mark) :].decode(encoding)
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise UnreadableError(
            f"is not {encoding} (line {line}): name its encoding in the first line, such as "
            "`# -*- coding: latin-1 -*-`"
        ) from None
    if "\0" in text:
        raise UnreadableError("contains null bytes: it is not source")
    return text, encoding, mark
