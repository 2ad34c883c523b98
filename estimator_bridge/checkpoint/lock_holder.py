"""The training that holds the lock of a model_dir, as the lock file names it."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import math
import os
import socket
import time
import uuid

from estimator_bridge.errors import ModelDirInUseError

__all__ = ["Holder", "in_use", "is_of_holder", "new_holder", "parsed_holder", "text_of"]


_START = b'{"host": '


@dataclasses.dataclass(frozen=True)
class Holder:
    """The training that holds the lock: the content of the lock file.

    Attributes:
      host: the machine's name.
      process: the process ID on that machine.
      started: the start time, in seconds since 1970.
      id: a unique ID of this training.
      beat: the number of heartbeats so far.
    """

    host: str
    process: int
    started: float
    id: str
    beat: int = 0

    def __str__(self) -> str:
        return f"process {self.process} on {self.host}"


def new_holder() -> Holder:
    """Returns a training of this process."""
    return Holder(socket.gethostname(), os.getpid(), time.time(), uuid.uuid4().hex)


def text_of(holder: Holder) -> bytes:
    """Returns the content of the holder's lock file."""
    return json.dumps(dataclasses.asdict(holder)).encode()


def parsed_holder(text: bytes) -> Holder | None:
    """Returns the holder; None if the text is cut short, damaged, or from another release."""
    with contextlib.suppress(ValueError, TypeError, RecursionError):
        holder = Holder(**json.loads(text))
        has_names = isinstance(holder.host, str) and isinstance(holder.id, str)
        numbers = (holder.process, holder.started, holder.beat)
        if has_names and all(isinstance(number, (int, float)) for number in numbers):
            return holder
    return None


def is_of_holder(text: bytes) -> bool:
    """Returns whether a text is a holder's, perhaps cut short."""
    return text.startswith(_START) or _START.startswith(text)


def in_use(model_dir: str, holder: Holder | None) -> ModelDirInUseError:
    """Returns the error for a folder whose lock another training holds."""
    who = "another process" if holder is None else f"{holder}{_since(holder)}"
    return ModelDirInUseError(
        f"model_dir {model_dir!r} is being trained into by {who}. Two trainings would overwrite "
        "each other's checkpoints. Stop that one, wait for its end, or use another model_dir."
    )


def _since(holder: Holder) -> str:
    """Returns the age of a training in words; "" if a clock that was set makes it impossible."""
    seconds = time.time() - holder.started
    if seconds < 0 or (holder.host == socket.gethostname() and seconds > _uptime()):
        return ""
    for unit, name in ((86400, "days"), (3600, "hours"), (60, "minutes")):
        if seconds >= 2 * unit:
            return f", for {seconds / unit:.0f} {name}"
    return f", for {seconds:.0f} seconds"


def _uptime() -> float:
    """Returns the seconds since this machine's start, also those of its sleep."""
    clock = getattr(time, "CLOCK_BOOTTIME", None)
    return math.inf if clock is None else time.clock_gettime(clock)
