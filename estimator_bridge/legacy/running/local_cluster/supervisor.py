"""Decides when each process of a cluster on this machine has to end."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, Protocol

from estimator_bridge.legacy.running.local_cluster.roles import EVALUATOR, SERVER, Task

__all__ = ["Limits", "ProcessHandle", "Supervisor", "limits_of"]

_GRACE = "ESTIMATOR_BRIDGE_GRACE_SECS"
_DEFAULT_GRACE_SECS = 30.0
# `timeout` and other wrappers signal a process and then its group, so one request comes twice.
_SAME_SECS = 0.5


class ProcessHandle(Protocol):
    """A process, as the supervisor sees it; see ``Process``."""

    task: Task

    def poll(self) -> int | None:
        """Returns the exit status; None while it runs."""

    def send(self, signum: int) -> None:
        """Sends a signal."""

    def kill(self) -> None:
        """Kills it."""


class Limits(NamedTuple):
    """The seconds that processes have to end by themselves.

    Attributes:
      worker: a worker's, after the chief's success.
      evaluator: an evaluator's, after the chief's success: it may be waiting for
        `EvalSpec.throttle_secs`, 600 by default, before it evaluates the last checkpoint.
      server: a parameter server's, after the end of all processes that train.
      signal: from a signal to SIGKILL.
    """

    worker: float = 20.0
    evaluator: float = 900.0
    server: float = 5.0
    signal: float = 65.0


def limits_of(environment: Mapping[str, str] = os.environ) -> Limits:
    """Returns the limits for processes with these environment variables.

    Training has its grace period twice: for the steps in flight and for the last checkpoint.
    """
    try:
        grace = float(environment.get(_GRACE) or _DEFAULT_GRACE_SECS)
    except ValueError:  # the processes report it
        grace = _DEFAULT_GRACE_SECS
    return Limits(signal=2 * grace + 5)


class Supervisor:
    """Follows a cluster to its end. It waits for nothing: ``look`` is called again and again.

    Args:
      processes: all of them.
      chief: the task whose end is the end of the job.
      limits: the seconds that processes have to end.
      say: called with each line for the user.
      clock: the time in seconds.
    """

    def __init__(
        self,
        processes: Sequence[ProcessHandle],
        chief: Task,
        limits: Limits,
        say: Callable[[str], None],
        clock: Callable[[], float],
    ):
        self._running = list(processes)
        self._chief, self._limits = chief, limits
        self._say, self._clock = say, clock
        self._status: int | None = None  # the job's, once it is ending
        self._end_time = self._training_end = 0.0
        self._signum, self._signal_time = 0, 0.0
        self._signals: dict[Task, float] = {}  # when each process was signaled

    @property
    def status(self) -> int:
        """The exit status of the job, once all processes have ended."""
        return self._status or (128 + self._signum if self._signum else 0)

    def receive(self, signum: int) -> None:
        """Passes a signal on, to each process once.

        Parameter servers get it when nobody trains any more: the last checkpoint needs them.

        Args:
          signum: a signal that asks this process to end.
        """
        now = self._clock()
        if signum == self._signum and now < self._signal_time + _SAME_SECS:
            return
        self._signum, self._signal_time = signum, now
        for process in list(self._running):
            if process.task.role != SERVER:
                self._signals.setdefault(process.task, now)
                process.send(signum)

    def look(self) -> bool:
        """Notes which processes have ended, and ends those whose time is up.

        Returns:
          Whether a process still runs.
        """
        now = self._clock()
        finished_processes = [process for process in self._running if process.poll() is not None]
        # The chief's failure may be that of the others too: its status counts.
        for process in sorted(finished_processes, key=lambda process: process.task != self._chief):
            self._running.remove(process)
            self._note_end(process, now)
        for process in self._running:
            self._end_in_time(process, now)
        return bool(self._running)

    def _note_end(self, process: ProcessHandle, now: float) -> None:
        task, status = process.task, process.poll() or 0
        if not self._trains():
            self._training_end = self._training_end or now
        if task == self._chief:
            if self._status is None:
                self._begin_end(status, now)
                self._tell_of_end(status)
        elif task in self._signals or self._signum or not status or self._status:
            return  # it was asked to end, or its failure is no news
        elif self._status is None:
            self._say(f"{task} failed with exit status {status}: the job ends.")
            self._begin_end(status, now)
        else:
            self._say(f"{task} failed with exit status {status} after the end of {self._chief}.")
            if task.role == EVALUATOR:
                self._status = status

    def _begin_end(self, status: int, now: float) -> None:
        self._status, self._end_time = status, now

    def _tell_of_end(self, status: int) -> None:
        if self._signum or not self._running:
            return
        if status:
            self._say(f"{self._chief} failed with exit status {status}: the job ends.")
        elif any(process.task.role == EVALUATOR for process in self._running):
            self._say(
                f"{self._chief} has ended. {EVALUATOR} 0 has {self._limits.evaluator:g} s to "
                "evaluate the last checkpoint."
            )

    def _trains(self) -> bool:
        return any(process.task.role not in (SERVER, EVALUATOR) for process in self._running)

    def _end_in_time(self, process: ProcessHandle, now: float) -> None:
        """Sends SIGTERM or SIGKILL to a process whose time is up."""
        task = process.task
        if task in self._signals:
            if now >= self._signals[task] + self._limits.signal:
                self._say(f"{task} has not ended {self._limits.signal:g} s after a signal: killed.")
                self._signals[task] = now
                process.kill()
            return
        limit = self._own_end(task)
        if limit is None or now < limit:
            return
        if not self._signum and not self._status and task.role != SERVER:
            self._say(
                f"{task} has not ended {now - self._end_time:.0f} s after {self._chief}: it gets "
                "SIGTERM."
            )
        self._signals[task] = now
        process.send(self._signum or signal.SIGTERM)

    def _own_end(self, task: Task) -> float | None:
        """Returns the time until which a process may end by itself; None while the job goes on."""
        if self._status is None and not self._signum:
            return None
        has_failed = bool(self._status or self._signum)
        if task.role == SERVER:
            if self._trains():
                return None
            return self._training_end + (0.0 if has_failed else self._limits.server)
        if has_failed:
            return self._end_time
        secs = self._limits.evaluator if task.role == EVALUATOR else self._limits.worker
        return self._end_time + secs
