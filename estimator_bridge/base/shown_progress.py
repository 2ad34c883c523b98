"""Whether a program shows its progress, and what it shows before TensorFlow is loaded."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator

from estimator_bridge.base.live_line import LiveLine, is_live

__all__ = ["MONITOR", "monitor_setting", "show_while"]

# 1, line, report or 0; `estimator-bridge run` sets it on a terminal, and for --monitor.
MONITOR = "ESTIMATOR_BRIDGE_MONITOR"
_SETTINGS = ("", "0", "1", "line", "report")


def monitor_setting() -> str:
    """Returns the variable's value: '', '0', '1', 'line' or 'report'.

    Raises:
      ValueError: it has another value.
    """
    word = os.environ.get(MONITOR, "").strip().lower()
    if word not in _SETTINGS:
        raise ValueError(
            f"The environment variable {MONITOR} must be 1 (a line and a report), line, report, or "
            f"0; got {word!r}."
        )
    return word


@contextlib.contextmanager
def show_while(text: str) -> Iterator[None]:
    """Shows a line while the context runs, if the program shows its progress.

    On a terminal the line goes again; in a file or a pipe it stays.
    """
    if monitor_setting() not in ("1", "line") or sys.stderr is None:
        yield
    elif is_live(sys.stderr):
        line = LiveLine(sys.stderr)
        line.draw(f"{text} ..."[: line.width])
        try:
            yield
        finally:
            line.close()
    else:
        print(f"{text} ...", file=sys.stderr, flush=True)
        yield
