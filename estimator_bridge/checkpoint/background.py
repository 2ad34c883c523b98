"""A thread that writes one checkpoint at a time while training goes on."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from tensorflow.compat.v1 import logging

__all__ = ["BackgroundWriter", "Write", "wait_for_abandoned"]

_FIRST_LINE_SECS, _NEXT_LINE_SECS = 10.0, 60.0


class Write:
    """One checkpoint that is written in a thread of its own.

    Args:
      path: of the checkpoint, for messages.
      write: writes it.

    Attributes:
      path: as given.
      error: what ended the write; None while it lasts, and where it went well.
    """

    def __init__(self, path: str, write: Callable[[], None]):
        self.path = path
        self.error: BaseException | None = None
        self._write: Callable[[], None] | None = write
        self._done = threading.Event()
        name = "estimator_bridge checkpoint writer"
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    @property
    def is_done(self) -> bool:
        """Whether it has ended, well or not."""
        return self._done.is_set()

    def wait(self) -> None:
        """Waits until it has ended. Each line of the log says for what."""
        started, secs = time.monotonic(), _FIRST_LINE_SECS
        while not self._done.wait(secs):
            logging.warning(
                "Training waits for the checkpoint %s, which is still being written after %.0f s.",
                self.path,
                time.monotonic() - started,
            )
            secs = _NEXT_LINE_SECS

    def _run(self) -> None:
        assert self._write is not None
        try:
            self._write()
        except BaseException as error:
            self.error = error.with_traceback(None)  # its frames hold the copies of variables
        finally:
            self._write = None  # and so did this
            self._done.set()


class BackgroundWriter:
    """Writes checkpoints, of which one at most is being written."""

    def __init__(self) -> None:
        self._last: Write | None = None

    def start(self, path: str, write: Callable[[], None]) -> Write:
        """Begins to write a checkpoint, when the one before is done.

        Args:
          path: of the checkpoint, for messages.
          write: writes it; called in another thread.
        """
        self.wait()
        self._last = Write(path, write)
        _lasting.append(self._last)
        return self._last

    def wait(self) -> None:
        """Waits for the checkpoint that is being written, if one is."""
        if self._last is not None:
            self._last.wait()
            if self._last in _lasting:
                _lasting.remove(self._last)


_lasting: list[Write] = []  # those that nobody has waited for


def wait_for_abandoned(prefix: str) -> None:
    """Waits for checkpoints that a call of train() left behind, which Ctrl-C ended at once.

    Args:
      prefix: how the paths of the checkpoints begin.
    """
    for write in [write for write in _lasting if write.path.startswith(prefix)]:
        write.wait()
        _lasting.remove(write)
