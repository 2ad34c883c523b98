"""The time that savers take to restore checkpoints."""

from __future__ import annotations

import time
from typing import Any

from benchmarks.estimators import v1

__all__ = ["RestoreTime"]


class RestoreTime:
    """Measures how long savers of this process restore checkpoints.

    Attributes:
      seconds: their time so far.
    """

    def __init__(self) -> None:
        self.seconds, restore = 0.0, v1.train.Saver.restore

        def timed(saver: v1.train.Saver, session: Any, path: str) -> None:
            start = time.perf_counter()
            restore(saver, session, path)
            self.seconds += time.perf_counter() - start

        v1.train.Saver.restore = timed
