"""The last message of a process that exits immediately: the checkpoint to resume from."""

from __future__ import annotations

import contextlib
import os
import sys
import threading
from collections.abc import Callable
from typing import Any

from estimator_bridge.checkpoint import latest_checkpoint
from estimator_bridge.errors import CheckpointError

__all__ = ["describe_latest_checkpoint", "exit_at_once"]

_LOOK_SECS = 2.0  # the disk may be what hangs
_FLUSH_SECS = 1.0  # a thread may hang while it prints


def describe_latest_checkpoint(model_dir: str) -> str:
    """Returns a sentence on the checkpoint that training can resume from.

    Args:
      model_dir: the folder of the checkpoints.
    """
    sentences: list[str] = []
    _in_thread(lambda: sentences.append(_newest(model_dir)), _LOOK_SECS)
    return (
        sentences[0]
        if sentences
        else f"Training resumes from the newest checkpoint in {model_dir}."
    )


def _newest(model_dir: str) -> str:
    try:
        path = latest_checkpoint(model_dir)
    except (CheckpointError, OSError) as error:
        return f"No checkpoint is usable: {error}"
    if path is None:
        return f"No checkpoint was written to {model_dir} yet."
    return f"The checkpoint {path} is complete; training resumes from it when started again."


def exit_at_once(message: str, code: int) -> None:
    """Exits the process, whatever its other threads are doing.

    Args:
      message: the last line on stderr. Not by logging: another thread may hold its lock.
      code: the exit code.
    """
    os.write(2, f"{message}\n".encode(errors="replace"))
    _in_thread(_flush, _FLUSH_SECS)
    os._exit(code)


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(Exception):
            stream.flush()


def _in_thread(call: Callable[[], Any], secs: float) -> None:
    thread = threading.Thread(target=call, daemon=True)
    thread.start()
    thread.join(secs)
