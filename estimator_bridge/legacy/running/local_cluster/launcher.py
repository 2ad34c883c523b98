"""Starts the processes of a cluster on this machine, and stays until all have ended."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from estimator_bridge.legacy.running.local_cluster.output import Outputs, write_all
from estimator_bridge.legacy.running.local_cluster.ports import free_ports
from estimator_bridge.legacy.running.local_cluster.processes import Process, start_process
from estimator_bridge.legacy.running.local_cluster.roles import Cluster, Task, tf_configs
from estimator_bridge.legacy.running.local_cluster.supervisor import Limits, Supervisor, limits_of

__all__ = ["run_cluster"]

_TERMINATION_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_LOOK_SECS = 0.1  # an ended process closes its pipes, and is noticed at once
_REST_SECS = 2.0  # for the output of a process that has left its group
_Start = Callable[[Task, Sequence[str], Mapping[str, str]], Process]


def run_cluster(
    cluster: Cluster,
    words: Sequence[str],
    *,
    limits: Limits | None = None,
    start: _Start = start_process,
) -> int:
    """Runs a program in all processes of a cluster.

    Args:
      cluster: the processes.
      words: what follows `estimator-bridge run` on the command line of each.
      limits: the seconds that processes have to end; by default those of the environment.
      start: starts one process.

    Returns:
      The exit status of the chief, or of the process that failed before it.
    """
    sys.stdout.flush()
    sys.stderr.flush()
    outputs = Outputs()
    processes: list[Process] = []

    def say(text: str) -> None:
        outputs.copy_rest()  # the last lines of a process precede the one about its end
        _say(text)

    try:
        with _signals() as listeners:
            early_signals: list[int] = []
            listeners.append(early_signals.append)
            try:
                for task, command, environment in _commands(cluster, words):
                    processes.append(start(task, command, environment))
                    for target, pipe in enumerate(processes[-1].pipes, start=1):
                        outputs.add(pipe, target, f"{task} | ")
            except OSError as error:
                say(f"process {len(processes) + 1} of {len(cluster.tasks)} cannot start: {error}")
                return 1
            limits = limits or limits_of()
            supervisor = Supervisor(processes, cluster.chief, limits, say, time.monotonic)
            listeners[:] = [supervisor.receive]
            for signum in early_signals:
                supervisor.receive(signum)
            _follow(supervisor, outputs)
            return supervisor.status
    finally:
        for process in processes:
            process.kill()
        outputs.close()


def _commands(
    cluster: Cluster, words: Sequence[str]
) -> Iterator[tuple[Task, list[str], dict[str, str]]]:
    """Yields the command line and the environment of each process."""
    script = sys.argv[0]
    is_command = os.path.basename(script) == "estimator-bridge" and os.path.isfile(script)
    own = [script] if is_command else ["-m", "estimator_bridge"]
    command = [sys.executable, *own, "run", *words]
    configs = tf_configs(cluster.tasks, free_ports(len(cluster.tasks)))
    # Python would hold back the output of a process whose streams are pipes.
    environment = {"PYTHONUNBUFFERED": "1", **os.environ}
    for task in cluster.tasks:
        yield task, command, {**environment, "TF_CONFIG": configs[task]}


def _follow(supervisor: Supervisor, outputs: Outputs) -> None:
    """Copies the output until all processes have ended."""
    while supervisor.look():
        outputs.copy(_LOOK_SECS)
    end = time.monotonic() + _REST_SECS
    while outputs.are_open and time.monotonic() < end:
        outputs.copy(_LOOK_SECS)


@contextlib.contextmanager
def _signals() -> Iterator[list[Callable[[int], Any]]]:
    """Calls the functions of the yielded list with each signal that asks this process to end.

    A signal that is ignored, as SIGHUP under nohup, stays so. Only the main thread has signals.
    """
    listeners: list[Callable[[int], Any]] = []
    if threading.current_thread() is not threading.main_thread():
        yield listeners
        return

    def handle(signum: int, frame: Any) -> None:
        del frame
        for listener in list(listeners):
            listener(signum)

    previous = {
        signum: signal.signal(signum, handle)
        for signum in _TERMINATION_SIGNALS
        if signal.getsignal(signum) is not signal.SIG_IGN
    }
    try:
        yield listeners
    finally:
        for signum, handler in previous.items():
            signal.signal(signum, handler)


def _say(text: str) -> None:
    with contextlib.suppress(OSError):
        write_all(2, f"estimator-bridge run: {text}\n".encode())
