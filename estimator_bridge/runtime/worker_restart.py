"""Restarts a worker when another one is lost, so that all meet again.

TensorFlow (2.21 was tried) cannot take a lost worker back into a running process: its server keeps
the port until the process ends, and its coordination service refuses a task that failed before. So
the process replaces itself by the same command. It has the same number and the same files, goes
through the program from the top, and training resumes from the last checkpoint.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from tensorflow.compat.v1 import logging

from estimator_bridge.errors import WorkerError
from estimator_bridge.runtime.worker_loss import is_slow_peer
from estimator_bridge.runtime.workers import Workers
from estimator_bridge.tensorflow_private.hooks import open_event_writers

__all__ = ["command_line", "next_attempt", "rejoin", "tell_failure", "too_late"]

_LIMIT = "ESTIMATOR_BRIDGE_RESTARTS"  # restarts in a row; 0: the launcher restarts it
_STATE = "ESTIMATOR_BRIDGE_RESTARTED"  # from one process to the next: number of restarts, step
_USUAL_LIMIT = 5
_TASK = re.compile(r"/job:(\w+)/(?:replica:0/)?task:(\d+)")
_FAILED = "estimator_bridge: failed: "
_started_in = os.getcwd()


def too_late(workers: Workers, error: BaseException) -> WorkerError | None:
    """Returns the error to raise if live workers did not come in time; None for other errors.

    Args:
      workers: the workers of the training that failed.
      error: the failure.
    """
    if not (is_slow_peer(error) and workers.timeout_secs):
        return None
    own = workers.addresses[workers.index]
    silent = workers.silent_addresses()
    who = ", ".join(
        f"{address} (does not answer)" if address in silent else f"{address} (its process lives)"
        for address in workers.addresses
        if address != own
    )
    where = f"after step {workers.last_step}" if workers.last_step >= 0 else "in the first step"
    return WorkerError(
        f"{workers.name} waited {workers.timeout_secs:g} s (ESTIMATOR_BRIDGE_WORKER_SECS) {where} "
        f"for the others: {who}. One of them hangs, or takes longer for a step, a checkpoint or an "
        "evaluation: its log and its watchdog say where. Started again, training goes on from the "
        "last checkpoint."
    )


def tell_failure(workers: Workers, error: BaseException) -> None:
    """Tells the other workers, who wait for this one, that its program failed."""
    text = f"{_FAILED}{workers.name}: {type(error).__name__}: {error}"[:1000]
    try:
        workers.tell_failure(text)
    except Exception as second:  # the first failure counts
        logging.warning("The other workers could not be told of the failure: %s", second)


def rejoin(workers: Workers, error: BaseException) -> None:
    """Restarts this process, to meet the others again.

    Args:
      workers: the workers of the training that failed.
      error: the failure; see ``worker_loss.is_loss``.

    Raises:
      WorkerError: another worker's program failed, or this process cannot be restarted, or was
        restarted too often.
    """
    _, has_failed, what = str(error).partition(_FAILED)
    if has_failed:
        raise WorkerError(
            f"Training ended, as another worker's program failed: {what.splitlines()[0]}. See "
            "that worker's log."
        ) from error
    intro = f"Lost {_who(workers, str(error))}."
    command = command_line(sys.modules["__main__"], sys.argv, getattr(sys, "orig_argv", None))
    if command is None:
        raise WorkerError(
            f"{intro} {workers.name} cannot go on without, and cannot start itself anew, as it was "
            "not started as a script or a module. Start it and the lost worker again; training "
            "goes on from the last checkpoint."
        ) from error
    attempt, limit = next_attempt(os.environ, workers.last_step)
    if attempt > limit:
        raise WorkerError(
            f"{intro} {workers.name} has restarted itself {limit} time(s) without getting any "
            f"further than step {workers.last_step}, the most that {_LIMIT} allows. Start it and "
            "the lost worker again; training goes on from the last checkpoint."
        ) from error
    logging.error(
        "%s %s, at step %d, restarts itself (attempt %d of %d), waits for the lost worker to "
        "be started again, and goes on from the last checkpoint.",
        intro, workers.name, workers.last_step, attempt, limit,
    )  # fmt: skip
    os.environ[_STATE] = json.dumps({"attempt": attempt, "step": workers.last_step})
    _flush()
    os.chdir(_started_in)
    os.execv(command[0], command)


def _who(workers: Workers, message: str) -> str:
    """Returns the lost workers, as far as TensorFlow's message or a check of addresses shows."""
    own = workers.addresses[workers.index]
    addresses = [workers.address(job, int(task)) for job, task in _TASK.findall(message)]
    addresses += workers.silent_addresses()
    return ", ".join(dict.fromkeys(a for a in addresses if a != own)) or "another worker"


def next_attempt(environment: Mapping[str, str], step: int) -> tuple[int, int]:
    """Returns the number of the next attempt in a row, and the limit.

    Args:
      environment: holds the state of the previous process, and the limit.
      step: the step that training has reached; progress starts a new count.
    """
    before = json.loads(environment.get(_STATE) or '{"attempt": 0, "step": -1}')
    row = 0 if step > before["step"] else before["attempt"]
    return row + 1, int(environment.get(_LIMIT) or _USUAL_LIMIT)


def command_line(
    main: Any, arguments: Sequence[str], original: Sequence[str] | None
) -> list[str] | None:
    """Returns the command that runs this program again; None if it is no script or module.

    Args:
      main: the module ``__main__``.
      arguments: sys.argv.
      original: sys.orig_argv, which Python has from 3.10 on.
    """
    spec, file = getattr(main, "__spec__", None), getattr(main, "__file__", None)
    if hasattr(sys, "ps1") or sys.flags.interactive or not (spec or file):
        return None
    if original:
        return [sys.executable, *original[1:]]
    if spec:
        name = spec.name[: -len(".__main__")] if spec.name.endswith(".__main__") else spec.name
        return [sys.executable, "-m", name, *arguments[1:]]
    return [sys.executable, str(file), *arguments[1:]]


def _flush() -> None:
    for writer in open_event_writers():
        writer.flush()
    sys.stdout.flush()
    sys.stderr.flush()
