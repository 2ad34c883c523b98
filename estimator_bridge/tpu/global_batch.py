"""A mode's global batch on a TPU, and the plan of the input that makes it."""

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
    """A mode's global batch, and how calls of an input_fn make it.

    Attributes:
      size: of the global batch.
      axis: the batch dimension of each of input_fn's tensors; None: all 0. It says how a host's
        batch is split, so it has no say where each batch is a replica's.
      pipeline: one of InputPipelineConfig: which host calls the input_fn for what.
      is_sliced: whether one call makes the global batch, to be split over all replicas.
    """

    size: int
    axis: Any = None
    pipeline: int = InputPipelineConfig.PER_HOST_V1
    is_sliced: bool = False

    @classmethod
    def of(cls, config: TPUConfig, size: int, axis: Any = None, is_sliced: bool = False):
        """Returns the global batch of a TPUConfig; a sliced one counts as PER_HOST_V1."""
        usual = config.per_host_input_for_training
        return cls(size, axis, InputPipelineConfig.PER_HOST_V1 if is_sliced else usual, is_sliced)

    @property
    def is_whole(self) -> bool:
        """Whether each replica sees the whole batch."""
        return self.pipeline == InputPipelineConfig.BROADCAST

    def axes(self, spec: Any, is_dealt: bool) -> list[int | None]:
        """The batch dimension of each flat component; None for one that is not split.

        Args:
          spec: of a host's batch.
          is_dealt: whether each batch that the input_fn makes is one replica's.

        Raises:
          ValueError: there are more tensors, or fewer, than entries in ``axis``.
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
                f"{count} tensors: {spec}. Give one for each."
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
      replicas: who shares it, and the hosts that feed them.
      mode: one of ModeKeys.
      call: calls the input_fn.
      partition: how a replica's batch of such a spec is cut over its cores.

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
    given = inputs[0] if are_here else HostInputs(inputs, hosts)
    axes = batch.axes(given.spec, is_per_call or is_per_core)
    # Where the examples of each component are counted, whether it is split there or not.
    counted: list[int | None] = [0] * len(axes) if batch.is_whole else axes
    may_be_partial = not is_training and not any(counted) and None not in counted
    check_static(given.spec, may_be_partial, counted)
    partitions, size = partition(given.spec), feedings[0].batch_size
    spec = replica_spec(given.spec, axes, len(feedings[0].host.replicas), size)
    may_be_short = not (is_training or given.is_stacked)
    is_padded = may_be_short and batch_size_of(given.spec, counted) is None
    if is_padded and mode == ModeKeys.PREDICT:
        axes = [*axes, None]  # of the batch's size, which every replica is told
    return InputPlan(
        given,
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
