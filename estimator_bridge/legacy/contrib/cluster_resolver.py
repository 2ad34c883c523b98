"""tf.contrib.cluster_resolver: how a program names its TPU, or says that it has none."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from estimator_bridge import runtime
from estimator_bridge.legacy.contrib.namespaces import NAMESPACES
from estimator_bridge.runtime.accelerators import NoTPUClusterResolver

__all__, __getattr__, __dir__ = NAMESPACES["cluster_resolver"].opened()

_tf = tf.distribute.cluster_resolver


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
    """Finds a TPU, with TensorFlow 1's meaning of a name that is empty.

    Args:
      tpu: the TPU's name or address, 'emulated:N' for CPU cores in its place, or a list of one.
        '' and None: the TPU that the environment names, and where there is none this process
        alone, as ``use_tpu=False`` has it; 'local' on a machine without TPU is the same.
      zone: the zone of the named TPU.
      project: the project of the named TPU.
      job_name: of the TPU's workers.
      coordinator_name: of the job that ``coordinator_address`` joins.
      coordinator_address: of a process beside the TPU.
      credentials: of the cloud's API.
      service: a client of that API.
      discovery_url: where that API describes itself.

    Returns:
      TensorFlow's TPUClusterResolver, or one for emulated cores, or one
      whose master is ''.

    Raises:
      AcceleratorNotFoundError: a TPU was named that cannot be found.
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
    if not hasattr(resolver, "get_master"):  # TensorFlow 2 calls it master alone
        resolver.get_master = resolver.master
    return resolver
