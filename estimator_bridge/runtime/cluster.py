"""Meeting the other workers, where the program's strategy has not done so by itself."""

from __future__ import annotations

import socket
import time
from collections.abc import Sequence

import tensorflow as tf
from tensorflow.compat.v1 import logging

from estimator_bridge.errors import WorkerError
from estimator_bridge.runtime.workers import workers_of
from estimator_bridge.tensorflow_private import (
    bound_wait_for_workers,
    communication_options,
    eager_mode,
    reset_eager_context,
    server_runs,
)

__all__ = ["connect_workers", "multi_worker_strategy", "not_answering"]

_PAUSE = 0.2  # seconds between two looks for a worker
_connected: dict[tf.distribute.Strategy, tf.distribute.Strategy] = {}


def multi_worker_strategy(
    timeout_secs: float = 7200, cluster_resolver=None, communication=None
) -> tf.distribute.Strategy:
    """MultiWorkerMirroredStrategy that waits for the other workers for a time of one's choice.

    TensorFlow's own constructor waits for an hour, and then names no address. An evaluator gets a
    strategy of its own machine, whether or not the cluster lists it: TensorFlow's constructor
    wants it listed, and has it look in vain for a chief that has finished.

    Args:
      timeout_secs: how long to wait for workers that have not started.
      cluster_resolver: names the workers; by default TF_CONFIG does.
      communication: ``tf.distribute.experimental.CommunicationOptions``.

    Raises:
      WorkerError: not all workers came in that time, or TensorFlow had already started.
    """
    resolver = cluster_resolver or tf.distribute.cluster_resolver.TFConfigClusterResolver()
    jobs = resolver.cluster_spec().as_dict()
    addresses = [*jobs.get("chief", ()), *jobs.get("worker", ())]
    place = f"{resolver.task_type} {resolver.task_id}"
    if resolver.task_type == "evaluator":  # no part of the cluster that trains
        nobody = tf.train.ClusterSpec({})
        resolver = tf.distribute.cluster_resolver.SimpleClusterResolver(nobody)
    with eager_mode():
        try:
            if resolver.task_type in ("chief", "worker"):
                bound_wait_for_workers(resolver.cluster_spec(), timeout_secs)
                if place == f"{'chief' if 'chief' in jobs else 'worker'} 0":
                    _wait_for(addresses[1:], timeout_secs, place)
            return tf.distribute.MultiWorkerMirroredStrategy(resolver, communication)
        except RuntimeError as error:
            if "program startup" not in str(error):
                raise
            raise WorkerError(
                "The workers have to meet before TensorFlow runs its first operation in this "
                "process, and it has run some. Make the strategy at the program's top."
            ) from error
        except tf.errors.OpError as error:
            raise _not_all_came(place, timeout_secs, not_answering(addresses)) from error


def connect_workers(
    strategy: tf.distribute.Strategy, timeout_secs: float, protocol: str | None = None
) -> tf.distribute.Strategy:
    """A strategy whose workers have met.

    MultiWorkerMirroredStrategy meets them when it is made; not so in a program that turned v2
    behavior off, where they meet here.

    Args:
      strategy: the program's.
      timeout_secs: how long to wait here for workers that have not started.
      protocol: RunConfig's.

    Returns:
      The same strategy, or one like it that has met the workers.

    Raises:
      WorkerError: not all workers came in that time.
    """
    workers = workers_of(strategy)
    if workers is None:
        return strategy
    if protocol not in (None, "grpc"):
        logging.warning("RunConfig(protocol=%r): workers talk 'grpc', which is used.", protocol)
    if server_runs(strategy):
        return strategy
    if strategy not in _connected:
        logging.info("Waiting for the workers %s", ", ".join(workers.addresses))
        # Making the strategy has started TensorFlow, without collectives. There is nothing of a
        # graph-mode program in it that could be lost.
        reset_eager_context()
        _connected[strategy] = multi_worker_strategy(
            timeout_secs, strategy.cluster_resolver, communication_options(strategy)
        )
    return _connected[strategy]


def _wait_for(addresses: Sequence[str], timeout_secs: float, place: str) -> None:
    """Waits until servers listen. The first of all workers must: TensorFlow bounds no wait of its.

    Theirs listen before they look for the first worker's, and they go on looking.
    """
    end = time.monotonic() + timeout_secs
    while silent := not_answering(addresses):
        if time.monotonic() >= end:
            raise _not_all_came(place, timeout_secs, silent)
        time.sleep(_PAUSE)


def _not_all_came(place: str, timeout_secs: float, silent: Sequence[str]) -> WorkerError:
    found = f"Nothing answers at {', '.join(silent)}." if silent else "All answer by now."
    return WorkerError(
        f"{place} waited {timeout_secs:g} s (RunConfig.session_creation_timeout_secs) for the "
        f"other workers of TF_CONFIG, and not all came. {found} Start every worker with the same "
        "'cluster' in its TF_CONFIG, and check that this machine can reach it."
    )


def not_answering(addresses, timeout_secs: float = 2.0) -> list[str]:
    """Those of the addresses ('host:port') where nothing listens."""
    silent = []
    for address in addresses:
        host, _, port = address.rpartition(":")
        try:
            socket.create_connection((host.strip("[]"), int(port)), timeout_secs).close()
        except (OSError, ValueError):
            silent.append(address)
    return silent
