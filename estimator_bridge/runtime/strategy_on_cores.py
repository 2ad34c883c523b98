"""tf.distribute.TPUStrategy where devices of this machine replace a TPU's cores."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf
from tensorflow.compat.v1 import logging

from estimator_bridge.errors import INSTEAD_OF_JAX, NotOnJaxError
from estimator_bridge.runtime.core_systems import started_devices
from estimator_bridge.runtime.local_clusters import (
    EmulatedClusterResolver,
    JaxClusterResolver,
    LocalClusterResolver,
    cluster_for_any_tpu,
)
from estimator_bridge.runtime.partitions import check_logical_device, check_partition
from estimator_bridge.tensorflow_private.cores import (
    ExtendedOnCores,
    OnCores,
    validate_run_function,
    without_jit,
)
from estimator_bridge.tensorflow_private.names import eager_mode

__all__ = ["STRATEGIES", "local_cluster"]


def local_cluster(resolver: Any) -> LocalClusterResolver | None:
    """Returns the resolver of the devices that replace a TPU's cores; None for a TPU.

    Args:
      resolver: the resolver that a program passed; None means any TPU.

    Raises:
      NotOnJaxError: it is of devices of JAX.
    """
    cluster = cluster_for_any_tpu() if resolver is None else resolver
    if isinstance(cluster, JaxClusterResolver):
        raise NotOnJaxError(
            f"tf.distribute.TPUStrategy on {cluster.master()!r}: JAX runs the steps of "
            "TPUEstimator only, not those of Keras or of a loop of the program's own. "
            + INSTEAD_OF_JAX
        )
    if isinstance(cluster, LocalClusterResolver):
        return cluster
    return None


class _Cores(OnCores):
    """The methods of all kinds of TPUStrategy on cores; mixed into TensorFlow's classes."""

    of_tensorflow: Any
    extended: Any
    _cluster: LocalClusterResolver | None = None
    _spmd = False

    def _start(self, resolver: Any, assignment: Any) -> None:
        """Initializes the strategy instead of TensorFlow's class, which looks for a TPU."""
        self._cluster = cluster = local_cluster(resolver)
        assert cluster is not None  # otherwise TensorFlow's class is made
        devices = started_devices(cluster)
        cores_per_replica = _cores_per_replica(assignment, cluster)
        if assignment is not None:
            devices = devices[::cores_per_replica][: assignment.num_replicas]
        # The cores share one memory, where plain addition is faster than collectives.
        is_emulated = isinstance(cluster, EmulatedClusterResolver)
        reduction = tf.distribute.ReductionToOneDevice() if is_emulated else None
        with eager_mode():
            extended = ExtendedOnCores(self, cluster, devices, cores_per_replica, reduction)
        base: Any = super(self.of_tensorflow, self)
        base.__init__(extended)

    @property
    def cluster_resolver(self) -> Any:
        """The resolver of the cores."""
        return self._cluster

    def run(
        self, fn: Callable[..., Any], args: Any = (), kwargs: Any = None, options: Any = None
    ) -> Any:
        """Runs a function on each core; see ``tf.distribute.TPUStrategy``.

        Raises:
          NotImplementedError: it is called eagerly and the function is no ``tf.function``; a TPU
            runs compiled functions only.
        """
        validate_run_function(fn)
        base: Any = super(self.of_tensorflow, self)
        return base.run(without_jit(fn), args, kwargs, options)

    def experimental_distribute_dataset(self, dataset: Any, options: Any = None) -> Any:
        """Divides a dataset of global batches over the replicas; see ``tf.distribute.Strategy``.

        Raises:
          ValueError: the batch size cannot be divided by the number of replicas.
        """
        _check_divisible(dataset, self.extended.num_replicas_per_host)
        base: Any = super(self.of_tensorflow, self)
        return base.experimental_distribute_dataset(dataset, options)

    def experimental_assign_to_logical_device(self, tensor: Any, logical_device_id: int) -> Any:
        """Returns the tensor: a replica is whole on one device.

        Raises:
          ValueError: a replica has no such core, or XLA would partition the program.
        """
        if self._spmd:
            raise ValueError(
                "Cannot assign a tensor to a logical device in SPMD mode. To disable SPMD, "
                "construct the TPUStrategy with `experimental_spmd_xla_partitioning=False`."
            )
        check_logical_device(logical_device_id, self.extended.cores_per_replica)
        return tensor

    def experimental_split_to_logical_devices(
        self, tensor: Any, partition_dimensions: Sequence[int]
    ) -> Any:
        """Returns the tensor: a replica is whole on one device.

        Raises:
          ValueError: the dimensions do not fit the tensor, or the cores of a replica.
        """
        check_partition(tensor, partition_dimensions, self.extended.cores_per_replica)
        return tensor

    def experimental_replicate_to_logical_devices(self, tensor: Any) -> Any:
        """Returns the tensor: a replica is whole on one device."""
        return tensor


class TPUStrategyOnCores(_Cores, tf.distribute.TPUStrategy):
    """``tf.distribute.TPUStrategy`` on cores.

    Args:
      tpu_cluster_resolver: a resolver whose cores were initialized.
      experimental_device_assignment: several cores for each replica. The replica is whole on the
        first of them, with the same numbers.
      experimental_spmd_xla_partitioning: whether XLA would partition the program. Only checked.

    Raises:
      RuntimeError: the cores were not initialized.
      ValueError: the assignment needs more cores.
    """

    of_tensorflow = tf.distribute.TPUStrategy

    def __init__(
        self,
        tpu_cluster_resolver: Any = None,
        experimental_device_assignment: tf.tpu.experimental.DeviceAssignment | None = None,
        experimental_spmd_xla_partitioning: bool = False,
    ):
        self._spmd = experimental_spmd_xla_partitioning
        self._start(tpu_cluster_resolver, experimental_device_assignment)


class TPUStrategyExperimentalOnCores(_Cores, tf.distribute.experimental.TPUStrategy):
    """``tf.distribute.experimental.TPUStrategy`` on cores; see `TPUStrategyOnCores`."""

    of_tensorflow = tf.distribute.experimental.TPUStrategy

    def __init__(self, tpu_cluster_resolver: Any = None, device_assignment: Any = None):
        self._start(tpu_cluster_resolver, device_assignment)


class TPUStrategyV1OnCores(_Cores, tf.compat.v1.distribute.experimental.TPUStrategy):
    """``tf.compat.v1.distribute.experimental.TPUStrategy`` on cores; see `TPUStrategyOnCores`."""

    of_tensorflow = tf.compat.v1.distribute.experimental.TPUStrategy

    def __init__(
        self,
        tpu_cluster_resolver: Any = None,
        steps_per_run: int | None = None,
        device_assignment: Any = None,
    ):
        self._start(tpu_cluster_resolver, device_assignment)
        self.extended.steps_per_run = steps_per_run or 1


# By TensorFlow's class.
STRATEGIES: dict[Any, Any] = {
    kind.of_tensorflow: kind
    for kind in (TPUStrategyOnCores, TPUStrategyExperimentalOnCores, TPUStrategyV1OnCores)
}


def _cores_per_replica(assignment: Any, cluster: LocalClusterResolver) -> int:
    if assignment is None:
        return 1
    if not isinstance(assignment, tf.tpu.experimental.DeviceAssignment):
        raise TypeError(
            "The device assignment of a TPUStrategy must be a "
            f"tf.tpu.experimental.DeviceAssignment, got {assignment!r}. Make one with "
            "tf.tpu.experimental.DeviceAssignment.build(topology, computation_shape=[1, 1, 1, 2], "
            "num_replicas=...)."
        )
    replicas, each = assignment.num_replicas, assignment.num_cores_per_replica
    if replicas * each > cluster.cores:
        raise ValueError(
            f"The device assignment has {replicas} replica(s) of {each} core(s), but "
            f"{cluster.master()!r} has {cluster.cores}. Build it from the topology that "
            "tf.tpu.experimental.initialize_tpu_system(resolver) returned."
        )
    if each > 1:
        logging.warning(
            "A device assignment of %d cores per replica on %s: %d replica(s), each whole on one "
            "device. Only a TPU splits a model over cores.",
            each,
            cluster.master(),
            replicas,
        )
    return each


def _check_divisible(dataset: Any, replicas: int) -> None:
    if not tf.executing_eagerly() or not isinstance(dataset, tf.data.Dataset):
        return
    variant = tf.data.experimental.to_variant(dataset)
    size = int(tf.raw_ops.ComputeBatchSize(input_dataset=variant))  # -1: unknown
    if size > 0 and size % replicas:
        below, above = size - size % replicas, size - size % replicas + replicas
        fitting = " or ".join(str(each) for each in (below, above) if each)
        raise ValueError(
            f"A global batch of {size} examples cannot be divided over {replicas} cores: the "
            "cores would have batches of different sizes, and each batch's mean loss would count "
            f"the same. Batch the dataset by a multiple of {replicas}, such as {fitting}."
        )
