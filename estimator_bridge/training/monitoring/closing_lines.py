"""Lines at the end of a process: each training's report, and the command for its curves."""

from __future__ import annotations

import atexit
import os
import sys
from collections.abc import Sequence

__all__ = ["say_at_exit"]

_lines: dict[str, list[str]] = {}  # by model_dir
_process: list[int] = []  # the one that writes them; a fork of it does not


def say_at_exit(model_dir: str, lines: Sequence[str]) -> None:
    """Writes lines to standard error when the process ends, in place of those given before.

    Args:
      model_dir: what they are about. Nothing is written about a folder that is gone by then.
      lines: the lines.
    """
    if _process != [os.getpid()]:
        _process[:] = [os.getpid()]
        _lines.clear()
        atexit.register(_write)
    _lines.pop(model_dir, None)
    _lines[model_dir] = list(lines)


def _write() -> None:
    if _process == [os.getpid()] and sys.stderr is not None:
        for model_dir, lines in _lines.items():
            if os.path.isdir(model_dir):
                print(*lines, sep="\n", file=sys.stderr)
        _lines.clear()
