"""Resolves the accelerator that a program names: a TPU, or devices instead of one."""

from __future__ import annotations

import contextlib
import os
import re
import socket
import urllib.error
from collections.abc import Iterator
from typing import Any

import tensorflow as tf

from estimator_bridge.base.redaction import redacted
from estimator_bridge.base.tpu_presence import (
    attached_chip,
    default_tpu_name,
    find_tpu,
    name_on_tpu_vm,
)
from estimator_bridge.errors import AcceleratorNotFoundError
from estimator_bridge.runtime.deadlines import problem_at
from estimator_bridge.runtime.local_clusters import (
    cluster_for_any_tpu,
    cores_for_any_tpu,
    parse_local,
)
from estimator_bridge.runtime.tpu_api import make_tpu_api_know_cores

__all__ = [
    "ON_CORES",
    "NoTPUClusterResolver",
    "TPUClusterResolver",
    "bounded_waits",
    "check_reachable",
    "tpu_present",
]

_ADDRESS = re.compile(r"grpc://\[?(?P<host>[^/]+?)\]?:(?P<port>\d+)/?")
_PATIENCE = 10.0  # seconds
# The end of each error about a missing TPU.
ON_CORES = (
    "To run on CPU cores instead, name them: 'emulated:8' (--tpu=emulated:8), or start the program "
    "by `estimator-bridge run --cores 8 ...`."
)


class NoTPUClusterResolver(tf.distribute.cluster_resolver.SimpleClusterResolver):
    """The resolver of a machine without a TPU; its master is ''."""

    def __init__(self) -> None:
        super().__init__(tf.train.ClusterSpec({}))

    def get_master(self) -> str:
        """Returns the master, by TensorFlow 1's name."""
        return self.master()

    def get_job_name(self) -> None:
        """Returns no job of TPU workers."""

    def num_accelerators(
        self, task_type: str | None = None, task_id: int | None = None, config_proto: Any = None
    ) -> dict[str, int]:
        """Returns no TPU cores."""
        del task_type, task_id, config_proto
        return {}


def TPUClusterResolver(
    tpu: Any = None, zone: str | None = None, project: str | None = None, **kwargs: Any
) -> tf.distribute.cluster_resolver.ClusterResolver:
    """Returns TensorFlow's TPUClusterResolver for a TPU, or devices that replace its cores.

    Args:
      tpu: a TPU's name or address ('grpc://...'), 'local' for the TPU of this machine (the name in
        TPU_NAME means it too, on a TPU VM of one host), or
        'emulated:N' (CPU cores), 'gpu:N' (GPUs of this machine) or 'jax', 'jax:N', 'jax:cpu:N'
        (devices of JAX). None and '' use the TPU that the environment names, or the devices of
        `estimator-bridge run --cores` and `--runtime`. Without either the result is None, which
        TF1 programs read as "no TPU".
      zone: the zone of the named TPU.
      project: the project of the named TPU.
      **kwargs: other arguments of TensorFlow's class.

    Returns:
      A resolver, or None: no TPU.

    Raises:
      AcceleratorNotFoundError: a TPU was named that cannot be found.
      ValueError: such a name with an N that is not a positive number.
    """
    if not tpu and not tpu_present() and not cores_for_any_tpu():
        return None
    name = tpu or default_tpu_name(os.environ)
    local = parse_local(name) if isinstance(name, str) else None
    local = local or cluster_for_any_tpu()
    if local:
        make_tpu_api_know_cores()  # the program may go on to tf.distribute.TPUStrategy
        return local
    tpu = name
    if isinstance(name, str):
        tpu = name_on_tpu_vm(name, os.environ, attached_chip(os.environ) is not None)
    resolver = tf.distribute.cluster_resolver.TPUClusterResolver
    # legacy.install() replaces it with one that calls this function.
    resolver = getattr(resolver, "of_tensorflow", resolver)
    try:
        with bounded_waits():
            return resolver(tpu, zone=zone, project=project, **kwargs)
    except Exception as error:  # it raises a dozen kinds, from the metadata service and below
        raise _not_found(tpu, error) from error


@contextlib.contextmanager
def bounded_waits() -> Iterator[None]:
    """Gives a deadline to network calls that have none.

    TensorFlow asks the cloud's metadata service and its TPU API with the process's default
    timeout, which is unlimited if the network drops packets.
    """
    before = socket.getdefaulttimeout()
    socket.setdefaulttimeout(before or _PATIENCE)
    try:
        yield
    finally:
        socket.setdefaulttimeout(before)


def check_reachable(master: str) -> None:
    """Checks that a TPU's address answers: TensorFlow itself would wait indefinitely.

    Args:
      master: 'grpc://host:port'; other values name no address and are not tried.

    Raises:
      AcceleratorNotFoundError: nothing answers there.
    """
    address = _ADDRESS.fullmatch(master)
    if not address:
        return
    problem = problem_at(address["host"], int(address["port"]), _PATIENCE)
    if problem:
        raise _not_found(master, problem)


def _not_found(tpu: Any, reason: Any) -> AcceleratorNotFoundError:
    if isinstance(reason, urllib.error.URLError) and isinstance(reason.reason, OSError):
        # Names of TPUs are looked up there; from other machines it is often out of reach.
        reason = f"Google Cloud gave no answer: {reason.reason.strerror or reason.reason}."
    return AcceleratorNotFoundError(
        f"No TPU {redacted(str(tpu))!r} was found: "
        f"{redacted(str(reason).strip()) or type(reason).__name__}\n"
        f"Check the name, zone and project, and that this machine can reach it. {ON_CORES}"
    )


def tpu_present() -> bool:
    """Whether this machine has a TPU, or its environment names one."""
    return find_tpu(os.environ) is not None
