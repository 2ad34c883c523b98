"""One process of a cluster on this machine."""

from __future__ import annotations

import contextlib
import ctypes
import functools
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence

from estimator_bridge.legacy.running.local_cluster.roles import Task

__all__ = ["Process", "start_process"]

_PARENT_DEATH_SIGNAL = 1  # PR_SET_PDEATHSIG of Linux


class Process:
    """A running or ended process.

    Args:
      task: its task in the cluster.
      popen: the process, the leader of a process group, with pipes as standard output and error.

    Attributes:
      task: its task.
      pipes: file descriptors of its standard output and error, for the reader to close.
    """

    def __init__(self, task: Task, popen: subprocess.Popen[bytes]):
        self.task = task
        self._popen = popen
        assert popen.stdout and popen.stderr
        self.pipes = (os.dup(popen.stdout.fileno()), os.dup(popen.stderr.fileno()))
        popen.stdout.close()
        popen.stderr.close()

    def poll(self) -> int | None:
        """Returns the exit status as a shell shows it, 128 and the number for a signal.

        Processes that an ended one leaves in its group are killed.

        Returns:
          The status; None while the process runs.
        """
        was_running = self._popen.returncode is None
        code = self._popen.poll()
        if code is None:
            return None
        if was_running:
            self._kill_group()
        return 128 - code if code < 0 else code

    def send(self, signum: int) -> None:
        """Sends a signal to the process, not to those that it has started: it ends them itself."""
        if self.poll() is None:
            self._popen.send_signal(signum)

    def kill(self) -> None:
        """Kills the process and all that it has started in its group."""
        if self.poll() is None:
            self._kill_group()

    def _kill_group(self) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._popen.pid, signal.SIGKILL)


def start_process(task: Task, command: Sequence[str], environment: Mapping[str, str]) -> Process:
    """Starts a process in a session of its own, which Ctrl-C at the terminal does not reach.

    Args:
      task: its task in the cluster.
      command: the words of its command line.
      environment: all its variables.

    Raises:
      OSError: the system allows no more processes or files.
    """
    popen = subprocess.Popen(
        command,
        env=dict(environment),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
        preexec_fn=_end_with_launcher(),  # noqa: PLW1509  # the launcher has one thread
    )
    return Process(task, popen)


@functools.cache
def _end_with_launcher() -> Callable[[], None] | None:
    """Returns what requests SIGTERM for the process if the launcher is killed; on Linux only."""
    if sys.platform != "linux":
        return None
    try:
        control = ctypes.CDLL(None).prctl
    except (OSError, AttributeError):
        return None

    def request() -> None:
        control(_PARENT_DEATH_SIGNAL, signal.SIGTERM)

    return request
