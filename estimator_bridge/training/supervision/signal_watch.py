"""Notices signals immediately, whatever Python's main thread is doing.

Python calls a signal's handler when its main thread next executes bytecode. That may be never: the
main thread can be inside TensorFlow, in a step, a read, a write or a wait for a TPU. But Python's
C code immediately writes each signal's number into a file descriptor (`signal.set_wakeup_fd`), and
a thread of this module reads it. The thread needs Python's lock (the GIL), which TensorFlow
releases while it works. If C code holds the lock, a separate process ends this one
(signal_guard.py).
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

from estimator_bridge.training.supervision.signal_guard import Guarded, SignalGuard

__all__ = ["Watched", "free_signals", "watching"]

# The default action of a signal in a program without its own handler.
_UNTOUCHED: dict[int, Any] = {
    signal.SIGTERM: signal.SIG_DFL,
    signal.SIGINT: signal.default_int_handler,
}


class Watched(Protocol):
    """Receives signals in the watcher's thread."""

    def receive(self, signum: int) -> None:
        """Receives a signal."""

    def secs_left(self) -> float | None:
        """Returns the seconds until `expired` must be called; None for never."""

    def expired(self) -> None:
        """Receives the end of that time."""

    def guarded(self, signums: Iterable[int]) -> Guarded | None:
        """Returns the call to guard; None if none of these signals ends the process."""

    def may_be_killed(self) -> bool:
        """Whether the last signal ends the process, and not only the call."""


class _Watcher:
    """The watcher's thread, one per process, created on first use; it sleeps until a signal."""

    def __init__(self) -> None:
        self._reading, self._writing = socket.socketpair()  # unlike a pipe, it can be peeked into
        self._writing.setblocking(False)
        self._guard: SignalGuard | None = None
        self._guards: Watched | None = None  # the call that the guard watches for
        self._lock = threading.Lock()  # a signal belongs to the call during which it arrives
        self.termination: Watched | None = None
        self.signums: frozenset[int] = frozenset()  # the receiver of signals
        self.forward_to = -1  # the replaced wakeup fd, such as asyncio's
        threading.Thread(target=self._run, name="estimator_bridge signals", daemon=True).start()

    @property
    def writing(self) -> int:
        """The file descriptor that receives signal numbers."""
        return self._writing.fileno()

    def start_guard(self, signums: Iterable[int]) -> None:
        """Lets the guard end the process if no Python code can."""
        termination = self.termination
        if termination is None or self._guards is termination:
            return
        call_to_guard = termination.guarded(signums)
        if call_to_guard is None:
            self.stop_guard()
            return
        if self._guard is None:
            self._guard = SignalGuard(self._reading)
            self._writing.send(b"\0")  # wakes the thread, which waits for the guard to start
        self._guard.on(call_to_guard, id(termination))
        self._guards = termination

    def stop_guard(self) -> None:
        """Stops the guard."""
        self._guards = None
        if self._guard is not None:
            self._guard.off()

    def _run(self) -> None:
        selector = selectors.DefaultSelector()
        selector.register(self._reading, selectors.EVENT_READ)
        while True:
            termination = self.termination
            seconds_left = termination.secs_left() if termination else None
            if self._guard is not None:
                self._guard.reap()
                if termination and seconds_left is not None and termination.may_be_killed():
                    self._guard.until(seconds_left, id(termination))
            if termination and seconds_left is not None and seconds_left <= 0:
                termination.expired()
            elif selector.select(seconds_left):
                with self._lock:
                    for number in self._received():
                        if self.termination and number in self.signums:
                            self.termination.receive(number)

    def end_call(self) -> None:
        """Forgets the call, and its signals that the thread has not read yet: it has ended."""
        with self._lock:
            if b"\0" in self._received():
                self._writing.send(b"\0")  # the thread has not woken up yet
            self.forward_to, self.termination = -1, None

    def _received(self) -> bytes:
        """Returns the numbers of signals that have arrived, after passing them on."""
        try:
            numbers = self._reading.recv(512, socket.MSG_DONTWAIT)
        except BlockingIOError:  # the other thread was first
            return b""
        if self.forward_to >= 0:
            with contextlib.suppress(OSError):
                os.write(self.forward_to, numbers.strip(b"\0"))
        return numbers

    def forget_parent(self) -> None:
        """Closes the sockets, which a forked process has copied from its parent."""
        self._reading.close()
        self._writing.close()
        if self._guard is not None:
            self._guard.forget_parent()


_state = SimpleNamespace(watcher=None, mask=None)
_restore: dict[int, Any] = {}  # the handlers to restore, by signal; empty while none are set


def free_signals(*signums: int) -> list[int]:
    """Returns the signals that this thread may handle: those without a handler of the program."""
    if threading.current_thread() is not threading.main_thread():
        return []
    return [signum for signum in signums if signal.getsignal(signum) is _UNTOUCHED[signum]]


@contextlib.contextmanager
def watching(
    handlers: Mapping[int, Callable[[int, Any], None]],
    termination: Watched,
    restart: bool,
    has_more: bool = False,
) -> Iterator[None]:
    """A context that sets handlers and reports signals to an object; it restores the old handlers.

    Args:
      handlers: by signal, each one of `free_signals`; if empty, the context does nothing.
      termination: receives the signals, in another thread.
      restart: whether an interrupted system call continues. Otherwise TensorFlow's writes fail
        ("Interrupted system call"), and Python's waits end sooner.
      has_more: whether this object will watch again soon. Then the guard stays on meanwhile. It
        acts on nothing, as signals reach its socket in this context only.
    """
    if not handlers:
        yield
        return
    watcher = _state.watcher = _state.watcher or _Watcher()
    before = signal.set_wakeup_fd(watcher.writing, warn_on_full_buffer=False)
    watcher.forward_to, watcher.signums = before, frozenset(handlers)
    watcher.termination = termination
    watcher.start_guard(handlers)
    stays_on = False
    try:
        for signum, handler in handlers.items():
            _restore[signum] = signal.signal(signum, handler)  # which interrupts system calls
            if restart:
                signal.siginterrupt(signum, False)
        yield
        stays_on = has_more
    finally:
        _put_back()
        signal.set_wakeup_fd(before)
        if _state.watcher is watcher:  # not in a forked process
            watcher.end_call()
        if not stays_on:
            watcher.stop_guard()


def _put_back() -> None:
    while _restore:
        signum, handler = _restore.popitem()
        signal.signal(signum, handler)


# A forked process does not train: a signal to it must reach it, and not its parent through the
# socket. A signal that arrives before its handlers are restored waits until they are.
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
