"""How a parameter server learns that its job has ended.

TensorFlow's servers serve until they are killed. So each process that has trained to its end says
so, when it exits, through a queue on each server. A process that fails or is killed says nothing:
whoever starts it again finds the servers as they were.
"""

from __future__ import annotations

import atexit
import contextlib
import time
from collections.abc import Callable, Iterator
from typing import Any

import tensorflow as tf
from tensorflow.compat.v1 import logging

from estimator_bridge.model import RunConfig, TaskType
from estimator_bridge.runtime.addresses import problems_at

__all__ = ["announce_end_at_exit", "ended_processes", "job_goes_on", "trainers_of"]

_v1 = tf.compat.v1
_QUEUE = "estimator_bridge_ended"
_CAPACITY = 10_000
_SEND_SECS, _ALL_SECS = 10.0, 20.0  # to tell one server, and all of them
_POLL_SECS = 0.5
_at_exit: dict[str, Callable[[], None]] = {}  # by the address of this process


def trainers_of(config: RunConfig) -> list[str]:
    """Returns the processes of a cluster that train, such as 'worker 0'."""
    spec = config.cluster_spec
    jobs = [job for job in (TaskType.MASTER, TaskType.CHIEF, TaskType.WORKER) if job in spec.jobs]
    return [f"{job} {index}" for job in jobs for index in spec.task_indices(job)]


def announce_end_at_exit(config: RunConfig) -> None:
    """Tells the parameter servers, when this process exits, that it has trained to its end.

    Not before: a program may train again, or start another estimator on the same servers.

    Args:
      config: of the estimator that has trained.
    """
    key = config.master
    if key in _at_exit:
        return

    def send() -> None:
        end = time.monotonic() + _ALL_SECS
        for index in config.cluster_spec.task_indices(TaskType.PS):
            _tell(config, index, end)

    _at_exit[key] = send
    atexit.register(send)


def job_goes_on(config: RunConfig) -> None:
    """Takes back ``announce_end_at_exit``: this process trains again."""
    send = _at_exit.pop(config.master, None)
    if send:
        atexit.unregister(send)


def ended_processes(config: RunConfig, target: str) -> Iterator[str | None]:
    """Yields the processes that have ended, as they end; None twice a second.

    It looks for a name before it takes one: a wait that is broken off may lose what it has taken.

    Args:
      config: this parameter server's.
      target: the address of this process's own server.
    """
    with tf.Graph().as_default():
        queue = _queue(config.task_id)
        count, name = queue.size(), queue.dequeue()
        with _session(config.task_id, target) as session:
            while True:
                if session.run(count):
                    yield tf.compat.as_str(session.run(name))
                else:
                    time.sleep(_POLL_SECS)
                    yield None


def _tell(config: RunConfig, index: int, end: float) -> None:
    """Tells one server; says so if it cannot until this time."""
    address = config.cluster_spec.task_address(TaskType.PS, index)
    while True:
        problem = problems_at([address]).get(address, "")
        if not problem:
            try:
                _send(config, index)
                return
            except tf.errors.OpError as error:
                problem = error.message
        if time.monotonic() >= end:
            logging.warning(
                "Parameter server %d does not hear that %s %d has ended: %s. If it is started "
                "again, end it by SIGTERM.",
                index, config.task_type, config.task_id, problem,
            )  # fmt: skip
            return
        time.sleep(_POLL_SECS)


def _send(config: RunConfig, index: int) -> None:
    own = f"/job:{config.task_type}/task:{config.task_id}"
    with tf.Graph().as_default():
        send = _queue(index).enqueue([f"{config.task_type} {config.task_id}"])
        with _session(index, config.master, own, secs=_SEND_SECS) as session:
            session.run(send)


def _queue(index: int) -> Any:
    with tf.device(f"/job:{TaskType.PS}/task:{index}/cpu:0"):
        return tf.queue.FIFOQueue(_CAPACITY, [tf.string], [()], shared_name=_QUEUE)


@contextlib.contextmanager
def _session(index: int, target: str, *devices: str, secs: float = 0.0) -> Iterator[Any]:
    """Opens a session of a server and other devices; each call may take some seconds, 0: any."""
    config = _v1.ConfigProto(
        device_filters=[f"/job:{TaskType.PS}/task:{index}", *devices],
        operation_timeout_in_ms=int(secs * 1000),
    )
    with _v1.Session(target, config=config) as session:
        yield session
