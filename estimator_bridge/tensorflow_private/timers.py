"""The clock of TensorFlow's timers."""

from __future__ import annotations

import time
import types
from typing import Any

# Whether a hook, a saver or a waiting loop acts depends on the module's `time.time()` alone.
from tensorflow.python.summary.writer import event_file_writer
from tensorflow.python.training import (
    basic_session_run_hooks,
    checkpoint_utils,
    coordinator,
    saver,
    session_manager,
    supervisor,
)

__all__ = ["steady_time", "timed_modules", "use_steady_timers"]

_system_time = time.time
_start = time.time() - time.monotonic()
timed_modules = (
    basic_session_run_hooks,
    checkpoint_utils,
    coordinator,
    event_file_writer,
    saver,
    session_manager,
    supervisor,
)


def steady_time() -> float:
    """Returns the seconds since 1970, as if the machine's clock had not been set since the start.

    A program that replaces `time.time`, such as a test, sees its own.
    """
    if time.time is not _system_time:
        return time.time()
    return _start + time.monotonic()


class _SteadyTime(types.ModuleType):
    """The module `time`, with a clock that is never set; attributes can be replaced in it too."""

    time = staticmethod(steady_time)

    def __getattr__(self, name: str) -> Any:
        return getattr(time, name)


_steady = _SteadyTime("time")


def use_steady_timers() -> None:
    """Gives TensorFlow's timers a clock that goes on if the machine's clock is set.

    With the machine's, a timer of ten minutes waits for two hours and ten minutes when the clock is
    set back by two hours: no checkpoint is saved, and no event file flushed. The timers themselves
    are left alone: programs derive classes from them and read their attributes. Times that are
    recorded, such as those of events, are still the machine's.
    """
    for module in timed_modules:
        if vars(module).get("time") is time:  # not what a program has put there
            vars(module)["time"] = _steady
