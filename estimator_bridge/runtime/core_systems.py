"""Systems of cores that replace a TPU: started and shut down as programs do a TPU's."""

from __future__ import annotations

import tensorflow as tf
from tensorflow.compat.v1 import logging

from estimator_bridge.runtime.local_clusters import LocalClusterResolver, local_devices
from estimator_bridge.runtime.topology import topology_of
from estimator_bridge.tensorflow_private.cores import stop_tuning_device_datasets
from estimator_bridge.tensorflow_private.names import eager_mode

__all__ = ["shut_down_cores", "start_cores", "started_devices"]

# By name, such as 'emulated:8', as TensorFlow keeps its TPUs: each resolver of the name finds it.
_devices: dict[str, list[str]] = {}


def start_cores(cluster: LocalClusterResolver) -> tf.tpu.experimental.Topology:
    """Makes the devices of a resolver, and logs that no TPU is in use.

    Args:
      cluster: the resolver. Starting its cores again changes nothing.

    Returns:
      The topology of a TPU with as many cores.

    Raises:
      TooLateError: TensorFlow has fixed its devices with fewer.
      AcceleratorNotFoundError: there are fewer GPUs.
    """
    name = cluster.master()
    with eager_mode():
        devices = local_devices(cluster)
    stop_tuning_device_datasets()
    if name not in _devices:
        about = cluster.description()
        logging.warning("No TPU in use: %s on this machine replace its cores.", about)
        _devices[name] = devices
    return topology_of(cluster.cores)


def shut_down_cores(cluster: LocalClusterResolver) -> None:
    """Forgets the cores of a resolver; its devices last as long as the process."""
    _devices.pop(cluster.master(), None)


def started_devices(cluster: LocalClusterResolver) -> list[str]:
    """Returns the names of the devices of a started system, one for each core.

    Raises:
      RuntimeError: it was not started.
    """
    name = cluster.master()
    if name not in _devices:
        hint = f" Started are: {', '.join(_devices)}." if _devices else ""
        raise RuntimeError(
            f"TPUStrategy got a resolver of {name!r}, whose cores are not initialized.{hint} Call "
            "tf.config.experimental_connect_to_cluster(resolver) and "
            "tf.tpu.experimental.initialize_tpu_system(resolver) before "
            "tf.distribute.TPUStrategy(resolver), as for a TPU."
        )
    return _devices[name]
