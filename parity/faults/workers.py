"""Kills or stops processes of a cluster, and restarts them or not."""

from __future__ import annotations

import contextlib
import functools
import json
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from parity.faults.counts import summarize_case, table
from parity.faults.options import Options

__all__ = ["NAMES", "run", "table"]

_TASKS = ("chief", "worker")
# The tasks that are killed or stopped, the checkpoints, and the tasks that the harness restarts.
_CASES: dict[str, tuple[Sequence[str], Sequence[int], Sequence[str]]] = {
    "chief killed": (["chief"], [4, 8, 16], ["chief"]),
    "worker killed": (["worker"], [4, 8, 16], ["worker"]),
    "both killed": (["chief", "worker"], [8], ["chief", "worker"]),
    "worker killed and not started again": (["worker"], [8], []),
    "chief killed and not started again": (["chief"], [8], []),
    "chief stopped for 60 s": (["chief"], [4, 12], []),
    "worker stopped for 60 s": (["worker"], [4, 12], []),
    "both stopped for 60 s": (["chief", "worker"], [8], []),
    "chief stopped for 15 s": (["chief"], [4, 12], []),
    "worker stopped for 15 s": (["worker"], [4, 12], []),
    "both stopped for 15 s": (["chief", "worker"], [8], []),
    "chief stopped for 3 s": (["chief"], [8], []),
    "worker stopped for 3 s": (["worker"], [8], []),
    "chief killed while it was stopped": (["chief"], [8], ["chief"]),
    "worker killed while it was stopped": (["worker"], [8], ["worker"]),
}
NAMES = list(_CASES)
_STOPPED = re.compile(r" stopped for (\d+) s$")
_KILLED_STOPPED_SECS = 20.0
_SECS = 180.0  # from the kill to the end
_NO_WORKER_SECS = 20.0  # a worker's deadline for one that does not come
_RAISED = re.compile(r"^(?:\w+\.)*(\w+Error): ", re.MULTILINE)


class _Cluster:
    """A chief and a worker on this machine.

    Args:
      folder: the folder of model_dir and logs.
      secs: the time that they wait for each other.
    """

    def __init__(self, folder: Path, secs: float):
        self.model_dir = folder / "model"
        self._folder, self._secs = folder, secs
        with contextlib.ExitStack() as stack:
            sockets = [stack.enter_context(socket.create_server(("127.0.0.1", 0))) for _ in _TASKS]
            addresses = [f"127.0.0.1:{each.getsockname()[1]}" for each in sockets]
        self._jobs = {task: [address] for task, address in zip(_TASKS, addresses)}
        self._running: dict[str, subprocess.Popen[bytes]] = {}

    def start(self, task: str) -> None:
        """Starts a process."""
        environment = {
            **os.environ,
            "TF_CONFIG": json.dumps({"cluster": self._jobs, "task": {"type": task, "index": 0}}),
            "PARITY_FAULTS_TIMEOUT": str(self._secs),
            "PYTHONWARNINGS": "ignore",
        }
        command = [sys.executable, "-m", "parity.faults.worker_program", str(self.model_dir)]
        with self._log(task).open("ab") as log:
            self._running[task] = subprocess.Popen(
                command, env=environment, stdout=log, stderr=log, start_new_session=True
            )

    def kill(self, task: str) -> None:
        """Kills a process."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._running[task].pid, signal.SIGKILL)
        self._running[task].wait()

    def send(self, task: str, signum: int) -> None:
        """Sends a process a signal."""
        os.killpg(self._running[task].pid, signum)

    def wait_for_checkpoint(self, step: int) -> None:
        """Waits until a checkpoint is written."""
        end = time.monotonic() + _SECS
        while not (self.model_dir / f"model.ckpt-{step}.index").exists():
            if time.monotonic() > end:
                raise RuntimeError(f"no checkpoint of step {step}:\n{self.output('chief')}")
            time.sleep(0.05)

    def wait(self, task: str, secs: float) -> int | None:
        """Returns a process's exit code; None if it had to be killed after this time."""
        try:
            code = self._running[task].wait(secs)
        except subprocess.TimeoutExpired:
            self.kill(task)
            return None
        return 128 - code if code < 0 else code

    def output(self, task: str) -> str:
        """Returns the output of a task's processes."""
        return self._log(task).read_text(errors="replace")[-4000:]

    def _log(self, task: str) -> Path:
        return self._folder / f"{task}.log"

    def __enter__(self) -> _Cluster:
        return self

    def __exit__(self, *error: object) -> None:
        for task in self._running:
            self.kill(task)


def run(names: Sequence[str], options: Options) -> dict[str, Any]:
    """Runs these cases, one after the other.

    Args:
      names: of NAMES.
      options: `every` has an effect.

    Returns:
      JSON by case: see `counts.summarize_case`; and the longest time in `secs`.
    """
    from parity.faults.restarts import in_fork

    with tempfile.TemporaryDirectory() as name:
        undisturbed = _once(Path(name), (), 0, ())["folder"]
        weights = in_fork(Path(name), lambda: _weights(undisturbed))
    results = {}
    for case in names:
        killed, steps, restarted = _CASES[case]
        outcomes = []
        for step in steps[:: options.every]:
            with tempfile.TemporaryDirectory() as name:
                outcome = _once(Path(name), killed, step, restarted, case)
                trained = in_fork(Path(name), functools.partial(_weights, outcome["folder"]))
                outcomes.append({**outcome, "same": trained == weights})
                print(json.dumps({"case": case, "step": step, **outcomes[-1]}), file=sys.stderr)
        is_correct = _ended_the_same if restarted or _STOPPED.search(case) else _gave_up
        results[case] = summarize_case(outcomes, is_correct, _describe)
        results[case]["secs"] = max(outcome["secs"] for outcome in outcomes)
    return results


def _once(
    folder: Path, killed: Sequence[str], step: int, restarted: Sequence[str], case: str = ""
) -> dict[str, Any]:
    stopped = _STOPPED.search(case)
    patience = _SECS if restarted or stopped or not killed else _NO_WORKER_SECS
    with _Cluster(folder, patience) as cluster:
        for task in _TASKS:
            cluster.start(task)
        if killed:
            cluster.wait_for_checkpoint(step)
        began = time.monotonic()
        if "stopped" in case:
            for task in killed:
                cluster.send(task, signal.SIGSTOP)
            time.sleep(float(stopped[1]) if stopped else _KILLED_STOPPED_SECS)
        for task in killed:
            if stopped:
                cluster.send(task, signal.SIGCONT)
            else:
                cluster.kill(task)
        for task in restarted:
            cluster.start(task)
        remaining_tasks = [
            task for task in _TASKS if stopped or task in restarted or task not in killed
        ]
        codes = {
            task: cluster.wait(task, max(began + _SECS - time.monotonic(), 0.1))
            for task in remaining_tasks
        }
        secs = time.monotonic() - began
        errors = [
            name
            for task in remaining_tasks
            if codes[task]
            for name in _RAISED.findall(cluster.output(task))
        ]
        if not killed and any(codes.values()):
            raise RuntimeError(
                f"the undisturbed cluster ended with {codes}:\n{cluster.output('chief')}"
            )
        return {
            "folder": str(cluster.model_dir), "codes": codes, "secs": round(secs),
            "error": errors[-1] if errors else "",
        }  # fmt: skip


def _weights(folder: str) -> dict[str, list[float]]:
    from parity.environment import tf

    reader = tf.train.load_checkpoint(folder)
    return {
        name: reader.get_tensor(name).ravel().tolist()
        for name in sorted(reader.get_variable_to_shape_map())
    }


def _ended_the_same(outcome: Mapping[str, Any]) -> bool:
    return not any(outcome["codes"].values()) and _has_ended(outcome) and outcome["same"]


def _gave_up(outcome: Mapping[str, Any]) -> bool:
    return _has_ended(outcome) and outcome["error"] == "WorkerError"


def _has_ended(outcome: Mapping[str, Any]) -> bool:
    return None not in outcome["codes"].values()


def _describe(outcome: Mapping[str, Any]) -> str:
    if not _has_ended(outcome):
        return f"hangs: {', '.join(t for t, code in outcome['codes'].items() if code is None)}"
    if any(outcome["codes"].values()):
        return outcome["error"] or f"exit codes {sorted(outcome['codes'].values())}"
    return "the same weights" if outcome["same"] else "other weights"
