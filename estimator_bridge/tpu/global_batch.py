"""The global batch of a mode on a TPU, and the plan of its input."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import tensorflow as tf

from estimator_bridge.data import BatchInput
from estimator_bridge.data.static_shapes import batch_size_of, check_static, replica_spec
from estimator_bridge.model import InputPipelineConfig, ModeKeys
from estimator_bridge.model.tpu_config import TPUConfig
from estimator_bridge.runtime import BatchLayout
from estimator_bridge.runtime.hosts import is_here
from estimator_bridge.tpu.input_layout import Feeding, InputCall, Layout
from estimator_bridge.tpu.sharded_input import HostInputs, PerCoreInput, ShardedInput
from estimator_bridge.training.input_plan import InputPlan

__all__ = ["GlobalBatch", "plan_of_replicas"]


@dataclasses.dataclass(frozen=True)
class GlobalBatch:
    """The global batch of a mode, and its division into calls of an input_fn.

    Attributes:
      size: the global batch size.
      axis: the batch dimension of each tensor of input_fn; None means 0 for all. A host's batch is
        split along it. It is ignored if input_fn returns a replica's batch.
      pipeline: a value of InputPipelineConfig: the hosts that call input_fn, and the batch that a
        call returns.
      is_sliced: whether one call returns the global batch, which is split over all replicas.
    """

    size: int
    axis: Any = None
    pipeline: int = InputPipelineConfig.PER_HOST_V1
    is_sliced: bool = False

    @classmethod
    def of(cls, config: TPUConfig, size: int, axis: Any = None, is_sliced: bool = False):
        """Returns the global batch of a TPUConfig; a sliced batch counts as PER_HOST_V1."""
        usual = config.per_host_input_for_training
        return cls(size, axis, InputPipelineConfig.PER_HOST_V1 if is_sliced else usual, is_sliced)

    @property
    def is_whole(self) -> bool:
        """Whether each replica sees the global batch."""
        return self.pipeline == InputPipelineConfig.BROADCAST

    def axes(self, spec: Any, is_dealt: bool) -> list[int | None]:
        """Returns the batch dimension of each flat component; None for one that is not split.

        Args:
          spec: TensorSpecs of a host's batch.
          is_dealt: whether each batch that input_fn returns is one replica's.

        Raises:
          ValueError: the number of tensors differs from the number of entries in ``axis``.
        """
        count = len(tf.nest.flatten(spec))
        if self.is_whole:
            return [None] * count
        axes: list[int | None] = [0] * count
        if self.axis is not None and not is_dealt:
            axes = tf.nest.flatten(self.axis)
        if len(axes) != count:
            raise ValueError(
                f"batch_axis {self.axis} has {len(axes)} entries, but input_fn returned "
                f"{count} tensors: {spec}. Give one entry for each tensor."
            )
        return axes


def plan_of_replicas(
    batch: GlobalBatch,
    replicas: Layout,
    mode: str,
    call: Callable[[InputCall], BatchInput],
    partition: Callable[[Any], list | None],
) -> InputPlan:
    """Calls an input_fn for each host, and plans how the replicas' steps read the batches.

    Args:
      batch: the global batch.
      replicas: the replicas that share it, and the hosts that feed them.
      mode: one of ModeKeys.
      call: calls the input_fn.
      partition: returns the division of a replica's batch over its cores, given its TensorSpecs.

    Raises:
      ValueError: shapes are not static, or the batch cannot be divided.
    """
    is_training = mode == ModeKeys.TRAIN
    is_per_call = is_training and batch.pipeline == InputPipelineConfig.PER_SHARD_V1
    is_per_core = batch.pipeline == InputPipelineConfig.PER_HOST_V2
    feedings = replicas.feedings(mode, batch.pipeline, batch.is_sliced, batch.size)

    def input_of(feeding: Feeding) -> BatchInput:
        parts = [call(one) for one in feeding.calls]
        part = ShardedInput(parts) if is_per_call else parts[0]
        if is_per_core:
            count = len(feeding.host.replicas)
            part = PerCoreInput(part, feeding.batch_size, count, keep_rest=not is_training)
        return part

    inputs, hosts = [input_of(feeding) for feeding in feedings], [f.host for f in feedings]
    are_here = is_here(hosts)
    whole = inputs[0] if are_here else HostInputs(inputs, hosts)
    axes = batch.axes(whole.spec, is_per_call or is_per_core)
    # The dimension of each component's examples, whether it is split there or not.
    batch_axes: list[int | None] = [0] * len(axes) if batch.is_whole else axes
    may_be_partial = not is_training and not any(batch_axes) and None not in batch_axes
    check_static(whole.spec, may_be_partial, batch_axes)
    partitions, size = partition(whole.spec), feedings[0].batch_size
    spec = replica_spec(whole.spec, axes, len(feedings[0].host.replicas), size)
    may_be_short = not (is_training or whole.is_stacked)
    is_padded = may_be_short and batch_size_of(whole.spec, batch_axes) is None
    if is_padded and mode == ModeKeys.PREDICT:
        axes = [*axes, None]  # the batch's size, which every replica receives
    return InputPlan(
        whole,
        BatchLayout(
            axes,
            hosts=None if are_here else hosts,
            partitions=partitions,
            full_batch=size if is_padded and mode == ModeKeys.EVAL else None,
        ),
        replicas.replicas,
        batch.size,
        replica_spec=spec,
        padded_to=size if is_padded else None,
        prefetches=True,
    )
