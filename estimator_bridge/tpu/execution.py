"""A TPU model laid out over replicas: static shapes, per-replica batches, the host's part."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import tensorflow as tf

from estimator_bridge.data import GraphInput, HostDatasets, call_input_fn, placeholders
from estimator_bridge.data.static_shapes import (
    batch_size_of,
    check_static,
    pad_batches,
    replica_spec,
)
from estimator_bridge.graph import LiftedSession, continue_trace, for_tpu
from estimator_bridge.model import (
    EstimatorSpec,
    InputPipelineConfig,
    ModeKeys,
    TPUEstimatorSpec,
    TPURunConfig,
    call_host_fn,
    describe_fn,
    fn_args,
    parse_iterations_per_loop,
)
from estimator_bridge.model.cross_shard import each_sees_all
from estimator_bridge.model.host_calls import SummaryWritersHook
from estimator_bridge.runtime import HostStage
from estimator_bridge.runtime.hosts import is_here
from estimator_bridge.tensorflow_private import cores_per_replica, eager_mode
from estimator_bridge.tpu.embedding_spec import EmbeddingConfigSpec
from estimator_bridge.tpu.embedding_tables import EmbeddingTables
from estimator_bridge.tpu.estimator_specs import (
    as_tpu_spec,
    check_joined_by_strategy,
    check_metrics_keep_count,
    cut_metrics,
    last_loss_is_sum,
    whole_loss,
)
from estimator_bridge.tpu.host_stage import Gathered, check_loss, check_padded
from estimator_bridge.tpu.layout import Feeding, Layout
from estimator_bridge.tpu.partition import flat_partitions
from estimator_bridge.tpu.refused_ops import check_ops
from estimator_bridge.tpu.sharded_input import HostInputs, PerCoreInput, ShardedInput
from estimator_bridge.tpu.short_step import ShortStep
from estimator_bridge.training.distribution.tracing import TracingStrategy
from estimator_bridge.training.execution import Execution, TracedModel, reference
from estimator_bridge.training.metrics import LOSS, add_loss_metric
from estimator_bridge.training.model_call import call_model_fn
from estimator_bridge.training.pace import Pace
from estimator_bridge.training.params import with_params
from estimator_bridge.training.program import Program, trace_program

__all__ = ["TPUExecution"]


class TPUExecution(Execution):
    """Replicas that each see their part of the batch.

    Args:
      strategy: with any number of replicas.
      config: the estimator's.
      model_fn: the user's, to trace again for a short last batch.
      params: the user's.
      batch_size: the global batch of the mode.
      batch_axis: the batch dimension of each of input_fn's tensors; None: all 0. It says how a
        host's batch is split, so it has no say where each batch is a replica's.
      is_sliced: whether input_fn makes the whole batch whatever per_host_input_for_training says.
      embeddings: the TPU embeddings' EmbeddingConfigSpec, or None.
      joins_by_strategy: whether model_fn is one for an Estimator, which leaves it to TensorFlow's
        optimizers to add up gradients, as under a strategy; its input_fn may do without params.
    """

    config: TPURunConfig

    def __init__(
        self,
        strategy: tf.distribute.Strategy,
        config: TPURunConfig,
        model_fn: Callable,
        params: Mapping[str, Any],
        batch_size: int,
        batch_axis: Any = None,
        is_sliced: bool = False,
        embeddings: EmbeddingConfigSpec | None = None,
        joins_by_strategy: bool = False,
    ):
        super().__init__(strategy, config)
        self._embeddings = embeddings
        self._tracing = TracingStrategy(strategy, partitions=True) if joins_by_strategy else None
        self.shards = self._replicas = strategy.num_replicas_in_sync
        self._model_fn, self._params = model_fn, params
        self._batch_size, self._batch_axis = batch_size, batch_axis
        self._pipeline = config.tpu_config.per_host_input_for_training
        if is_sliced:
            self._pipeline = InputPipelineConfig.PER_HOST_V1  # the same, of one host
        self._is_sliced = is_sliced
        self._layout = Layout(strategy, config.tpu_config)
        self._feedings: tuple[Feeding, ...] = ()
        self._is_whole = self._pipeline == InputPipelineConfig.BROADCAST
        self._is_dealt = False  # whether each batch that input_fn makes is one replica's
        self._valid_size: tf.Tensor | None = None
        self._short_steps: dict[int, ShortStep] = {}

    @contextlib.contextmanager
    def scope(self, mode: str) -> Iterator[None]:
        """That of a strategy, where it is to join what the replicas train."""
        joins = self._tracing and mode == ModeKeys.TRAIN
        with self._tracing.training_scope() if joins else super().scope(mode):  # type: ignore[union-attr]
            yield

    def check_hosts(self, mode: str) -> None:
        """Checks that the hosts can feed this mode; see ``Layout.check``."""
        self._layout.check(mode, self._pipeline, self._is_sliced)

    def call_input_fn(self, input_fn, graph, mode, params) -> GraphInput:
        """Calls input_fn with params['batch_size'], 'use_tpu' and 'context'."""
        if "params" not in fn_args(input_fn) and not self._tracing:
            raise ValueError(
                f"input_fn ({describe_fn(input_fn)}) does not include params argument, required by "
                'TPUEstimator to pass batch size as params["batch_size"]. Write '
                "def input_fn(params) and batch the dataset by params['batch_size']."
            )
        is_per_call = mode == ModeKeys.TRAIN and self._pipeline == InputPipelineConfig.PER_SHARD_V1
        is_per_core = self._pipeline == InputPipelineConfig.PER_HOST_V2
        self._is_dealt = is_per_call or is_per_core
        self._feedings = self._layout.feedings(
            mode, self._pipeline, self._is_sliced, self._batch_size
        )
        inputs = []
        for feeding in self._feedings:
            parts = []
            for call in feeding.calls:
                given = with_params(
                    params, batch_size=call.batch_size, use_tpu=True, context=call.context
                )
                parts.append(
                    call_input_fn(input_fn, graph, mode=mode, params=given, config=self.config)
                )
            part = ShardedInput(parts) if is_per_call else parts[0]
            if is_per_core:
                count, keep_rest = len(feeding.host.replicas), mode != ModeKeys.TRAIN
                part = PerCoreInput(part, feeding.batch_size, count, keep_rest)
            inputs.append(part)
        hosts = [feeding.host for feeding in self._feedings]
        if is_here(hosts):
            self.hosts = None
            return inputs[0]
        self.hosts = hosts
        return HostInputs(inputs, hosts)

    def batch_axes(self, graph_input: GraphInput) -> list[int | None]:
        """The batch dimension of each flat component; None for one that is not split."""
        count = len(tf.nest.flatten(graph_input.spec))
        if self._is_whole:
            axes: list[int | None] = [None] * count
        elif self._batch_axis is not None and not self._is_dealt:
            axes = tf.nest.flatten(self._batch_axis)
        else:
            axes = [0] * count
        if len(axes) != count:
            raise ValueError(
                f"batch_axis {self._batch_axis} has {len(axes)} entries, but input_fn returned "
                f"{count} tensors: {graph_input.spec}. Give one for each."
            )
        return axes

    def full_batch(self, graph_input: GraphInput, mode: str) -> int | None:
        """The size of a full batch, in an evaluation whose last batch may be short."""
        is_short = mode == ModeKeys.EVAL and self._may_be_short(graph_input)
        return self._host_batch if is_short else None

    def batch_tensors(self, graph_input: GraphInput, mode: str) -> Any:
        """Placeholders of one replica's static shapes."""
        axes, counted = self.batch_axes(graph_input), self._example_axes(graph_input)
        may_be_partial = mode != ModeKeys.TRAIN and not any(counted) and None not in counted
        check_static(graph_input.spec, may_be_partial, counted)
        self.partitions = self._partitions(graph_input)
        fed = len(self._feedings[0].host.replicas)
        spec = replica_spec(graph_input.spec, axes, fed, self._host_batch)
        self._valid_size = None
        if mode == ModeKeys.PREDICT and self._may_be_short(graph_input):
            self._valid_size = tf.compat.v1.placeholder(tf.int64, [], name="valid_size")
        return placeholders(spec)

    def dataset(self, graph_input, session: LiftedSession, mode: str) -> Any:
        """The host's batches, read ahead; padded to one size where the last may be short.

        Where other machines feed, HostDatasets of each one's own.
        """
        if isinstance(graph_input, HostInputs):
            parts = [self.dataset(part, session, mode) for part in graph_input.parts]
            devices = [host.device for host in graph_input.hosts]
            are_sized = self.full_batch(graph_input, mode) is not None
            return HostDatasets(parts, devices, are_sized)
        dataset = graph_input.dataset(session)
        if mode != ModeKeys.TRAIN and self._may_be_short(graph_input):
            dataset = pad_batches(dataset, self._host_batch)
            if mode == ModeKeys.PREDICT:
                dataset = dataset.map(_size_last)
        elif isinstance(graph_input, GraphInput) and graph_input.reads_ahead:
            return dataset  # a second buffer is a tenth of a small step's work
        return dataset.prefetch(tf.data.AUTOTUNE)

    def pace(self, mode: str, steps: int | None = None) -> Pace:
        """In training iterations_per_loop, as steps or as seconds; an evaluation is one loop."""
        if mode != ModeKeys.TRAIN:
            return Pace(steps=steps)
        loop = parse_iterations_per_loop(self.config.tpu_config.iterations_per_loop)
        if loop.unit == "seconds":
            return Pace(seconds=loop.value, hooks_wait=True)
        return Pace(steps=loop.value)

    def examples_per_step(self, graph_input: GraphInput) -> int | None:
        """The global batch."""
        return self._batch_size

    def trace(self, model_fn, features, labels, mode, params) -> TracedModel:
        """Calls model_fn for one replica, and metric_fn and host_call for the host."""
        given = with_params(
            params,
            batch_size=self._batch_size // (1 if self._is_whole else self._replicas),
            use_tpu=True,
            context=self._layout.for_model,
        )
        graph = tf.compat.v1.get_default_graph()
        tables = EmbeddingTables(self._embeddings, graph) if self._embeddings else None
        watched = tables.watched() if tables else contextlib.nullcontext()
        in_replica = contextlib.nullcontext()
        if self._tracing and mode == ModeKeys.TRAIN:
            in_replica = self._tracing.replica_context()
        with watched, in_replica, for_tpu(self.strategy), each_sees_all(self._is_whole):
            spec = call_model_fn(model_fn, features, labels, mode, given, self.config)
        check_ops(graph)
        if mode == ModeKeys.TRAIN:
            if tables:
                spec = spec._replace(train_op=tf.group(spec.train_op, *tables.train()))
            return self._trace_training(spec)
        if mode == ModeKeys.EVAL:
            return self._trace_evaluation(spec)
        return self._trace_prediction(spec)

    def evaluate_short_batch(
        self, program: Program, batch: list[tf.Tensor], fetches: Sequence[str] = ()
    ) -> dict[str, Any] | None:
        """Evaluates the last batch at its own size, with the model traced for that size.

        Its examples are divided over the replicas where they can be; else each replica sees all
        of them, and one replica's results count.
        """
        structure = tf.nest.pack_sequence_as(program.input.spec, batch)
        with eager_mode():
            elements = tf.data.Dataset.from_tensors(structure)
        return self.short_step(program, elements)(elements, fetches)

    def short_step(self, program: Program, elements: tf.data.Dataset) -> ShortStep:
        """The step for batches of the size that the elements have by their static shapes."""
        size = tf.nest.flatten(elements.element_spec)[0].shape.as_list()[0]
        if size not in self._short_steps:
            short = self.trace_short(program, elements)
            with continue_trace(short.graph, self.shards):  # tables are each trace's own
                short.session.run(tf.compat.v1.tables_initializer())
            self._short_steps[size] = ShortStep(program, short)
        return self._short_steps[size]

    def trace_short(self, program: Program, elements: tf.data.Dataset) -> Program:
        """The model traced for batches of the size that the elements have by their shapes."""
        size = tf.nest.flatten(elements.element_spec)[0].shape.as_list()[0]
        return trace_program(
            _ShortBatch(self, size),
            self._model_fn,
            lambda params: elements,
            ModeKeys.EVAL,
            self._params,
            shared=program.session.resources,
        )

    def _partitions(self, graph_input: GraphInput) -> list | None:
        """How a replica's batch is cut over its cores; None where it has one."""
        tpu_config = self.config.tpu_config
        if tpu_config.input_partition_dims is None:
            return None
        cores = tpu_config.num_cores_per_replica
        found = flat_partitions(tpu_config.input_partition_dims, graph_input.spec, cores)
        return found if cores_per_replica(self.strategy) > 1 else None

    @property
    def _host_batch(self) -> int:
        """The size of the batch that one host feeds."""
        return self._feedings[0].batch_size

    @property
    def _told_apart(self) -> int:
        """How many replicas see examples of their own; each example's results count once."""
        return 1 if self._is_whole else self._replicas

    def _may_be_short(self, graph_input: GraphInput) -> bool:
        if isinstance(graph_input, HostInputs):
            return self._may_be_short(graph_input.parts[0])
        if isinstance(graph_input, (PerCoreInput, ShardedInput)) and graph_input.is_stacked:
            return False
        return batch_size_of(graph_input.spec, self._example_axes(graph_input)) is None

    def _example_axes(self, graph_input: GraphInput) -> list[int | None]:
        """Where the examples of each component are counted, whether it is split there or not."""
        axes = self.batch_axes(graph_input)
        return [0] * len(axes) if self._is_whole else axes

    def _trace_training(self, given: EstimatorSpec | TPUEstimatorSpec) -> TracedModel:
        spec = as_tpu_spec(given)
        check_loss(spec.loss)
        loss = spec.loss
        if isinstance(given, EstimatorSpec) and not self._is_whole:
            loss = whole_loss(loss, self._replicas)
        operation = reference(spec.train_op)
        if self._tracing:
            check_joined_by_strategy(operation, self._replicas, self._is_whole)
        else:
            self._require_cross_shard_optimizer()
        gathered = Gathered(self._replicas)
        host, hooks = self._host_call(spec, gathered)
        whole = EstimatorSpec(
            spec.mode,
            loss=loss,
            train_op=spec.train_op,
            training_hooks=(*spec.training_hooks, *hooks),
            scaffold=spec.scaffold_fn() if spec.scaffold_fn else None,
        )
        every = self.config.tpu_config.experimental_host_call_every_n_steps
        stage = HostStage(gathered.inputs, tuple(host), every_n_steps=every) if host else None
        return TracedModel(whole, [operation], loss.name, host=stage)

    def _trace_evaluation(self, given: EstimatorSpec | TPUEstimatorSpec) -> TracedModel:
        spec = as_tpu_spec(given)
        check_loss(spec.loss)
        gathered = Gathered(self._told_apart)
        operations, hooks = self._host_call(spec, gathered)
        metrics, counted, checks = {}, None, []
        if isinstance(given, EstimatorSpec):
            metrics = given.eval_metric_ops
            check_metrics_keep_count(given, self._replicas)
            counted = cut_metrics(given)
            checks = list(counted.checks)
        elif spec.eval_metrics:
            function, tensors = spec.eval_metrics
            metrics = call_host_fn(function, gathered.structure("eval_metrics[1]", tensors))
        losses = gathered.tensor("loss", tf.reshape(spec.loss, [1]))
        is_sum = isinstance(given, EstimatorSpec) and last_loss_is_sum()
        whole = EstimatorSpec(
            spec.mode,
            loss=spec.loss,
            eval_metric_ops=metrics,
            evaluation_hooks=(*spec.evaluation_hooks, *hooks),
            scaffold=spec.scaffold_fn() if spec.scaffold_fn else None,
        )
        whole = add_loss_metric(whole, (tf.reduce_sum if is_sum else tf.reduce_mean)(losses))
        own = {LOSS} if counted else whole.eval_metric_ops.keys()
        updates = [whole.eval_metric_ops[name][1] for name in whole.eval_metric_ops if name in own]
        operations += [reference(update) for update in tf.nest.flatten(updates)]
        stage = HostStage(gathered.inputs, tuple(operations), self._is_whole, counted=counted)
        return TracedModel(whole, checks, None, host=stage)

    def _trace_prediction(self, given: EstimatorSpec | TPUEstimatorSpec) -> TracedModel:
        spec = as_tpu_spec(given)
        predictions = spec.predictions
        if isinstance(given, EstimatorSpec) and not isinstance(predictions, Mapping):
            predictions = {"": predictions}
        if not isinstance(predictions, Mapping):
            raise TypeError(
                "TPUEstimatorSpec.predictions must be dict of Tensors, got "
                f"{type(predictions).__name__}. Return {{'predictions': tensor}}."
            )
        gathered = Gathered(self._told_apart)
        outputs = {
            key: gathered.tensor(f"predictions[{key!r}]", tensor)
            for key, tensor in predictions.items()
        }
        if self._valid_size is not None:
            check_padded(predictions, self._batch_size // self._told_apart)
        operations, hooks = self._host_call(spec, gathered)
        whole = EstimatorSpec(
            spec.mode,
            predictions=spec.predictions,
            prediction_hooks=(*spec.prediction_hooks, *hooks),
            scaffold=spec.scaffold_fn() if spec.scaffold_fn else None,
        )
        stage = HostStage(gathered.inputs, tuple(operations), self._is_whole)
        return TracedModel(whole, [], None, outputs, self._valid_size, stage)

    def _host_call(self, spec: TPUEstimatorSpec, gathered: Gathered) -> tuple[list[str], list]:
        """What the host runs for the host_call, and the hook that keeps its summary writers."""
        if not spec.host_call:
            return [], []
        function, tensors = spec.host_call
        result = call_host_fn(function, gathered.structure("host_call[1]", tensors))
        if result is None:
            raise TypeError(
                f"host_call's function ({describe_fn(function)}) returned None, so there is "
                "nothing to run. Return its operations, for summaries "
                "tf.compat.v1.summary.all_v2_summary_ops()."
            )
        elements = tf.nest.flatten(result)
        return [reference(element) for element in elements], [SummaryWritersHook()]

    def _require_cross_shard_optimizer(self) -> None:
        operations = tf.compat.v1.get_default_graph().get_operations()
        if self._replicas > 1 and not any(op.type == "CrossReplicaSum" for op in operations):
            raise ValueError(
                "CrossShardOptimizer must be used for model training on TPUs: the model has no "
                f"sum over its {self._replicas} replicas, so their weights would drift apart. Wrap "
                "the optimizer: optimizer = estimator_bridge.tpu.CrossShardOptimizer(optimizer)."
            )


class _ShortBatch(TPUExecution):
    """The layout of one evaluation batch that is smaller than the others."""

    def __init__(self, whole: TPUExecution, size: int):
        super().__init__(
            whole.strategy,
            whole.config,
            whole._model_fn,
            whole._params,
            size,
            is_sliced=True,  # the batch is put together already
            embeddings=whole._embeddings,
            joins_by_strategy=whole._tracing is not None,
        )
        self.step_label = f", last batch of {size}"
        if whole._is_whole or size % self._replicas:
            self._is_whole = True


def _size_last(size: tf.Tensor, batch: Any) -> tuple[Any, tf.Tensor]:
    return batch, size
