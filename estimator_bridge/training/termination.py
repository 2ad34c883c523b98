"""SIGTERM, by which machines are taken away: training saves what it has, and the process ends."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator
from typing import Any

from tensorflow.compat.v1 import logging

__all__ = ["Termination", "saved_on_sigterm"]

# What a shell says of a process that SIGTERM ended; cluster managers start such a task again.
_EXIT_CODE = 128 + signal.SIGTERM


class Termination:
    """Whether the process was asked to end.

    Attributes:
      requested: that it was, or that another worker of this run was.
    """

    def __init__(self) -> None:
        self.requested = False

    def request(self, signum: int, frame: Any) -> None:
        """Takes the signal."""
        del signum, frame
        logging.warning("SIGTERM: training saves a checkpoint after the steps in flight, and ends.")
        self.requested = True


@contextlib.contextmanager
def saved_on_sigterm() -> Iterator[Termination]:
    """Around a call of train(), which is to look at what this yields between its chunks.

    A handler that the program has set is left alone, and only the main thread can have one.

    Raises:
      SystemExit: after it, where the process was asked to end: with code 143.
    """
    termination = Termination()
    is_main = threading.current_thread() is threading.main_thread()
    is_free = is_main and signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
    if is_free:
        signal.signal(signal.SIGTERM, termination.request)
    try:
        yield termination
    finally:
        if is_free:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
    if termination.requested:
        logging.warning("Training was ended by SIGTERM. Started again, it goes on from there.")
        raise SystemExit(_EXIT_CODE)
