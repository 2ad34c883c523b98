"""Chooses the tf.distribute strategy that a program asked for."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import tensorflow as tf
from tensorflow.compat.v1 import logging

from estimator_bridge.base.compatibility import installed_versions
from estimator_bridge.base.redaction import redacted
from estimator_bridge.base.tpu_presence import attached_chip
from estimator_bridge.base.tpu_vm import advice_after_failure
from estimator_bridge.errors import (
    INSTEAD_OF_JAX,
    AcceleratorNotFoundError,
    NotOnJaxError,
)
from estimator_bridge.runtime.accelerators import (
    ON_CORES,
    NoTPUClusterResolver,
    TPUClusterResolver,
    bounded_waits,
    check_reachable,
    tpu_present,
)
from estimator_bridge.runtime.deadlines import connect_secs, interruptible_wait, within
from estimator_bridge.runtime.local_clusters import (
    EmulatedClusterResolver,
    JaxClusterResolver,
    LocalClusterResolver,
    cluster_for_any_tpu,
    cores_for_any_tpu,
    local_devices,
    parse_local,
)
from estimator_bridge.runtime.on_jax.draws import device_draws
from estimator_bridge.runtime.on_jax.strategy import JaxStrategy
from estimator_bridge.runtime.on_jax.workers import JaxWorkers
from estimator_bridge.runtime.topology import assign_cores, check_cores_per_replica
from estimator_bridge.runtime.tpu_probe import check_local_start
from estimator_bridge.runtime.workers import set_workers
from estimator_bridge.tensorflow_private.names import eager_mode

__all__ = ["default_strategy", "started_topology", "tpu_strategy"]

_strategies: dict[object, tf.distribute.Strategy] = {}
# By address. A TPU system is initialized once: doing it again would clear its memory.
_topologies: dict[str, tf.tpu.experimental.Topology] = {}


def default_strategy() -> tf.distribute.Strategy:
    """Returns a strategy of one replica, on the first GPU if any, else on the CPU."""
    with eager_mode():
        gpus = tf.config.list_logical_devices("GPU")
        return _once(("one", bool(gpus)), lambda: _one_device("/gpu:0" if gpus else "/cpu:0"))


def tpu_strategy(
    cluster: Any = None, master: str | None = None, cores_per_replica: int | None = None
) -> tf.distribute.Strategy:
    """Returns the strategy of TPU mode.

    Args:
      cluster: a TPUClusterResolver, TensorFlow's or one of 'emulated:N', 'gpu:N' or 'jax...'.
      master: a TPU's name, 'emulated:N', 'gpu:N' or 'jax...', where no cluster is given.
      cores_per_replica: the number of neighboring cores of a replica. Without a TPU, a replica is
        on one device, and there are correspondingly fewer replicas.

    Returns:
      TPUStrategy, or one with a replica for each emulated core, GPU or device of JAX.

    Raises:
      AcceleratorNotFoundError: the TPU or the GPUs are missing, or none was named and there is no
        TPU.
      TooLateError: emulated cores were asked for after TensorFlow had started.
      ValueError: the number of cores is not divisible by ``cores_per_replica``, or an environment
        variable has a value that it cannot have.
    """
    if cluster is None or isinstance(cluster, NoTPUClusterResolver):
        local = parse_local(master) or cluster_for_any_tpu()
        if local is None and not master and not tpu_present():
            raise AcceleratorNotFoundError(
                "use_tpu=True, but no TPU was named and this machine has none. Name one "
                "(RunConfig(cluster=TPUClusterResolver('my-tpu'))), ask for emulated CPU cores "
                "(RunConfig(master='emulated:8'), or `estimator-bridge run --cores 8 ...`), or "
                "pass use_tpu=False."
            )
        cluster = local or TPUClusterResolver(master)
    with eager_mode():
        if isinstance(cluster, JaxClusterResolver):
            _check_whole_on_jax(cluster, cores_per_replica)
            return _once(("jax", cluster.master(), device_draws()), lambda: _on_jax(cluster))
        if isinstance(cluster, LocalClusterResolver):
            make = _emulate if isinstance(cluster, EmulatedClusterResolver) else _on_gpus
            count = check_cores_per_replica(cluster.cores, cores_per_replica or 1)
            if count < cluster.cores:
                logging.warning(
                    "num_cores_per_replica=%d on %s: %d replica(s), each whole on one device. Only "
                    "a TPU splits a model over cores.",
                    cores_per_replica,
                    cluster.master(),
                    count,
                )
            own_cluster = type(cluster)(count)
            return _once((own_cluster.kind, count), lambda: make(local_devices(own_cluster)))
        return _once((cluster, cores_per_replica), lambda: _on_tpu(cluster, cores_per_replica))


def started_topology() -> tf.tpu.experimental.Topology | None:
    """Returns the topology of the TPU that this process started last; None if none."""
    return next(reversed(_topologies.values()), None)


def _once(key: Any, make: Callable[[], tf.distribute.Strategy]) -> tf.distribute.Strategy:
    if key not in _strategies:
        _strategies[key] = make()
    return _strategies[key]


def _one_device(device: str) -> tf.distribute.Strategy:
    return tf.distribute.OneDeviceStrategy(device)


def _emulate(devices: list[str]) -> tf.distribute.Strategy:
    level = logging.WARN if cores_for_any_tpu() else logging.INFO
    logging.log(level, "No TPU in use: %d emulated core(s) on this machine's CPU.", len(devices))
    if len(devices) == 1:
        return _one_device(devices[0])
    # The cores share one memory: plain addition is up to twice as fast here as the collectives
    # between devices, and strategies of different sizes can live in one process.
    return tf.distribute.MirroredStrategy(devices, tf.distribute.ReductionToOneDevice())


def _check_whole_on_jax(cluster: JaxClusterResolver, cores_per_replica: int | None) -> None:
    if (cores_per_replica or 1) > 1:
        raise NotOnJaxError(
            f"num_cores_per_replica={cores_per_replica} on {cluster.master()!r}: steps on JAX do "
            f"not split a model over devices. Leave it out, or: {INSTEAD_OF_JAX}"
        )


def _on_jax(cluster: JaxClusterResolver) -> tf.distribute.Strategy:
    devices = cluster.devices
    kind = "CPU, for tests" if devices[0].platform == "cpu" else devices[0].device_kind
    logging.info("Steps run on JAX, on %d device(s): %s.", len(devices), kind)
    strategy = JaxStrategy(devices, cluster.master(), cluster.processes)
    if cluster.processes is not None:
        workers = JaxWorkers(strategy, cluster.processes)
        set_workers(strategy, workers)
        logging.info("Of %d processes this is %s.", workers.count, workers.name)
    return strategy


def _on_gpus(devices: list[str]) -> tf.distribute.Strategy:
    if len(devices) == 1:
        return _one_device(devices[0])
    return tf.distribute.MirroredStrategy(devices)


def _on_tpu(cluster: Any, cores_per_replica: int | None) -> tf.distribute.Strategy:
    with interruptible_wait("the TPU"):
        address = _address(cluster)
        if address not in _topologies:
            _topologies[address] = _initialize(cluster, address)
    if cores_per_replica is None:
        return tf.distribute.TPUStrategy(cluster)
    assignment = assign_cores(_topologies[address], cores_per_replica)
    return tf.distribute.TPUStrategy(cluster, experimental_device_assignment=assignment)


def _address(cluster: Any) -> str:
    try:
        with bounded_waits():
            return cluster.master()
    except Exception as error:  # the TPU API, its client and the network raise many kinds
        raise AcceleratorNotFoundError(
            f"The TPU's address could not be determined: {redacted(str(error))}\n"
            f"Check its name, zone and project, and that it is running. {ON_CORES}"
        ) from error


def _initialize(cluster: Any, address: str) -> tf.tpu.experimental.Topology:
    """Connects to all hosts of a TPU, and starts it."""
    check_reachable(address)
    secs = connect_secs()
    if "://" not in address:
        check_local_start(secs)

    def initialize() -> tf.tpu.experimental.Topology:
        with eager_mode():  # eager mode is thread-local
            tf.config.experimental_connect_to_cluster(cluster)
            return tf.tpu.experimental.initialize_tpu_system(cluster)

    try:
        return within(secs, initialize, f"the TPU at {redacted(address) or 'local'!r} to start")
    except TimeoutError as error:
        raise AcceleratorNotFoundError(
            f"The TPU at {redacted(address)!r} answers, but did not start within "
            f"{secs:g} s (ESTIMATOR_BRIDGE_CONNECT_SECS).\n{_advice(address, error)}"
            "Check that all of its hosts are healthy, that no other program uses it, and that its "
            f"TensorFlow version is that of this machine ({tf.__version__}). {ON_CORES}"
        ) from error
    except (tf.errors.OpError, RuntimeError, ValueError) as error:
        raise AcceleratorNotFoundError(
            f"The TPU at {redacted(address) or 'local'!r} could not be initialized: "
            f"{redacted(str(error))}\n{_advice(address, error)}"
            "Check that it is running and that its TensorFlow version is that of this machine "
            f"({tf.__version__}). {ON_CORES}"
        ) from error


def _advice(address: str, error: Exception) -> str:
    """Returns what to change on this machine, if the TPU is its own."""
    if "://" in address:
        return ""
    chip = attached_chip(os.environ)
    return advice_after_failure(os.environ, chip, installed_versions(), str(error))
