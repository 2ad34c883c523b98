"""Connects to the other workers if the program's strategy has not done so."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from typing import Any

import tensorflow as tf
from tensorflow.compat.v1 import logging

from estimator_bridge.errors import WorkerError
from estimator_bridge.runtime.addresses import (
    is_loopback,
    port_holder,
    port_problem,
    problems_at,
)
from estimator_bridge.runtime.deadlines import interruptible_wait, within
from estimator_bridge.runtime.workers import workers_of
from estimator_bridge.tensorflow_private.eager import bound_wait_for_workers
from estimator_bridge.tensorflow_private.names import eager_mode, reset_eager_context
from estimator_bridge.tensorflow_private.strategies import communication_options, server_runs

__all__ = [
    "check_own_port",
    "connect_workers",
    "multi_worker_strategy",
    "tell_of_open_port",
    "wait_for_servers",
]

_PAUSE = 0.2  # seconds between two attempts to find a worker
_TELL_SECS = 60.0  # seconds between two log lines that name the missing workers
_SLACK_SECS = 30.0  # after TensorFlow's own deadline
_told_of: set[str] = set()  # ports
_strategies: dict[tf.distribute.Strategy, tf.distribute.Strategy] = {}


def multi_worker_strategy(
    timeout_secs: float = 7200,
    cluster_resolver: Any = None,
    communication: Any = None,
    heartbeat_secs: float = 10.0,
) -> tf.distribute.Strategy:
    """Returns a MultiWorkerMirroredStrategy that waits for the other workers up to a deadline.

    TensorFlow's constructor waits for an hour, and then names no address. An evaluator gets a
    strategy of its own machine, whether or not the cluster lists it: TensorFlow's constructor
    requires the entry, and would wait for a chief that may have finished.

    Args:
      timeout_secs: the longest wait for workers that have not started.
      cluster_resolver: names the workers; by default TF_CONFIG does.
      communication: ``tf.distribute.experimental.CommunicationOptions``.
      heartbeat_secs: the silence after which a worker that has met the others counts as lost. The
        first worker's value counts.

    Raises:
      WorkerError: not all workers came in that time, or TensorFlow had already started.
    """
    resolver = cluster_resolver or tf.distribute.cluster_resolver.TFConfigClusterResolver()
    jobs = resolver.cluster_spec().as_dict()
    addresses = [*jobs.get("chief", ()), *jobs.get("worker", ())]
    place = f"{resolver.task_type} {resolver.task_id}"
    if resolver.task_type == "evaluator":  # not part of the cluster that trains
        nobody = tf.train.ClusterSpec({})
        resolver = tf.distribute.cluster_resolver.SimpleClusterResolver(nobody)
    with eager_mode(), interruptible_wait(f"the workers {', '.join(addresses)}"):
        try:
            if resolver.task_type in ("chief", "worker"):
                check_own_port(jobs[resolver.task_type][resolver.task_id], place)
                bound_wait_for_workers(resolver.cluster_spec(), timeout_secs, heartbeat_secs)
                if place == f"{'chief' if 'chief' in jobs else 'worker'} 0":
                    # TensorFlow does not bound this one's wait. The others listen before they look
                    # for this one, and keep looking.
                    wait_for_servers(addresses[1:], timeout_secs, place)
            return _make_strategy(resolver, communication, timeout_secs + _SLACK_SECS, addresses)
        except TimeoutError as error:
            raise _not_all_came(place, timeout_secs, problems_at(addresses)) from error
        except RuntimeError as error:
            if "program startup" not in str(error):
                raise
            raise WorkerError(
                "The workers have to meet before TensorFlow runs its first operation in this "
                "process, and it has run some. Make the strategy at the program's top."
            ) from error
        except tf.errors.OpError as error:
            if "gRPC server" in str(error):  # another process was quicker
                check_own_port(jobs[resolver.task_type][resolver.task_id], place)
            raise _not_all_came(place, timeout_secs, problems_at(addresses)) from error


def _make_strategy(
    resolver: Any, communication: Any, secs: float, addresses: Sequence[str]
) -> tf.distribute.Strategy:
    def make() -> tf.distribute.Strategy:
        with eager_mode():  # eager mode is thread-local
            return tf.distribute.MultiWorkerMirroredStrategy(resolver, communication)

    return within(secs, make, f"the workers {', '.join(addresses)} to meet")


def connect_workers(
    strategy: tf.distribute.Strategy, timeout_secs: float, protocol: str | None = None
) -> tf.distribute.Strategy:
    """Returns a strategy whose workers have met.

    MultiWorkerMirroredStrategy connects to them when it is made, except in a program that turned
    v2 behavior off.

    Args:
      strategy: the program's.
      timeout_secs: the longest wait for workers that have not started.
      protocol: RunConfig's.

    Returns:
      The same strategy, or a copy that has met the workers.

    Raises:
      WorkerError: not all workers came in that time.
    """
    workers = workers_of(strategy)
    if workers.count == 1:
        return strategy
    if protocol not in (None, "grpc"):
        logging.warning("RunConfig(protocol=%r): workers talk 'grpc', which is used.", protocol)
    tell_of_open_port(workers.addresses[workers.index])
    if server_runs(strategy):
        return strategy
    if strategy not in _strategies:
        logging.info("Waiting for the workers %s", ", ".join(workers.addresses))
        # Making the strategy has started TensorFlow, without collectives. A graph-mode program has
        # no state in it that could be lost.
        reset_eager_context()
        _strategies[strategy] = multi_worker_strategy(
            timeout_secs, strategy.cluster_resolver, communication_options(strategy)
        )
    return _strategies[strategy]


def wait_for_servers(addresses: Sequence[str], timeout_secs: float, place: str) -> None:
    """Waits until TensorFlow servers listen.

    Args:
      addresses: theirs, 'host:port' each.
      timeout_secs: the longest wait.
      place: this process's, such as 'worker 1', for messages.

    Raises:
      WorkerError: not all listen in that time.
    """
    start_time = last_message = time.monotonic()
    while silent := problems_at(addresses):
        now = time.monotonic()
        if now >= start_time + timeout_secs:
            raise _not_all_came(place, timeout_secs, silent)
        if now >= last_message + _TELL_SECS:
            last_message = now
            logging.warning(
                "%s has waited %.0f s, of %g s at most, for other processes. No TensorFlow server "
                "answers at %s.",
                place, now - start_time, timeout_secs, _text_of(silent),
            )  # fmt: skip
        time.sleep(_PAUSE)


def tell_of_open_port(address: str) -> None:
    """Warns that TensorFlow opens a port to the network although TF_CONFIG names a local one."""
    host, _, port = address.rpartition(":")
    if is_loopback(host) and port not in _told_of:
        _told_of.add(port)
        logging.warning(
            "TF_CONFIG names %s for this process, but TensorFlow's server listens on port %s of "
            "ALL addresses of this machine, without any authentication: whoever reaches it can run "
            "code here. Close the port to the network (`estimator-bridge docs workers`).",
            host, port,
        )  # fmt: skip


def _not_all_came(place: str, timeout_secs: float, silent: Mapping[str, str]) -> WorkerError:
    answers = (
        f"No TensorFlow server answers at {_text_of(silent)}." if silent else "All answer now."
    )
    return WorkerError(
        f"{place} waited {timeout_secs:g} s (RunConfig.session_creation_timeout_secs) for the "
        f"other processes of TF_CONFIG, and not all came. {answers} Start each with the same "
        "'cluster' in its TF_CONFIG, and check that this machine can reach it."
    )


def _text_of(problems: Mapping[str, str]) -> str:
    return ", ".join(f"{address} ({problem})" for address, problem in problems.items())


def check_own_port(address: str, place: str) -> None:
    """Checks that this process's server can listen: TensorFlow would blame another process.

    Args:
      address: this process's, 'host:port'.
      place: this process's, such as 'worker 1', for messages.

    Raises:
      WorkerError: another process holds the port.
    """
    digits = address.rpartition(":")[2]
    problem = port_problem(int(digits)) if digits.isdecimal() else None
    if problem is None:
        return
    port = int(digits)
    holder = port_holder(port)
    if holder and holder[0] == os.getpid():  # a second strategy, for which TensorFlow has an error
        return
    who = f" Process {holder[0]} ({holder[1]}) holds it: end it" if holder else " End what holds it"
    raise WorkerError(
        f"{place} cannot listen on port {port} of this machine, which its address {address} in "
        f"TF_CONFIG names: {problem}.{who}, or give this process another port, in the TF_CONFIG of "
        "every process."
    )
