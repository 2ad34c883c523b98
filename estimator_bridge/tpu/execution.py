"""The execution of a TPU model on replicas: static shapes, per-replica batches, the host's part."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import tensorflow as tf

from estimator_bridge.data import BatchInput, call_input_fn
from estimator_bridge.graph import for_tpu
from estimator_bridge.model import (
    InputPipelineConfig,
    ModeKeys,
    TPURunConfig,
    describe_fn,
    fn_args,
    parse_iterations_per_loop,
)
from estimator_bridge.model.cross_shard import each_sees_all
from estimator_bridge.tensorflow_private.strategies import cores_per_replica
from estimator_bridge.tpu.embedding_features import embedding_features
from estimator_bridge.tpu.embedding_spec import EmbeddingConfigSpec
from estimator_bridge.tpu.embedding_tables import EmbeddingTables
from estimator_bridge.tpu.global_batch import GlobalBatch, plan_of_replicas
from estimator_bridge.tpu.input_layout import InputCall, Layout
from estimator_bridge.tpu.input_partitions import flat_partitions
from estimator_bridge.tpu.packed_ids import pack_ids
from estimator_bridge.tpu.traced_modes import (
    Replicas,
    trace_evaluation,
    trace_prediction,
    trace_training,
)
from estimator_bridge.tpu.unsupported_ops import check_ops
from estimator_bridge.training.distribution.tracing_strategy import TracingStrategy
from estimator_bridge.training.execution import Execution, TracedModel
from estimator_bridge.training.input_plan import InputPlan, TracedBatch
from estimator_bridge.training.loop_limits import LoopLimits
from estimator_bridge.training.model_call import call_model_fn
from estimator_bridge.training.params import with_params

__all__ = ["TPUExecution"]


class TPUExecution(Execution):
    """An Execution on replicas that each process their part of the batch.

    Args:
      strategy: a strategy with any number of replicas.
      config: the estimator's.
      batch: the global batch of the mode.
      embeddings: the TPU embeddings' EmbeddingConfigSpec, or None.
      joins_by_strategy: whether model_fn was written for an Estimator: TensorFlow's optimizers sum
        gradients, as under a strategy, and input_fn need not take params.
      step_label: a label that distinguishes the step from others of its mode.
    """

    config: TPURunConfig

    def __init__(
        self,
        strategy: tf.distribute.Strategy,
        config: TPURunConfig,
        batch: GlobalBatch,
        embeddings: EmbeddingConfigSpec | None = None,
        joins_by_strategy: bool = False,
        step_label: str = "",
    ):
        super().__init__(strategy, config)
        self._embeddings, self._batch, self.step_label = embeddings, batch, step_label
        self.has_embedding_tables = embeddings is not None
        self._tracing = TracingStrategy(strategy, partitions=True) if joins_by_strategy else None
        self.shards = strategy.num_replicas_in_sync
        self.sees_all = batch.is_whole and self.shards > 1
        self._layout = Layout(strategy, config.tpu_config)

    @contextlib.contextmanager
    def scope(self, mode: str) -> Iterator[None]:
        """The scope of a strategy, if the strategy combines the replicas' gradients."""
        joins = self._tracing and mode == ModeKeys.TRAIN
        with self._tracing.training_scope() if joins else super().scope(mode):  # type: ignore[union-attr]
            yield

    def check_hosts(self, mode: str) -> None:
        """Checks that the hosts can feed this mode; see ``Layout.check``."""
        self._layout.check(mode, self._batch.pipeline, self._batch.is_sliced)

    def plan_input(
        self, input_fn: Callable, graph: tf.Graph, mode: str, params: Mapping[str, Any]
    ) -> InputPlan:
        """Calls input_fn with 'batch_size', 'use_tpu' and 'context' in params."""
        if "params" not in fn_args(input_fn) and not self._tracing:
            raise ValueError(
                f"input_fn ({describe_fn(input_fn)}) does not include params argument, required by "
                'TPUEstimator to pass batch size as params["batch_size"]. Write '
                "def input_fn(params) and batch the dataset by params['batch_size']."
            )

        def call(one: InputCall) -> BatchInput:
            call_params = with_params(
                params, batch_size=one.batch_size, use_tpu=True, context=one.context
            )
            part = call_input_fn(input_fn, graph, mode=mode, params=call_params, config=self.config)
            if not self._embeddings:
                return part
            full = one.batch_size if mode == ModeKeys.TRAIN else None
            return pack_ids(part, embedding_features(self._embeddings), full)

        return plan_of_replicas(self._batch, self._layout, mode, call, self._partitions)

    def loop_limits(self, mode: str, steps: int | None = None) -> LoopLimits:
        """Returns the limits of a loop: iterations_per_loop in training, else the given steps."""
        if mode != ModeKeys.TRAIN:
            return LoopLimits(steps=steps)
        loop = parse_iterations_per_loop(self.config.tpu_config.iterations_per_loop)
        if loop.unit == "seconds":
            return LoopLimits(seconds=loop.value, hooks_wait=True)
        return LoopLimits(steps=loop.value)

    def trace(
        self, model_fn: Callable, batch: TracedBatch, mode: str, params: Mapping[str, Any]
    ) -> TracedModel:
        """Calls model_fn for one replica, and metric_fn and host_call for the host."""
        replicas = Replicas(self.strategy.num_replicas_in_sync, self._batch.is_whole)
        size = self._batch.size // replicas.distinct_replicas
        model_params = with_params(
            params, batch_size=size, use_tpu=True, context=self._layout.for_model
        )
        graph = tf.compat.v1.get_default_graph()
        tables = EmbeddingTables(self._embeddings, graph) if self._embeddings else None
        watch_tables = tables.watch() if tables else contextlib.nullcontext()
        in_replica = contextlib.nullcontext()
        if self._tracing and mode == ModeKeys.TRAIN:
            in_replica = self._tracing.replica_context()
        with watch_tables, in_replica, for_tpu(self.strategy), each_sees_all(replicas.are_whole):
            features, labels = batch.features, batch.labels
            spec = call_model_fn(model_fn, features, labels, mode, model_params, self.config)
        check_ops(graph)
        if mode == ModeKeys.TRAIN:
            if tables:
                spec = spec._replace(train_op=tf.group(spec.train_op, *tables.train()))
            every = self.config.tpu_config.experimental_host_call_every_n_steps
            return trace_training(spec, replicas, self._tracing is not None, every)
        if mode == ModeKeys.EVAL:
            return trace_evaluation(spec, replicas)
        return trace_prediction(spec, replicas, None if batch.valid_size is None else size)

    def for_batch_of(self, size: int) -> TPUExecution:
        """Returns the execution of an evaluation's last batch, if it is smaller than the others.

        The batch is complete. It is split over the replicas if their number divides its size;
        otherwise each replica sees all of it.

        Args:
          size: the size of the last global batch.
        """
        is_whole = self._batch.is_whole or size % self.strategy.num_replicas_in_sync
        kind = InputPipelineConfig.BROADCAST if is_whole else InputPipelineConfig.PER_HOST_V1
        return TPUExecution(
            self.strategy,
            self.config,
            GlobalBatch(size, pipeline=kind, is_sliced=True),
            self._embeddings,
            self._tracing is not None,
            f", last batch of {size}",
        )

    def _partitions(self, spec: Any) -> list | None:
        """Returns the division of a replica's batch over its cores; None for one core."""
        tpu_config = self.config.tpu_config
        if tpu_config.input_partition_dims is None:
            return None
        cores = tpu_config.num_cores_per_replica
        partitions = flat_partitions(tpu_config.input_partition_dims, spec, cores)
        return partitions if cores_per_replica(self.strategy) > 1 else None
