"""tf.contrib.cluster_resolver: the TPU of a program, or none."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from estimator_bridge import runtime
from estimator_bridge.runtime.accelerators import NoTPUClusterResolver
from estimator_bridge_contrib.namespaces import NAMESPACES

__all__, __getattr__, __dir__ = NAMESPACES["cluster_resolver"].opened()


def TPUClusterResolver(
    tpu: Any = None,
    zone: str | None = None,
    project: str | None = None,
    job_name: str = "worker",
    coordinator_name: str | None = None,
    coordinator_address: str | None = None,
    credentials: Any = "default",
    service: Any = None,
    discovery_url: str | None = None,
) -> Any:
    """Finds a TPU; an empty name has TensorFlow 1's meaning.

    Args:
      tpu: the TPU's name or address, 'emulated:N' for CPU cores instead, or a list of one.
        '' and None mean the TPU that the environment names. If it names none, or for 'local' on a
        machine without a TPU, the program runs in this process as with ``use_tpu=False``.
      zone: the zone of the named TPU.
      project: the project of the named TPU.
      job_name: the job of the TPU's workers.
      coordinator_name: the job that ``coordinator_address`` joins.
      coordinator_address: the address of a process next to the TPU.
      credentials: credentials of the cloud's API.
      service: a client of that API.
      discovery_url: the discovery URL of that API.

    Returns:
      TensorFlow's TPUClusterResolver, or one for emulated cores, or one
      whose master is ''.

    Raises:
      AcceleratorNotFoundError: the named TPU cannot be found.
    """
    if isinstance(tpu, (list, tuple)):
        tpu = tpu[0] if tpu else None
    tpu = tf.compat.as_str(tpu) if tpu else tpu
    named = {
        "job_name": (job_name, "worker"),
        "coordinator_name": (coordinator_name, None),
        "coordinator_address": (coordinator_address, None),
        "credentials": (credentials, "default"),
        "service": (service, None),
        "discovery_url": (discovery_url, None),
    }
    more = {name: value for name, (value, usual) in named.items() if value != usual}
    if tpu == "local" and not runtime.tpu_present() and not runtime.cores_for_any_tpu():
        return NoTPUClusterResolver()
    resolver = runtime.TPUClusterResolver(tpu, zone, project, **more)
    if resolver is None:
        return NoTPUClusterResolver()
    if not hasattr(resolver, "get_master"):  # TensorFlow 2 only has master
        resolver.get_master = resolver.master
    return resolver
