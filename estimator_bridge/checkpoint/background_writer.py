"""A thread that writes one checkpoint at a time while training continues."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from tensorflow.compat.v1 import logging

__all__ = ["BackgroundWriter", "Write", "wait_for_abandoned"]

_FIRST_LINE_SECS, _NEXT_LINE_SECS = 10.0, 60.0


class Write:
    """A checkpoint that is written in its own thread.

    Args:
      path: the checkpoint's path, for messages.
      write: writes the checkpoint.

    Attributes:
      path: as given.
      error: the error that ended the write; None while it runs and after it succeeds.
    """

    def __init__(self, path: str, write: Callable[[], None]):
        self.path = path
        self.error: BaseException | None = None
        self._write: Callable[[], None] | None = write
        self._end = threading.Event()
        name = "estimator_bridge checkpoint writer"
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    @property
    def is_done(self) -> bool:
        """True once the write has ended, successfully or not."""
        return self._end.is_set()

    def wait(self) -> None:
        """Waits until the write has ended, and logs a warning while it takes long."""
        start, secs = time.monotonic(), _FIRST_LINE_SECS
        while not self._end.wait(secs):
            logging.warning(
                "Training waits for the checkpoint %s, which is still being written after %.0f s.",
                self.path,
                time.monotonic() - start,
            )
            secs = _NEXT_LINE_SECS

    def _run(self) -> None:
        assert self._write is not None
        try:
            self._write()
        except BaseException as error:
            self.error = error.with_traceback(None)  # its frames hold the copies of variables
        finally:
            self._write = None  # this closure held them too
            self._end.set()


class BackgroundWriter:
    """Writes checkpoints, at most one at a time."""

    def __init__(self) -> None:
        self._last: Write | None = None

    def start(self, path: str, write: Callable[[], None]) -> Write:
        """Starts writing a checkpoint once the previous one is done.

        Args:
          path: the checkpoint's path, for messages.
          write: writes the checkpoint; called in another thread.
        """
        self.wait()
        self._last = Write(path, write)
        _lasting.append(self._last)
        return self._last

    def wait(self) -> None:
        """Waits for the checkpoint that is being written, if any."""
        if self._last is not None:
            self._last.wait()
            if self._last in _lasting:
                _lasting.remove(self._last)


_lasting: list[Write] = []  # writes that nobody has waited for yet


def wait_for_abandoned(prefix: str) -> None:
    """Waits for checkpoints that train() was still writing when Ctrl-C ended it.

    Args:
      prefix: the start of the checkpoints' paths.
    """
    for write in [write for write in _lasting if write.path.startswith(prefix)]:
        write.wait()
        _lasting.remove(write)
