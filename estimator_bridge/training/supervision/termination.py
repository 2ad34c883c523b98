"""Handles SIGTERM and Ctrl-C: training saves a checkpoint and ends, or ends at once."""

from __future__ import annotations

import contextlib
import dataclasses
import enum
import signal
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from types import SimpleNamespace
from typing import Any

from tensorflow.compat.v1 import logging

from estimator_bridge.errors import InterruptedScript, interrupted
from estimator_bridge.training.supervision.exit_message import (
    describe_latest_checkpoint,
    exit_at_once,
)
from estimator_bridge.training.supervision.grace_period import grace_secs
from estimator_bridge.training.supervision.signal_guard import Guarded
from estimator_bridge.training.supervision.signal_watch import free_signals, watching

__all__ = [
    "Stage",
    "Termination",
    "asked_to_end",
    "end_if_asked",
    "ending_on_signals",
    "interruptible",
]

# `timeout` and other wrappers signal a process and then its group, so one request comes twice.
_SAME_SECS = 0.5
_UNWIND_SECS = 5.0  # for the main thread to leave if there is nothing to save
_REPEAT_SECS = 0.3  # between signals to a main thread that does not leave
_state = SimpleNamespace(current=None)  # the Termination of the main thread's training


class Stage(enum.Enum):
    """The progress of a call, which decides the effect of a signal."""

    NOTHING_TO_SAVE = "before the first step"
    STEPS = "before the steps in flight were done"
    LAST_CHECKPOINT = "before the last checkpoint was written"


@dataclasses.dataclass
class _Watch:
    """The state of the watcher's thread, which alone counts signals.

    Attributes:
      since: when the grace period began; None before.
      asked_at: when the first signal came.
      is_urgent: whether the call has to end before anything is saved.
      repeat_at: when an urgent signal is sent again.
      gave_up: whether the call did not end even so.
    """

    since: float | None = None
    asked_at: float = 0.0
    is_urgent: bool = False
    repeat_at: float = 0.0
    gave_up: bool = False


class Termination:
    """A request to end the process, and its handling.

    Args:
      what: the call, for messages: 'Training'.
      model_dir: the folder of the checkpoints in messages; None if the call writes none.
      secs: the grace period; None: that of the environment.

    Attributes:
      requested: whether this process, or another worker of this run, was asked to end.
      slowest_save: returns the seconds that the slowest checkpoint of this run has taken.
      exception: the exception that ends the call, once raised.
    """

    def __init__(
        self, what: str = "Training", model_dir: str | None = None, secs: float | None = None
    ):
        self.requested = False
        self.slowest_save: Callable[[], float] = lambda: 0.0
        self.exception: BaseException | None = None
        self._what, self._model_dir = what, model_dir
        self._secs, self._may_extend = grace_secs(secs)
        self._stage = Stage.NOTHING_TO_SAVE
        self._signum: int = signal.SIGTERM
        self._watch = _Watch()

    @property
    def stage(self) -> Stage:
        """The progress of the call; each stage has the full grace period."""
        return self._stage

    @stage.setter
    def stage(self, stage: Stage) -> None:
        self._stage = stage
        if self._watch.since is not None:
            self._watch.since = time.monotonic()

    def handle(self, signum: int, frame: Any) -> None:
        """Takes a signal, in the main thread.

        Raises:
          Interrupted: at Ctrl-C if there is nothing to save, or in a notebook at the second one.
          SystemExit: at SIGTERM if there is nothing to save.
        """
        del frame
        self._ask(signum)
        if self._stage is Stage.NOTHING_TO_SAVE or self._watch.is_urgent:
            self.end()

    def receive(self, signum: int) -> None:
        """Takes a signal, in the watcher's thread, which no work of the main thread delays."""
        self._ask(signum)
        now = time.monotonic()
        if self._watch.since is None:
            self._watch.asked_at = self._watch.since = now
            if self._stage is not Stage.NOTHING_TO_SAVE:
                logging.warning("%s", self._promise())
        elif not self._watch.is_urgent and now - self._watch.asked_at > _SAME_SECS:
            self._end_now(f"at a second {signal.Signals(signum).name}")

    def secs_left(self) -> float | None:
        """Returns the seconds until `expired` has to act; None before the first signal."""
        seconds_left = self._secs_of_grace()
        if seconds_left is None or not self._watch.is_urgent or self.exception:
            return seconds_left
        return min(seconds_left, self._watch.repeat_at - time.monotonic())

    def expired(self) -> None:
        """Ends the call or the process, which made no progress within the grace period."""
        if self._watch.is_urgent and (self._secs_of_grace() or 0.0) > 0:
            self._interrupt_main_thread()
            return
        if not self._watch.is_urgent:
            secs = time.monotonic() - self._watch.asked_at
            where = f", {self._stage.value}" if self._model_dir else ""
            self._end_now(f"{secs:.0f} s after {self._name}{where}")
            return
        self._watch.gave_up = True
        logging.warning(
            "%s cannot be stopped here: Python's main thread is inside TensorFlow and does not "
            "come back. Restart the kernel. %s",
            self._what,
            self.standing(),
        )

    def guarded(self, signums: Iterable[int]) -> Guarded | None:
        """Returns the call for a guard to watch; Ctrl-C does not end a notebook's kernel."""
        is_shown = _shows(interrupted(""))
        ending = [signum for signum in signums if not (is_shown and signum == signal.SIGINT)]
        return Guarded(ending, self._secs, self._what, self._model_dir) if ending else None

    def may_be_killed(self) -> bool:
        """Returns whether the signal ends the process, and not only the call."""
        return self.guarded([self._signum]) is not None

    def end(self) -> None:
        """Raises the exception that ends the call.

        Raises:
          Interrupted: after Ctrl-C: in a script it is also a SystemExit, with code 130.
          SystemExit: after SIGTERM, with code 143.
        """
        if self._signum == signal.SIGTERM:
            self.exception = SystemExit(self._code)
        else:
            self.exception = interrupted(f"{self._what} was stopped by Ctrl-C. {self.standing()}")
        raise self.exception

    def log_end(self) -> None:
        """Logs that the call ends, unless the exception itself is shown."""
        if not _shows(self.exception):
            logging.warning("%s was ended by %s. %s", self._what, self._name, self.standing())

    def standing(self) -> str:
        """Returns a sentence about the checkpoint to resume from."""
        if self._model_dir is None:
            return "It has no results."
        return describe_latest_checkpoint(self._model_dir)

    @property
    def _name(self) -> str:
        return "SIGTERM" if self._signum == signal.SIGTERM else "Ctrl-C (SIGINT)"

    @property
    def _code(self) -> int:
        """The exit code of a process that the signal ended; cluster managers restart it."""
        return 128 + self._signum

    def _ask(self, signum: int) -> None:
        if not self.requested:
            self._signum = signum
        self.requested = True

    def _secs_of_grace(self) -> float | None:
        if self._watch.since is None or self._watch.gave_up:
            return None
        return self._watch.since + self._patience() - time.monotonic()

    def _patience(self) -> float:
        if self._watch.is_urgent:
            return _UNWIND_SECS
        if self._stage is Stage.NOTHING_TO_SAVE and self._model_dir is not None:
            return min(_UNWIND_SECS, self._secs)
        return max(self._secs, 2 * self.slowest_save()) if self._may_extend else self._secs

    def _promise(self) -> str:
        again = signal.Signals(self._signum).name
        return (
            f"{self._name}: {self._what.lower()} saves a checkpoint after the steps in flight, and "
            f"ends; at once at a second {again}, or if nothing moves on for {self._patience():g} s."
        )

    def _end_now(self, why: str) -> None:
        if self._signum == signal.SIGINT and _shows(interrupted("")):
            # A notebook's kernel must survive. The handler raises once the main thread runs Python.
            self._watch.is_urgent, self._watch.since = True, time.monotonic()
            signal.siginterrupt(signal.SIGINT, True)
            self._interrupt_main_thread()
            return
        message = f"estimator_bridge: {self._what} ends at once, {why}. {self.standing()}"
        exit_at_once(message, self._code)

    def _interrupt_main_thread(self) -> None:
        # A signal that arrives just before a system call begins does not interrupt that call.
        self._watch.repeat_at = time.monotonic() + _REPEAT_SECS
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)


def _shows(error: BaseException | None) -> bool:
    """Whether an interactive session shows an exception; a script ends silently."""
    return isinstance(error, KeyboardInterrupt) and not isinstance(error, InterruptedScript)


@contextlib.contextmanager
def ending_on_signals(model_dir: str, secs: float | None = None) -> Iterator[Termination]:
    """A context for a call of train(), which checks the yielded object between chunks.

    A handler that the program has set is kept, and only the main thread can have one.

    Args:
      model_dir: the folder of checkpoints.
      secs: the grace period; None: that of the environment.

    Raises:
      Interrupted: afterwards, if Ctrl-C asked the process to end.
      SystemExit: afterwards, if SIGTERM did, with code 143.
    """
    termination, outer = Termination("Training", model_dir, secs), _state.current
    handlers = dict.fromkeys(free_signals(signal.SIGTERM, signal.SIGINT), termination.handle)
    if handlers:
        _state.current = termination
    try:
        with watching(handlers, termination, restart=True):
            yield termination
    except BaseException:
        if termination.exception is None:
            raise
    finally:
        _state.current = outer
    if termination.requested:
        termination.log_end()
        try:
            termination.end()
        except BaseException as error:
            raise error.with_traceback(None) from None


@contextlib.contextmanager
def interruptible(what: str, termination: Termination | None = None) -> Iterator[None]:
    """A context for a part of evaluate() or predict(), which the second Ctrl-C ends at any point.

    SIGTERM is left to the system: there is nothing to save.

    Args:
      what: 'Evaluation' or 'Prediction'.
      termination: that of the call's earlier parts, if it has many short ones. To make one, and to
        wake the guard process twice, costs as much as a small step.

    Raises:
      Interrupted: at Ctrl-C.
    """
    free = free_signals(signal.SIGINT)
    if not free:
        yield
        return
    has_more = termination is not None and not termination.requested
    termination = termination if termination is not None and has_more else Termination(what)
    handlers = dict.fromkeys(free, termination.handle)
    try:
        with watching(handlers, termination, restart=False, has_more=has_more):
            yield
    except BaseException:
        if termination.exception is None:
            raise
        termination.log_end()
        raise termination.exception.with_traceback(None) from None


def asked_to_end() -> bool:
    """Returns whether training in the main thread was asked to end."""
    return _state.current is not None and _state.current.requested


def end_if_asked() -> None:
    """Ends an evaluation or another call between training steps, if training has to end.

    Raises:
      BaseException: the exception that ends training.
    """
    if asked_to_end() and threading.current_thread() is threading.main_thread():
        _state.current.end()
