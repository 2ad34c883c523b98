"""The progress of a write, and the line that shows it."""

from __future__ import annotations

import dataclasses
import sys
import time
from typing import Callable, TextIO

__all__ = ["Progress", "ProgressLine"]

_EVERY_SECS = 0.5


@dataclasses.dataclass(frozen=True)
class Progress:
    """The progress of a write.

    Attributes:
      records: the number of records written, including those of an earlier run.
      total: the number of all records.
      shard: the number of files finished.
      shards: the number of all files.
      bytes: the size of the records that this run has written.
    """

    records: int
    total: int
    shard: int
    shards: int
    bytes: int


class ProgressLine:
    """Shows progress in one line of a terminal, and its last state elsewhere.

    Args:
      stream: where to write; by default stderr.
      clock: returns the time in seconds.
    """

    def __init__(self, stream: TextIO | None = None, clock: Callable[[], float] = time.monotonic):
        self._stream = sys.stderr if stream is None else stream
        self._clock = clock
        self._start = self._last = clock()
        self._first: int | None = None

    def __call__(self, progress: Progress) -> None:
        """Shows the progress, at most twice a second."""
        now = self._clock()
        if self._first is None:
            self._first = progress.records
        is_done = progress.records == progress.total and progress.shard == progress.shards
        is_terminal = self._stream.isatty()
        if not is_done and (not is_terminal or now - self._last < _EVERY_SECS):
            return
        self._last = now
        text = self._text(progress, max(now - self._start, 1e-6), self._first)
        if is_terminal:
            self._stream.write(f"\r{text}\x1b[K" + ("\n" if is_done else ""))
        else:
            self._stream.write(text + "\n")
        self._stream.flush()

    def _text(self, progress: Progress, seconds: float, first: int) -> str:
        new_records = progress.records - first
        rate = new_records / seconds
        remaining_secs = (progress.total - progress.records) / rate if new_records else 0.0
        return (
            f"{progress.records:,} of {progress.total:,} records, {progress.shard} of "
            f"{progress.shards} files, {progress.bytes / seconds / 1e6:.1f} MB/s"
            + (f", {remaining_secs:.0f} s left" if remaining_secs else "")
        )
