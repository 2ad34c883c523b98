"""Starts the processes of a cluster with parameter servers on this machine."""

from __future__ import annotations

import contextlib
import json
import os
import random
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

__all__ = ["Cluster", "free_addresses", "log_lines"]

_NUMBER = re.compile(r"\d+(?:\.\d+)?(?:e-?\d+)?")
# Below those of outgoing connections, which may take one before a server listens there.
_PORTS = range(20_000, 32_768)
_INFO = "INFO:tensorflow:"
# The config's lines name paths and ports. The others depend on which process is faster.
_VARYING = ("Using config", "TF_CONFIG", "Waiting for model", "global_step/sec")


def free_addresses(count: int) -> list[str]:
    """Returns addresses of this machine at which nothing listens."""
    addresses: list[str] = []
    with contextlib.ExitStack() as stack:
        for port in random.sample(_PORTS, len(_PORTS)):
            if len(addresses) == count:
                break
            probe = stack.enter_context(socket.socket())
            with contextlib.suppress(OSError):
                probe.bind(("", port))
                addresses.append(f"localhost:{port}")
    return addresses


def log_lines(text: str) -> list[str]:
    """Returns those of a role's log lines that do not depend on luck, each once, in order.

    Numbers are N and paths are left out. The original's warnings of deprecation are too.
    """
    lines = [line[len(_INFO) :] for line in text.splitlines() if line.startswith(_INFO)]
    lines = [line for line in lines if not line.startswith(_VARYING) and "sec)" not in line]
    masked = [_NUMBER.sub("N", re.sub(r"\S*/(?=model\.ckpt)", "", line)) for line in lines]
    return list(dict.fromkeys(masked))


class Cluster:
    """The processes of one job; use it in a ``with`` block, whose end kills what is left.

    Args:
      folder: the folder of the logs.
      counts: the number of processes by role; an evaluator is not part of TF_CONFIG's cluster.
      start: starts a process, given its words, environment and log; by default Python does.
    """

    def __init__(
        self,
        folder: Path,
        counts: Mapping[str, int],
        start: Callable[[Sequence[str], Mapping[str, str], Path], Any] | None = None,
    ):
        addresses = iter(free_addresses(sum(counts.values())))
        jobs = {job: [next(addresses) for _ in range(count)] for job, count in counts.items()}
        self.jobs = {job: own for job, own in jobs.items() if job != "evaluator"}
        self.places = [f"{job} {index}" for job, own in jobs.items() for index in range(len(own))]
        self.folder = folder
        self._start = start or _start_python
        self._running: dict[str, Any] = {}

    def start(self, place: str, *words: str, **environment: str) -> None:
        """Starts a process.

        Args:
          place: its role and index, such as 'worker 0'.
          *words: the program and its arguments.
          **environment: variables besides those of this process.
        """
        job, index = place.split()
        task = {"type": job, "index": int(index)}
        config = json.dumps({"cluster": self.jobs, "task": task})
        variables = {**os.environ, "TF_CONFIG": config, **environment}
        self._running[place] = self._start(words, variables, self._log(place))

    def start_all(self, *words: str, **environment: str) -> None:
        """Starts all processes with the same program."""
        for place in self.places:
            self.start(place, *words, **environment)

    def send(self, place: str, number: int) -> None:
        """Sends a process a signal."""
        os.kill(self._running[place].pid, number)

    def kill(self, place: str) -> None:
        """Kills a process, and waits for its end."""
        self.send(place, signal.SIGKILL)
        self._running[place].wait()

    def has_ended(self, place: str) -> bool:
        """Returns whether a process has ended."""
        return self._running[place].poll() is not None

    def wait(self, place: str, secs: float = 100) -> int:
        """Returns a process's exit code.

        Raises:
          subprocess.TimeoutExpired: it did not end in that time.
        """
        return self._running[place].wait(secs)

    def wait_for(self, condition: Callable[[], bool], secs: float = 100) -> None:
        """Waits until something is true."""
        end = time.monotonic() + secs
        while not condition():
            assert time.monotonic() < end, self.outputs()
            time.sleep(0.02)

    def output(self, place: str) -> str:
        """Returns all that the processes of this place have written."""
        return self._log(place).read_text(errors="replace") if self._log(place).exists() else ""

    def outputs(self) -> str:
        """Returns the end of each process's output."""
        return "\n".join(f"== {place}\n{self.output(place)[-3000:]}" for place in self.places)

    def results(self, place: str) -> dict[str, Any]:
        """Returns what the last process of this place printed as JSON."""
        lines = [line for line in self.output(place).splitlines() if line.startswith("{")]
        return json.loads(lines[-1])

    def _log(self, place: str) -> Path:
        return self.folder / f"{place.replace(' ', '_')}.log"

    def __enter__(self) -> Cluster:
        return self

    def __exit__(self, *error: object) -> None:
        for process in self._running.values():
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            process.wait()


def _start_python(words: Sequence[str], environment: Mapping[str, str], log: Path) -> Any:
    with log.open("ab") as output:
        return subprocess.Popen(
            [sys.executable, *words], env=dict(environment), stdout=output, stderr=output
        )
