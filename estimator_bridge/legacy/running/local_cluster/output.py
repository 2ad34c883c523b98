"""Copies the output of several processes, each line with the name of its process."""

from __future__ import annotations

import os
import select
import selectors
from typing import NamedTuple

__all__ = ["Outputs", "PrefixedLines", "write_all"]

_CHUNK = 65_536  # bytes
_LONGEST_LINE = 65_536  # bytes of a line that are held back until it ends
_MOST_CHUNKS = 64  # read at once from one pipe, of a process that writes without end


class PrefixedLines:
    """Puts a prefix before each line of a stream, whatever its encoding.

    A carriage return ends a line too: a progress bar would otherwise overwrite the prefix.

    Args:
      prefix: the prefix.
    """

    def __init__(self, prefix: str):
        self._prefix, self._rest = prefix.encode(), b""

    def feed(self, data: bytes) -> bytes:
        """Returns the lines that are complete with these bytes."""
        lines = (self._rest + data).splitlines(keepends=True)
        self._rest = b""
        # What follows a carriage return decides whether it is half of a line's end.
        if lines and not lines[-1].endswith(b"\n") and len(lines[-1]) < _LONGEST_LINE:
            self._rest = lines.pop()
        return self._join(lines)

    def finish(self) -> bytes:
        """Returns what remains at the end of the stream, as a line."""
        rest, self._rest = self._rest, b""
        return self._join([rest] if rest else [])

    def _join(self, lines: list[bytes]) -> bytes:
        # Progress bars begin with the carriage return.
        return b"".join(
            self._prefix + line.rstrip(b"\r\n") + b"\n" for line in lines if line != b"\r"
        )


class _Stream(NamedTuple):
    pipe: int
    target: int
    lines: PrefixedLines


class Outputs:
    """Copies pipes to this process's streams. Not thread-safe."""

    def __init__(self) -> None:
        self._selector = selectors.DefaultSelector()
        self._streams: dict[int, _Stream] = {}

    def add(self, pipe: int, target: int, prefix: str) -> None:
        """Adds a pipe.

        Args:
          pipe: the file descriptor to read, which this object closes.
          target: the file descriptor to write: that of standard output or error.
          prefix: what precedes each line.
        """
        os.set_blocking(pipe, False)
        self._streams[pipe] = _Stream(pipe, target, PrefixedLines(prefix))
        self._selector.register(pipe, selectors.EVENT_READ)

    @property
    def are_open(self) -> bool:
        """Whether a process may still write."""
        return bool(self._streams)

    def copy(self, secs: float) -> None:
        """Copies what is written within some seconds, until there is something."""
        for key, _ in self._selector.select(secs):
            self._copy_chunk(key.fd)

    def copy_rest(self) -> None:
        """Copies what is in the pipes now."""
        for pipe in list(self._streams):
            for _ in range(_MOST_CHUNKS):
                if not self._copy_chunk(pipe):
                    break

    def close(self) -> None:
        """Writes unfinished lines and closes the pipes."""
        for pipe in list(self._streams):
            self._end(pipe)
        self._selector.close()

    def _copy_chunk(self, pipe: int) -> bool:
        """Copies one chunk; returns whether there was one."""
        stream = self._streams.get(pipe)
        if stream is None:
            return False
        try:
            data = os.read(pipe, _CHUNK)
        except BlockingIOError:
            return False
        if data:
            self._write(stream.target, stream.lines.feed(data))
        else:
            self._end(pipe)
        return bool(data)

    def _end(self, pipe: int) -> None:
        stream = self._drop(pipe)
        if stream:
            self._write(stream.target, stream.lines.finish())

    def _drop(self, pipe: int) -> _Stream | None:
        stream = self._streams.pop(pipe, None)
        if stream:
            self._selector.unregister(pipe)
            os.close(pipe)
        return stream

    def _write(self, target: int, data: bytes) -> None:
        try:
            write_all(target, data)
        except OSError:
            # Nobody reads, or the disk is full. The processes meet the same error when they write.
            for stream in list(self._streams.values()):
                if stream.target == target:
                    self._drop(stream.pipe)


def write_all(target: int, data: bytes) -> None:
    """Writes bytes, also to a descriptor that does not block.

    Raises:
      OSError: nobody reads them, or they cannot be stored.
    """
    rest = memoryview(data)
    while rest:
        try:
            rest = rest[os.write(target, rest) :]
        except BlockingIOError:
            poll = select.poll()
            poll.register(target, select.POLLOUT)
            poll.poll()
