"""Notices signals at once, whatever Python's main thread is doing.

Python calls a signal's handler when its main thread executes bytecode next. That may be never: the
main thread can be inside TensorFlow, in a step, a read, a write or a wait for a TPU. But Python's
own C code writes each signal's number into a file descriptor at once (`signal.set_wakeup_fd`), and
a thread of this module reads it there. It needs Python's lock (the GIL), which TensorFlow gives up
while it works. Where C code keeps the lock, a process of its own ends this one (signal_guard.py).
"""

from __future__ import annotations

import contextlib
import os
import selectors
import signal
import socket
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from types import SimpleNamespace
from typing import Any, Protocol

from estimator_bridge.training.signal_guard import Guarded, SignalGuard

__all__ = ["Watched", "free_signals", "watching"]

# What a signal does in a program that has set no handler of its own.
_UNTOUCHED: dict[int, Any] = {
    signal.SIGTERM: signal.SIG_DFL,
    signal.SIGINT: signal.default_int_handler,
}


class Watched(Protocol):
    """Told of signals, in the thread of the watcher."""

    def told(self, signum: int) -> None:
        """A signal came."""

    def secs_left(self) -> float | None:
        """How many seconds from now `expired` is to be called; None: it is not."""

    def expired(self) -> None:
        """That time is over."""

    def guarded(self, signums: Iterable[int]) -> Guarded | None:
        """What a guard is to know; None: none of these signals is to end the process."""

    def may_be_killed(self) -> bool:
        """Whether the signal that was told of ends the process, and not only the call."""


class _Watcher:
    """The thread; one a process, made when it is first needed. It sleeps until a signal comes."""

    def __init__(self) -> None:
        self._reading, self._writing = socket.socketpair()  # which can be looked into, as no pipe
        self._writing.setblocking(False)
        self._guard: SignalGuard | None = None
        self.watched: Watched | None = None
        self.signums: frozenset[int] = frozenset()  # what it is told of
        self.forward_to = -1  # whose wakeup fd this one replaces, such as asyncio's
        threading.Thread(target=self._run, name="estimator_bridge signals", daemon=True).start()

    @property
    def writing(self) -> int:
        """The file descriptor that numbers of signals are written to."""
        return self._writing.fileno()

    def guard(self, guarded: Guarded | None) -> None:
        """Has the process ended where no Python code can do it; None: no longer."""
        if guarded is None:
            if self._guard is not None:
                self._guard.off()
            return
        if self._guard is None:
            self._guard = SignalGuard(self._reading)
            self._writing.send(b"\0")  # wakes the thread, which waits for the guard's start
        self._guard.on(guarded, id(self.watched))

    def _run(self) -> None:
        selector = selectors.DefaultSelector()
        selector.register(self._reading, selectors.EVENT_READ)
        while True:
            watched = self.watched
            left = watched.secs_left() if watched else None
            if self._guard is not None:
                self._guard.reap()
                if watched and left is not None and watched.may_be_killed():
                    self._guard.until(left, id(watched))
            if watched and left is not None and left <= 0:
                watched.expired()
            elif selector.select(left):
                self._tell(self._reading.recv(512))

    def _tell(self, numbers: bytes) -> None:
        if self.forward_to >= 0:
            with contextlib.suppress(OSError):
                os.write(self.forward_to, numbers.strip(b"\0"))
        for number in numbers:
            if self.watched and number in self.signums:
                self.watched.told(number)

    def forget_parent(self) -> None:
        """Lets go of the sockets: a forked process has copies of its parent's."""
        self._reading.close()
        self._writing.close()
        if self._guard is not None:
            self._guard.forget_parent()


_state = SimpleNamespace(watcher=None, mask=None)
_restore: dict[int, Any] = {}  # the handlers to put back, by signal; empty while none are set


def free_signals(*signums: int) -> list[int]:
    """Those signals that this thread may handle, as the program has not set handlers for them."""
    if threading.current_thread() is not threading.main_thread():
        return []
    return [signum for signum in signums if signal.getsignal(signum) is _UNTOUCHED[signum]]


@contextlib.contextmanager
def watching(
    handlers: Mapping[int, Callable[[int, Any], None]], watched: Watched, restart: bool
) -> Iterator[None]:
    """Sets handlers, and has signals told to an object; puts back at its end what was there.

    Args:
      handlers: by signal, each one of `free_signals`; empty: nothing is done.
      watched: told of the signals, from another thread.
      restart: whether a system call that a signal breaks off goes on afterwards. TensorFlow's
        writes fail otherwise ("Interrupted system call"), and Python's waits end sooner.
    """
    if not handlers:
        yield
        return
    watcher = _state.watcher = _state.watcher or _Watcher()
    before = signal.set_wakeup_fd(watcher.writing, warn_on_full_buffer=False)
    watcher.forward_to, watcher.signums, watcher.watched = before, frozenset(handlers), watched
    watcher.guard(watched.guarded(handlers))
    try:
        for signum, handler in handlers.items():
            _restore[signum] = signal.signal(signum, handler)
            signal.siginterrupt(signum, not restart)
        yield
    finally:
        _put_back()
        watcher.forward_to, watcher.watched = -1, None
        watcher.guard(None)
        signal.set_wakeup_fd(before)


def _put_back() -> None:
    while _restore:
        signum, handler = _restore.popitem()
        signal.signal(signum, handler)


# A forked process is no trainer: a signal to it must neither be kept from it nor reach its parent
# through the socket. What is sent to it before its handlers are put back waits until they are.
def _before_fork() -> None:
    if _restore:
        _state.mask = signal.pthread_sigmask(signal.SIG_BLOCK, list(_restore))


def _after_fork_in_parent() -> None:
    mask, _state.mask = _state.mask, None
    if mask is not None:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)


def _after_fork_in_child() -> None:
    watcher, _state.watcher = _state.watcher, None
    if watcher is not None:
        if _restore:
            signal.set_wakeup_fd(-1)
            _put_back()
        watcher.forget_parent()
    _after_fork_in_parent()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_before_fork,
        after_in_parent=_after_fork_in_parent,
        after_in_child=_after_fork_in_child,
    )
