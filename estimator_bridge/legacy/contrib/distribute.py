"""tf.contrib.distribute: what became tf.distribute, with the arguments that it had."""

from __future__ import annotations

import collections
from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from estimator_bridge.errors import AcceleratorNotFoundError
from estimator_bridge.legacy.contrib.namespaces import NAMESPACES
from estimator_bridge.runtime import tpu_strategy
from estimator_bridge.tensorflow_private import eager_mode

__all__, __getattr__, __dir__ = NAMESPACES["distribute"].opened()

_v1 = tf.compat.v1.distribute


class DistributeConfig(
    collections.namedtuple(
        "DistributeConfig",
        ["train_distribute", "eval_distribute", "remote_cluster"],
        defaults=(None, None, None),
    )
):
    """What RunConfig(experimental_distribute=) takes.

    Args:
      train_distribute: the strategy to train under.
      eval_distribute: the strategy to evaluate under.
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
    """A replica of the model on each of several GPUs, which step together.

    Args:
      devices: by name; by default all GPUs, or the CPU where there is none.
      num_gpus: how many GPUs, in the place of ``devices``; 0 is the CPU.
      num_gpus_per_worker: the same, by its later name.
      cross_device_ops: how gradients are added up.
      auto_shard_dataset: of no effect: the input_fn of each worker may ask its input_context.
      cross_tower_ops: the older name of ``cross_device_ops``.

    Returns:
      TensorFlow's MirroredStrategy.

    Raises:
      ValueError: two of ``devices``, ``num_gpus`` and ``num_gpus_per_worker`` are given.
      AcceleratorNotFoundError: there are fewer GPUs.
    """
    del auto_shard_dataset
    given = [name for name in (devices, num_gpus, num_gpus_per_worker) if name is not None]
    if len(given) > 1:
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
        found = tf.config.list_logical_devices("GPU")
    if len(found) < count:
        raise AcceleratorNotFoundError(
            f"MirroredStrategy was asked for {count} GPU(s), but TensorFlow sees {len(found)}. "
            "Check nvidia-smi and CUDA_VISIBLE_DEVICES. To run on the CPU, pass num_gpus=0; or "
            "leave it out, and the strategy takes what is there."
        )
    return [f"/device:GPU:{i}" for i in range(count)]


def CollectiveAllReduceStrategy(
    num_gpus_per_worker: int | None = None, communication: Any = None
) -> tf.distribute.Strategy:
    """A replica on each GPU of each worker that TF_CONFIG names, which step together.

    Args:
      num_gpus_per_worker: of no effect: each worker takes the GPUs that it sees.
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
    """The strategy that TPUEstimator uses, for ``RunConfig(train_distribute=)``.

    Args:
      tpu_cluster_resolver: of the TPU, or of emulated cores.
      steps_per_run: of no effect: how long a loop runs follows from the hooks.
      device_assignment: not supported.
      **kwargs: of no effect.

    Returns:
      The strategy.

    Raises:
      NotImplementedError: a device_assignment was given.
      AcceleratorNotFoundError: there is no such TPU.
    """
    del steps_per_run, kwargs
    if device_assignment is not None:
        raise NotImplementedError(
            "TPUStrategy(device_assignment=...) is not supported. Leave it out, or use "
            "tf.distribute.TPUStrategy in a loop of your own."
        )
    return tpu_strategy(tpu_cluster_resolver)


def AllReduceCrossDeviceOps(
    all_reduce_alg: str = "nccl",
    num_packs: int = 1,
    agg_small_grads_max_bytes: int = 0,
    agg_small_grads_max_group: int = 10,
) -> Any:
    """How gradients are added up over GPUs.

    Args:
      all_reduce_alg: "nccl", or "hierarchical_copy".
      num_packs: into how many pieces they are put together; 0: none.
      agg_small_grads_max_bytes: of no effect: small gradients are packed with the others.
      agg_small_grads_max_group: likewise.

    Returns:
      TensorFlow's NcclAllReduce or HierarchicalCopyAllReduce.

    Raises:
      ValueError: another algorithm was asked for.
    """
    del agg_small_grads_max_bytes, agg_small_grads_max_group
    known = {
        "nccl": _v1.NcclAllReduce,
        "hierarchical_copy": _v1.HierarchicalCopyAllReduce,
    }
    if all_reduce_alg not in known:
        raise ValueError(
            f"AllReduceCrossDeviceOps: all_reduce_alg is one of {sorted(known)}, got "
            f"{all_reduce_alg!r}."
        )
    return known[all_reduce_alg](num_packs=num_packs)


# Replicas were called towers until TensorFlow 1.12.


def get_cross_replica_context() -> tf.distribute.Strategy | None:
    """The strategy whose scope this is, where no replica's part is run; else None."""
    return _v1.get_strategy() if _v1.in_cross_replica_context() else None
