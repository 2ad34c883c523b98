"""Meeting the other workers, where the program's strategy has not done so by itself."""

from __future__ import annotations

import re
import socket

import tensorflow as tf
from absl import logging

from estimator_bridge.errors import WorkerError
from estimator_bridge.runtime.workers import workers_of
from estimator_bridge.tensorflow_private import (
    communication_options,
    configure_collectives_timeout,
    eager_mode,
    server_runs,
)

__all__ = ["connect_workers", "not_answering"]

_connected: dict[int, tuple[tf.distribute.Strategy, tf.distribute.Strategy]] = {}


def connect_workers(
    strategy: tf.distribute.Strategy, timeout_secs: float, protocol: str | None = None
) -> tf.distribute.Strategy:
    """A strategy whose workers have met.

    MultiWorkerMirroredStrategy meets them when it is made, and waits for them up to an hour; not
    so in a program that turned v2 behavior off, where they meet here.

    Args:
      strategy: the program's.
      timeout_secs: how long to wait here for workers that have not started.
      protocol: RunConfig's.

    Returns:
      The same strategy, or one like it that has met the workers.

    Raises:
      WorkerError: not all workers came in that time, or TensorFlow had already started.
    """
    workers = workers_of(strategy)
    if workers is None or server_runs(strategy):
        return strategy
    if protocol not in (None, "grpc"):
        logging.warning("RunConfig(protocol=%r): workers talk 'grpc', which is used.", protocol)
    if id(strategy) not in _connected:
        logging.info("Waiting for the workers %s", ", ".join(workers.addresses))
        with eager_mode():
            _connected[id(strategy)] = strategy, _connect(strategy, workers, timeout_secs)
    return _connected[id(strategy)][1]


def _connect(strategy, workers, timeout_secs: float) -> tf.distribute.Strategy:
    try:
        configure_collectives_timeout(strategy, timeout_secs)
        return tf.distribute.MultiWorkerMirroredStrategy(
            cluster_resolver=strategy.cluster_resolver,
            communication_options=communication_options(strategy),
        )
    except RuntimeError as error:
        if not re.search("program startup", str(error)):
            raise
        raise WorkerError(
            "The workers have to meet before TensorFlow runs its first operation in this process, "
            "and it has run some. Train first: move what runs eagerly (datasets, "
            "tf.config.list_logical_devices) into input_fn and model_fn, or leave v2 behavior on, "
            "where MultiWorkerMirroredStrategy(), made at the top, meets the workers."
        ) from error
    except tf.errors.OpError as error:
        missing = not_answering(workers.addresses)
        raise WorkerError(
            f"{workers.name} waited {timeout_secs:g} s "
            "(RunConfig.session_creation_timeout_secs) for the other workers of TF_CONFIG, and "
            f"not all came. {_described(missing, workers.addresses)} Start every worker with the "
            "same 'cluster' in its TF_CONFIG, and check that this machine can reach it. "
            f"({type(error).__name__}: {str(error).splitlines()[0]})"
        ) from error


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


def _described(missing: list[str], addresses: list[str]) -> str:
    if missing:
        return f"Nothing answers at {', '.join(missing)}."
    return f"All of {', '.join(addresses)} answer: perhaps one came too late."
