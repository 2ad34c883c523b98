"""The server of this process in its cluster, and the life of a parameter server."""

from __future__ import annotations

import contextlib
import os
import socket
import time
from typing import Any

import tensorflow as tf
from tensorflow.compat.v1 import logging

from estimator_bridge.errors import WorkerError
from estimator_bridge.model import RunConfig, TaskType
from estimator_bridge.model.tf_config import read_tf_config
from estimator_bridge.runtime.addresses import is_loopback
from estimator_bridge.runtime.cluster import check_own_port, tell_of_open_port
from estimator_bridge.training.parameter_servers.job_end import ended_processes, trainers_of
from estimator_bridge.training.parameter_servers.trainers_watch import TrainersWatch
from estimator_bridge.training.supervision.termination import interruptible

__all__ = ["serve", "start_server"]

_v1 = tf.compat.v1
_LAST_SECS = 30.0  # for workers that have not ended when the chief has
_servers: dict[str, Any] = {}  # by address: TensorFlow cannot stop one


def start_server(config: RunConfig) -> Any:
    """Starts TensorFlow's server of this process, at its address in TF_CONFIG, once.

    Args:
      config: of the estimator.

    Returns:
      The server; None if the launcher has started it, which "environment": "google" in TF_CONFIG
      says of processes that train. A parameter server starts its own in every environment.

    Raises:
      RuntimeError: the config names no cluster, or TF_CONFIG an empty "session_master".
      WorkerError: another process holds the port, or TensorFlow cannot start the server.
    """
    is_server = config.task_type == TaskType.PS
    if read_tf_config().get("environment") == "google" and not is_server:
        return None
    if not config.cluster_spec or not config.task_type or config.task_id is None:
        raise RuntimeError(
            "Could not start server; be sure to specify cluster_spec, task_type, and task in "
            "RunConfig or set the TF_CONFIG environment variable."
        )
    if not config.master:
        raise RuntimeError(
            "Could not start server; be sure to specify master in RunConfig or set the TF_CONFIG "
            "environment variable."
        )
    address = config.cluster_spec.task_address(config.task_type, config.task_id)
    if address in _servers:
        return _servers[address]
    place = f"{config.task_type} {config.task_id}"
    check_own_port(address, place)
    _tell_of_other_machine(address, place)
    tell_of_open_port(address)
    logging.info("Start Tensorflow server.")
    session_config = _v1.ConfigProto(log_device_placement=False)
    if config.session_config is not None:
        session_config.gpu_options.CopyFrom(config.session_config.gpu_options)
    # A thread that spins as it waits would take the time of another process.
    session_config.experimental.disable_thread_spinning = _is_crowded(config.cluster_spec)
    try:
        _servers[address] = _v1.train.Server(
            config.cluster_spec,
            job_name=config.task_type,
            task_index=config.task_id,
            config=session_config,
            protocol=config.protocol,
        )
    except tf.errors.OpError as error:
        check_own_port(address, place)  # another process was quicker
        raise WorkerError(
            f"{place} cannot start its server at {address}, its address in TF_CONFIG: "
            f"{error.message}"
        ) from error
    return _servers[address]


def _is_crowded(cluster_spec: tf.train.ClusterSpec) -> bool:
    """Returns whether a cluster is on this machine, with more processes than processors."""
    addresses = [a for job in cluster_spec.jobs for a in cluster_spec.job_tasks(job) if a]
    return all(map(is_loopback, addresses)) and len(addresses) > (os.cpu_count() or 1)


def _tell_of_other_machine(address: str, place: str) -> None:
    """Warns if an address is not one of this machine's; it may be one that is forwarded to it."""
    host = address.rpartition(":")[0].strip("[]")
    try:
        addresses = {str(entry[4][0]) for entry in socket.getaddrinfo(host, None)}
    except OSError as error:
        problem = f"cannot be resolved here ({error.strerror or error})"
    else:
        if any(map(_is_own, addresses)):
            return
        problem = f"is {', '.join(sorted(addresses))}, which is no address of this machine"
    logging.warning(
        "TF_CONFIG says that %s is at %s, but %s %s. This process listens on that port; unless the "
        "name is forwarded to it, as a service's may be, the others will not reach it: check its "
        "task in TF_CONFIG.",
        place, address, host, problem,
    )  # fmt: skip


def _is_own(ip_address: str) -> bool:
    """Returns whether this machine has an address: only then can a socket be bound to it."""
    family = socket.AF_INET6 if ":" in ip_address else socket.AF_INET
    try:
        with contextlib.closing(socket.socket(family)) as one:
            one.bind((ip_address, 0))
    except OSError:
        return False
    return True


def serve(config: RunConfig) -> None:
    """Serves variables until the job has ended.

    Args:
      config: a parameter server's.

    Raises:
      WorkerError: none of the processes that train has answered for
        ``session_creation_timeout_secs``.
    """
    place = f"{config.task_type} {config.task_id}"
    target = start_server(config).target
    trainers = trainers_of(config)
    logging.info(
        "Parameter server %d serves until the job ends: when %s have trained to their end, or at "
        "SIGTERM.",
        config.task_id,
        ", ".join(trainers),
    )
    remaining, chief_ended_at = set(trainers), None
    spec = config.cluster_spec
    watch = TrainersWatch(
        place,
        [
            address
            for job in spec.jobs
            if job != TaskType.PS
            for address in spec.job_tasks(job)
            if address
        ],
        config.session_creation_timeout_secs,
        "served nobody",
        "Start the chief and the workers with the same 'cluster' in TF_CONFIG, and then this "
        "process again.",
        time.monotonic(),
    )
    with interruptible(f"Parameter server {config.task_id}"):
        for process in ended_processes(config, target):
            now = time.monotonic()
            if process is None:
                watch.look(now)
            else:
                remaining.discard(process)
                if process == trainers[0]:
                    chief_ended_at = now
            if not remaining or (chief_ended_at and now >= chief_ended_at + _LAST_SECS):
                break
    without = f" ({', '.join(sorted(remaining))} did not say so)" if remaining else ""
    logging.info("The job has ended%s. Parameter server %d ends.", without, config.task_id)
