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

__all__ = ["announce_end_at_exit", "ended_processes", "job_goes_on", "trainers_of"]

_v1 = tf.compat.v1
_QUEUE = "estimator_bridge_ended"
_CAPACITY = 10_000
_SEND_SECS = 5.0
_POLL_SECS = 1.0
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
        for index in config.cluster_spec.task_indices(TaskType.PS):
            try:
                _send(config, index)
            except tf.errors.OpError as error:  # it has ended, or is being restarted
                logging.debug("Parameter server %d does not hear of the end: %s", index, error)

    _at_exit[key] = send
    atexit.register(send)


def job_goes_on(config: RunConfig) -> None:
    """Takes back ``announce_end_at_exit``: this process trains again."""
    send = _at_exit.pop(config.master, None)
    if send:
        atexit.unregister(send)


def ended_processes(config: RunConfig, target: str) -> Iterator[str | None]:
    """Yields the processes that have ended, as they end; None about once a second.

    Args:
      config: this parameter server's.
      target: the address of this process's own server.
    """
    with tf.Graph().as_default():
        received = _queue(config.task_id).dequeue()
        with _session(config.task_id, target) as session:
            while True:
                try:
                    yield tf.compat.as_str(session.run(received, options=_limit(_POLL_SECS)))
                except tf.errors.DeadlineExceededError:
                    yield None


def _send(config: RunConfig, index: int) -> None:
    own = f"/job:{config.task_type}/task:{config.task_id}"
    end = time.monotonic() + _SEND_SECS
    with tf.Graph().as_default():
        send = _queue(index).enqueue([f"{config.task_type} {config.task_id}"])
        with _session(index, config.master, own) as session:
            session.run(send, options=_limit(max(0.1, end - time.monotonic())))


def _queue(index: int) -> Any:
    with tf.device(f"/job:{TaskType.PS}/task:{index}/cpu:0"):
        return tf.queue.FIFOQueue(_CAPACITY, [tf.string], [()], shared_name=_QUEUE)


@contextlib.contextmanager
def _session(index: int, target: str, *devices: str) -> Iterator[Any]:
    filters = [f"/job:{TaskType.PS}/task:{index}", *devices]
    with _v1.Session(target, config=_v1.ConfigProto(device_filters=filters)) as session:
        yield session


def _limit(secs: float) -> Any:
    return _v1.RunOptions(timeout_in_ms=int(secs * 1000))
