"""tf.contrib.distribute: the predecessor of tf.distribute, with its own arguments."""

from __future__ import annotations

import collections
from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from estimator_bridge.errors import AcceleratorNotFoundError
from estimator_bridge.runtime import tpu_strategy
from estimator_bridge.tensorflow_private.names import eager_mode
from estimator_bridge_contrib.namespaces import NAMESPACES

__all__, __getattr__, __dir__ = NAMESPACES["distribute"].opened()

_v1 = tf.compat.v1.distribute


class DistributeConfig(
    collections.namedtuple(
        "DistributeConfig",
        ["train_distribute", "eval_distribute", "remote_cluster"],
        defaults=(None, None, None),
    )
):
    """Values for RunConfig(experimental_distribute=).

    Args:
      train_distribute: the strategy for training.
      eval_distribute: the strategy for evaluation.
      remote_cluster: not supported.
    """


def MirroredStrategy(
    devices: Sequence[str] | None = None,
    num_gpus: int | None = None,
    num_gpus_per_worker: int | None = None,
    cross_device_ops: Any = None,
    auto_shard_dataset: bool = False,
    cross_tower_ops: Any = None,
) -> tf.distribute.Strategy:
    """Makes a strategy with a replica of the model on each of several GPUs, in lockstep.

    Args:
      devices: device names; by default all GPUs, or the CPU if there is none.
      num_gpus: number of GPUs, instead of ``devices``; 0 is the CPU.
      num_gpus_per_worker: the same, under its later name.
      cross_device_ops: the method of summing gradients.
      auto_shard_dataset: has no effect: the input_fn of each worker may use its input_context.
      cross_tower_ops: the older name of ``cross_device_ops``.

    Returns:
      TensorFlow's MirroredStrategy.

    Raises:
      ValueError: more than one of ``devices``, ``num_gpus`` and ``num_gpus_per_worker`` is given.
      AcceleratorNotFoundError: there are fewer GPUs.
    """
    del auto_shard_dataset
    device_options = [name for name in (devices, num_gpus, num_gpus_per_worker) if name is not None]
    if len(device_options) > 1:
        raise ValueError(
            "Must only specify one of `devices`, `num_gpus` and `num_gpus_per_worker`; got "
            f"{devices!r}, {num_gpus!r} and {num_gpus_per_worker!r}."
        )
    count = num_gpus if num_gpus_per_worker is None else num_gpus_per_worker
    if count is not None:
        devices = _gpus(count)
    return _v1.MirroredStrategy(devices, cross_device_ops or cross_tower_ops)


def _gpus(count: int) -> list[str]:
    if not count:
        return ["/device:CPU:0"]
    with eager_mode():
        gpus = tf.config.list_logical_devices("GPU")
    if len(gpus) < count:
        raise AcceleratorNotFoundError(
            f"MirroredStrategy was asked for {count} GPU(s), but TensorFlow sees {len(gpus)}. "
            "Check nvidia-smi and CUDA_VISIBLE_DEVICES. To run on the CPU, pass num_gpus=0; or "
            "omit it to use the available devices."
        )
    return [f"/device:GPU:{i}" for i in range(count)]


def CollectiveAllReduceStrategy(
    num_gpus_per_worker: int | None = 0, communication: Any = None
) -> tf.distribute.Strategy:
    """Makes a strategy with a replica on each GPU of TF_CONFIG's workers, in lockstep.

    Args:
      num_gpus_per_worker: has no effect: each worker uses the GPUs that it sees.
      communication: a ``tf.distribute.experimental.CommunicationImplementation``.

    Returns:
      TensorFlow's MultiWorkerMirroredStrategy.
    """
    del num_gpus_per_worker
    options = None
    if communication is not None:
        options = tf.distribute.experimental.CommunicationOptions(implementation=communication)
    return tf.distribute.MultiWorkerMirroredStrategy(communication_options=options)


def TPUStrategy(
    tpu_cluster_resolver: Any = None,
    steps_per_run: int | None = None,
    device_assignment: Any = None,
    **kwargs: Any,
) -> tf.distribute.Strategy:
    """Returns the strategy of TPUEstimator, for ``RunConfig(train_distribute=)``.

    Args:
      tpu_cluster_resolver: the resolver of the TPU, or of emulated cores.
      steps_per_run: has no effect: the hooks determine the length of a loop.
      device_assignment: not supported.
      **kwargs: have no effect.

    Returns:
      The strategy.

    Raises:
      NotImplementedError: a device_assignment is given.
      AcceleratorNotFoundError: there is no such TPU.
    """
    del steps_per_run, kwargs
    if device_assignment is not None:
        raise NotImplementedError(
            "TPUStrategy(device_assignment=...) is not supported. Leave it out, or use "
            "tf.distribute.TPUStrategy in your own loop."
        )
    return tpu_strategy(tpu_cluster_resolver)


def AllReduceCrossDeviceOps(
    all_reduce_alg: str = "nccl",
    num_packs: int = 1,
    agg_small_grads_max_bytes: int = 0,
    agg_small_grads_max_group: int = 10,
) -> Any:
    """Makes the method of summing gradients over GPUs.

    Args:
      all_reduce_alg: "nccl", or "hierarchical_copy".
      num_packs: number of pieces that gradients are packed into; 0 for none.
      agg_small_grads_max_bytes: has no effect: small gradients are packed with the others.
      agg_small_grads_max_group: has no effect either.

    Returns:
      TensorFlow's NcclAllReduce or HierarchicalCopyAllReduce.

    Raises:
      ValueError: the algorithm is another one.
    """
    del agg_small_grads_max_bytes, agg_small_grads_max_group
    methods = {
        "nccl": _v1.NcclAllReduce,
        "hierarchical_copy": _v1.HierarchicalCopyAllReduce,
    }
    if all_reduce_alg not in methods:
        raise ValueError(
            f"AllReduceCrossDeviceOps: all_reduce_alg is one of {sorted(methods)}, got "
            f"{all_reduce_alg!r}."
        )
    return methods[all_reduce_alg](num_packs=num_packs)


# Replicas were called towers until TensorFlow 1.12.


def get_cross_replica_context() -> tf.distribute.Strategy | None:
    """Returns the strategy in scope outside its replicas; otherwise None."""
    return _v1.get_strategy() if _v1.in_cross_replica_context() else None
