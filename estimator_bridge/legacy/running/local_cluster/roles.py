"""The roles of a cluster on this machine, and the TF_CONFIG of each of its processes."""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

__all__ = ["EVALUATOR", "SERVER", "Cluster", "Task", "parse_cluster", "parse_workers", "tf_configs"]

SERVER, EVALUATOR = "ps", "evaluator"
_CHIEF, _MASTER, _WORKER = "chief", "master", "worker"
_ROLES = (SERVER, _CHIEF, _MASTER, _WORKER, EVALUATOR)  # in the order in which they start
_SINGLETONS = (_CHIEF, _MASTER, EVALUATOR)
_EXAMPLE = "such as --cluster ps=1,worker=2,chief=1"
_COUNT = re.compile(r"[1-9][0-9]{0,3}")


@dataclasses.dataclass(frozen=True)
class Task:
    """One process of a cluster.

    Attributes:
      role: its job in the cluster, such as 'worker'.
      index: its number among the processes of that job, from 0.
    """

    role: str
    index: int

    def __str__(self) -> str:
        return f"{self.role} {self.index}"


class Cluster(NamedTuple):
    """The processes of a cluster.

    Attributes:
      tasks: all of them, in the order in which they start.
      chief: the one whose end is the end of the job.
    """

    tasks: tuple[Task, ...]
    chief: Task


def parse_cluster(text: str) -> Cluster:
    """Parses the value of `--cluster`.

    Args:
      text: the number of processes of each role, such as 'ps=1,worker=2,chief=1'.

    Raises:
      ValueError: it is not of that form, or no such cluster can train.
    """
    counts: dict[str, int] = {}
    for part in text.split(","):
        role, _, number = (word.strip() for word in part.partition("="))
        if role not in _ROLES:
            raise ValueError(
                f"--cluster has an unknown role, {role!r}: the roles are {', '.join(_ROLES)}, "
                f"{_EXAMPLE}"
            )
        if role in counts:
            raise ValueError(f"--cluster names {role} twice: give the sum of both")
        counts[role] = _count(number, f"--cluster: {role}")
    _check(counts)
    # Like Kubeflow's operator, whose TFJob without a chief ends with its worker 0.
    chief = next(role for role in (_CHIEF, _MASTER, _WORKER) if role in counts)
    return Cluster(_tasks(counts), Task(chief, 0))


def parse_workers(text: str) -> Cluster:
    """Parses the value of `--workers`: synchronous workers, of which worker 0 is the chief.

    Args:
      text: the number of workers.

    Raises:
      ValueError: it is no number of 1 or more.
    """
    return Cluster(_tasks({_WORKER: _count(text, "--workers")}), Task(_WORKER, 0))


def tf_configs(tasks: Sequence[Task], ports: Sequence[int]) -> dict[Task, str]:
    """Returns the TF_CONFIG of each process.

    Beside parameter servers, an evaluator is no part of the cluster, as in the original. Without
    them it is listed: the constructor of MultiWorkerMirroredStrategy requires that.

    Args:
      tasks: the processes.
      ports: a port of this machine for each.
    """
    has_servers = any(task.role == SERVER for task in tasks)
    jobs: dict[str, list[str]] = {}
    for task, port in zip(tasks, ports):
        if not (has_servers and task.role == EVALUATOR):
            jobs.setdefault(task.role, []).append(f"localhost:{port}")
    return {
        task: json.dumps({"cluster": jobs, "task": {"type": task.role, "index": task.index}})
        for task in tasks
    }


def _tasks(counts: Mapping[str, int]) -> tuple[Task, ...]:
    return tuple(Task(role, i) for role in _ROLES for i in range(counts.get(role, 0)))


def _count(text: str, name: str) -> int:
    if not _COUNT.fullmatch(text):
        raise ValueError(f"{name} wants a number of processes, 1 to 9999, got {text!r}")
    return int(text)


def _check(counts: Mapping[str, int]) -> None:
    for role in _SINGLETONS:
        if counts.get(role, 1) > 1:
            raise ValueError(f"--cluster: a cluster has one {role} at most, got {counts[role]}")
    if _CHIEF in counts and _MASTER in counts:
        raise ValueError("--cluster: chief and master both save the checkpoints: give one of them")
    if _MASTER in counts and EVALUATOR in counts:
        raise ValueError(
            "--cluster: a master evaluates its own checkpoints: leave evaluator out, or give a "
            "chief in place of the master"
        )
    leaders = {_CHIEF, _MASTER} | ({_WORKER} if SERVER in counts else set())
    if leaders.isdisjoint(counts):
        raise ValueError(
            f"--cluster needs chief=1 (or master=1), which saves the checkpoints, {_EXAMPLE}; "
            "--workers N starts synchronous workers, of which worker 0 saves them"
        )
