"""Ends a process that no longer notices signals; a separate program without TensorFlow.

    python guard_process.py PARENT WAKE CONTROL

Python's C code immediately writes each signal's number into a socket, whatever holds Python's lock
(the GIL). A thread of the training reads it there and reports it (see signal_watch.py). This
process peeks into the same socket. If numbers stay unread, or the thread is silent for longer than
the grace period, no Python code of the training runs any more, and SIGKILL ends it.

PARENT is the process to watch, WAKE and CONTROL are file descriptors. CONTROL receives lines:

    on CALL SIGNALS SECS WHAT<tab>FOLDER   the call and its signals; SECS one may stay unread
    until CALL SECS                        the call is being ended, and may take SECS
    off
"""

from __future__ import annotations

import math
import os
import select
import signal
import socket
import stat
import sys
import time
from typing import NamedTuple

_SAME_SECS = 0.5  # the same as in termination.py
_SECOND_SECS = 2.0  # time to read a second signal
_LOOK_SECS = 0.1  # between two checks of a socket with unread numbers
_ALIVE_SECS = 1.0  # between two checks of a parent whose end the system does not report
_DISK_SECS = 2.0


class Watched(NamedTuple):
    """The call to watch for.

    Attributes:
      call: its number.
      signums: the signals that end it; none while there is nothing to watch for.
      patience: seconds for which a signal may stay unread.
      what: its name in messages.
      folder: where it saves checkpoints; '' if it saves none.
    """

    call: str = ""
    signums: frozenset[int] = frozenset()
    patience: float = 0.0
    what: str = ""
    folder: str = ""


class Guard:
    """The state of the training, as far as the guard knows it.

    Args:
      wake: the socket with the numbers of signals.
    """

    def __init__(self, wake: socket.socket):
        self._wake = wake
        self._forget()

    def _forget(self) -> None:
        self._watch = Watched()
        self._signal_time: float | None = None  # the time when this process saw the first signal
        self._deadline: float | None = None  # set when the training has noticed a signal
        self._unread: float | None = None  # the time since which signals are unread
        self._unread_count = 0
        self._second: float | None = None

    @property
    def is_on(self) -> bool:
        """Whether there is anything to watch for."""
        return bool(self._watch.signums)

    def look_again_in(self, now: float) -> float | None:
        """Returns the seconds until the next check; None to wait for input."""
        if self._unread is not None:
            return _LOOK_SECS
        return None if self._deadline is None else max(0.0, self._deadline - now)

    def receive(self, line: str, now: float) -> None:
        """Processes a line from the training."""
        word, _, rest = line.partition(" ")
        if word == "until":
            call, secs = rest.split(" ")
            if self.is_on and call == self._watch.call:
                self._deadline = now + float(secs)
                self._signal_time = self._signal_time or now
            return
        self._forget()
        if word == "on":
            call, signums, secs, names = rest.split(" ", 3)
            what, _, folder = names.partition("\t")
            numbers = frozenset(map(int, signums.split(",")))
            self._watch = Watched(call, numbers, float(secs), what, folder)

    def look(self, now: float) -> str | None:
        """Checks the socket; returns the reason to end the training, if there is one."""
        numbers = [number for number in self._peek() if number in self._watch.signums]
        if not numbers:
            self._unread = self._second = None
            self._unread_count = 0
        elif self._unread is None:
            self._unread, self._unread_count = now, len(numbers)
            self._signal_time = self._signal_time or now
            if self._deadline is not None:  # which the training has set after the first one
                self._second = now
        elif len(numbers) > self._unread_count:
            self._unread_count = len(numbers)
            if self._second is None and now > self._unread + _SAME_SECS:
                self._second = now
        if self._second is not None and now > self._second + _SECOND_SECS:
            return "at a second signal"
        is_over = self._unread is not None and now > self._unread + self._watch.patience
        if is_over or (self._deadline is not None and now > self._deadline):
            return f"{now - (self._signal_time or now):.0f} s after a signal"
        return None

    def _peek(self) -> bytes:
        try:
            return self._wake.recv(512, socket.MSG_PEEK | socket.MSG_DONTWAIT)
        except OSError:
            return b""

    def last_words(self, why: str) -> str:
        """Returns the line for stderr."""
        what, folder = self._watch.what, self._watch.folder
        standing = _describe_checkpoint(folder) if folder else "It has no results."
        return (
            f"estimator_bridge: {what} is killed, {why}: its process runs no Python code any "
            f"more, as something keeps Python's lock (the GIL). {standing}\n"
        )


def _describe_checkpoint(folder: str) -> str:
    import threading

    sentences: list[str] = []
    thread = threading.Thread(target=lambda: sentences.append(_newest(folder)), daemon=True)
    thread.start()
    thread.join(_DISK_SECS)  # the disk may be what hangs
    return (
        sentences[0] if sentences else f"Training resumes from the newest checkpoint in {folder}."
    )


def _newest(folder: str) -> str:
    """Returns a sentence on the checkpoint in the file `checkpoint`, which is written last."""
    if "://" in folder:
        return f"Training resumes from the newest checkpoint in {folder}."
    try:
        # A pipe that has this name must not stop the guard: it would wait for a writer.
        path = os.path.join(folder, "checkpoint")
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
        with open(descriptor, encoding="utf-8") as file:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise OSError("not a file")
            name = file.readline().partition('"')[2].rpartition('"')[0]
    except (OSError, UnicodeDecodeError):
        name = ""
    if not name:
        return f"No checkpoint was written to {folder} yet."
    path = os.path.join(folder, name)
    if not os.path.exists(path + ".index"):
        return f"Training resumes from the newest checkpoint in {folder}."
    return f"The checkpoint {path} is complete; training resumes from it when started again."


def _is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _is_stopped(process: int) -> bool:
    try:
        with open(f"/proc/{process}/stat", "rb") as file:
            return file.read().rpartition(b") ")[2][:1] in b"Tt"
    except OSError:
        return False


def watch(parent: int, wake: socket.socket, control: socket.socket) -> None:
    """Watches until the parent has ended, or ends it."""
    guard, unread = Guard(wake), b""
    ends: int | None = None
    try:
        ends = os.pidfd_open(parent)
    except (AttributeError, OSError):  # not Linux, or an old one
        if not _is_alive(parent):
            return
    while True:
        seconds_left = guard.look_again_in(time.monotonic())
        if ends is None:
            seconds_left = _ALIVE_SECS if seconds_left is None else min(seconds_left, _ALIVE_SECS)
        is_due = seconds_left is not None and seconds_left <= _LOOK_SECS and guard.is_on
        sources = [control.fileno(), *([] if ends is None else [ends])]
        if guard.is_on and not is_due:
            sources.append(wake.fileno())
        ready = _wait_for_any(sources, seconds_left)
        if ends in ready or (ends is None and not _is_alive(parent)):
            return
        if control.fileno() in ready:
            data = control.recv(4096)
            if not data:
                return
            *lines, unread = (unread + data).split(b"\n")
            for line in lines:
                guard.receive(line.decode(), time.monotonic())
        why = guard.look(time.monotonic()) if guard.is_on else None
        if why is not None and _is_stopped(parent):  # by Ctrl-Z, or a debugger
            time.sleep(_ALIVE_SECS)
        elif why is not None:
            os.write(2, guard.last_words(why).encode(errors="replace"))
            os.kill(parent, signal.SIGKILL)
            return
        if wake.fileno() in ready:
            time.sleep(0.01)  # for the thread to read


def _wait_for_any(descriptors: list[int], secs: float | None) -> list[int]:
    """Waits until one is readable or ended; returns those that are, none if the time is over.

    They keep the numbers that they have in the training, which may be above select()'s 1,023.
    """
    poll = select.poll()
    for each in descriptors:
        poll.register(each, select.POLLIN)
    return [each for each, _ in poll.poll(None if secs is None else math.ceil(1000 * secs))]


def main() -> None:
    """Detaches from the parent, whose waits for its own children then do not see this process."""
    if os.fork():
        os._exit(0)
    # Signals to all processes of a terminal or a service are for the training to handle.
    for signum in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(signum, signal.SIG_IGN)
    parent, wake, control = map(int, sys.argv[1:])
    watch(parent, socket.socket(fileno=wake), socket.socket(fileno=control))


if __name__ == "__main__":
    main()
