"""A model in one mode: traced, with a session, ready to run steps."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import tensorflow as tf
from tensorflow.compat.v1 import logging

from estimator_bridge.checkpoint import CheckpointingSession
from estimator_bridge.compile_for import current_job
from estimator_bridge.data import GraphInput, drawing_nodes
from estimator_bridge.errors import NotCompilableError
from estimator_bridge.graph import (
    InputPart,
    LiftedSession,
    Resources,
    SessionInput,
    is_on_tpu,
    trace_graph,
)
from estimator_bridge.model import MODE_NAMES, EstimatorSpec, ModeKeys
from estimator_bridge.runtime import BatchLayout, LoopRequest, Step, StepLoop, StepOutputs
from estimator_bridge.tensorflow_private import eager_mode, global_step_read
from estimator_bridge.tpu_presence import CHECKS_TPU
from estimator_bridge.training.compile_steps import compile_loop
from estimator_bridge.training.execution import Execution, TracedModel
from estimator_bridge.training.initialize import prepare_saver, with_default_local_init
from estimator_bridge.training.metrics import metric_values

__all__ = ["Program", "split_batch_structure", "trace_program"]

_v1 = tf.compat.v1


@dataclasses.dataclass
class Program:
    """A traced model.

    Attributes:
      execution: how it is laid out.
      mode: one of ModeKeys.
      graph: the traced graph.
      session: over it.
      input: what the input_fn returned.
      input_session: over the graph in which the input_fn was called; ``session`` unless the
        program is used again for another input.
      inputs: the graph's tensors that a batch's flat components stand for, by reference.
      traced: the model_fn's result.
      scaffold: the model's, or a default one.
      results: in evaluation, the tensors to compute in the end.
      loops: those that ``kept_loop`` made.
      loops_with_outputs: those that ``kept_loop_with_outputs`` made.
      is_checked: whether XLA has compiled the step as for a TPU, see `--check-tpu`.
      is_compiled: whether a TPU's compiler has compiled the step, see `--compile-for`.
    """

    execution: Execution
    mode: str
    graph: tf.Graph
    session: LiftedSession
    input: GraphInput
    input_session: LiftedSession
    inputs: list[str]
    traced: TracedModel
    scaffold: Any
    results: dict[str, Any]
    loops: dict[Any, StepLoop] = dataclasses.field(default_factory=dict)
    loops_with_outputs: dict[Any, StepLoop] = dataclasses.field(default_factory=dict)
    is_checked: bool = False
    is_compiled: bool = False

    def dataset(self) -> tf.data.Dataset:
        """The input's batches as the compiled loop takes them; the session is initialised."""
        return self._with_threads(
            lambda: self.execution.dataset(self.input, self.input_session, self.mode)
        )

    def read_input(self, make_iterator: Callable[[Any], Any] = iter) -> SessionInput:
        """Lets the steps, and the runs of the session, draw from one iterator.

        Args:
          make_iterator: of a dataset, ``DividedDatasets`` or ``HostDatasets``. It is called when
            the first batch is about to be drawn.

        Returns:
          What has the iterator.
        """
        execution, divides = self.execution, self.execution.divides_input
        is_whole = not divides or self.input.is_whole
        static = [self._whole_part] if is_whole else self.input.drawn_parts()

        def open_input() -> tuple[Any, Sequence[InputPart]]:
            if divides:
                dataset, parts = self._with_threads(
                    lambda: self.input.datasets(self.input_session, static)
                )
            else:
                dataset, parts = self.dataset(), static
            with eager_mode():
                return make_iterator(dataset), parts

        refusal = execution.why_sessions_cannot_draw(self.input, self.mode)
        found = SessionInput(static, open_input, refusal, divides)
        self.session.input = found
        return found

    @property
    def _whole_part(self) -> InputPart:
        tensors = [self.graph.get_tensor_by_name(name) for name in self.inputs if " " not in name]
        return InputPart(drawing_nodes(tensors), tuple(self.inputs))

    def _with_threads(self, make: Callable[[], Any]) -> Any:
        """What ``make`` makes of the input, whose threads run then."""
        if self.input_session is not self.session:
            with self.input_session.graph.as_default():
                init = [_v1.local_variables_initializer(), _v1.tables_initializer()]
                self.input_session.run(init)
        # Datasets put their functions into the default graph too; the model's is finished.
        with tf.Graph().as_default(), eager_mode():
            made = make()
        self.input_session.queues.start(self.input_session, self.input.needless_runners())
        return made

    @property
    def is_stopped(self) -> bool:
        """Whether the input's threads were told to stop, by a hook or an error of theirs."""
        sessions = {self.session, self.input_session}
        return any(session.queues.coordinator.should_stop() for session in sessions)

    def check_input(self) -> None:
        """Raises the error that ended a thread of the input, if one did."""
        self.input_session.queues.check()

    def end_input(self) -> None:
        """Stops the input's threads."""
        for session in {self.session, self.input_session}:
            session.end_input()

    def with_input(self, input_fn: Callable, params: Mapping[str, Any]) -> Program | None:
        """The same program for what another input_fn, or another call of it, returns.

        Returns:
          None where that has another structure than the program was traced for.
        """
        with trace_graph(self.execution.config.tf_random_seed, self.execution.shards) as graph:
            _v1.train.create_global_step(graph)
            graph_input = self.execution.call_input_fn(input_fn, graph, self.mode, params)
        is_like = graph_input.spec == self.input.spec and not graph_input.has_plain_values
        may_be_divided = self.execution.divides_input
        are_whole = not may_be_divided or (graph_input.is_whole and self.input.is_whole)
        if not (is_like and are_whole):
            return None
        session = LiftedSession(graph, self.execution.strategy)
        return dataclasses.replace(self, input=graph_input, input_session=session)

    @property
    def spec(self) -> EstimatorSpec:
        """The model's spec."""
        return self.traced.spec

    @property
    def global_step(self) -> int:
        """The global step as the variable has it now."""
        name = _v1.train.get_global_step(self.graph).op.name
        self.session.resources.prepare({name + ":0"})
        variable = self.session.resources.first_copy(name)
        with eager_mode():
            return int(variable.read_value())

    def make_loop(
        self,
        fetches: Sequence[str] = (),
        fed: Sequence[str] = (),
        sums: Sequence[str] = (),
        **options: Any,
    ) -> StepLoop:
        """A compiled loop of the model's step that also returns these fetches.

        Args:
          fetches: references.
          fed: references that calls feed.
          sums: see ``LoopRequest``.
          **options: further fields of ``LoopRequest``.
        """
        step = _v1.train.get_global_step(self.graph).op.name

        execution, traced = self.execution, self.traced
        counter = step if self.mode == ModeKeys.TRAIN else None
        layout = BatchLayout(
            self._axes(),
            execution.elements,
            execution.hosts,
            execution.partitions,
            execution.full_batch(self.input, self.mode),
        )

        def make(**more: Any) -> StepLoop:
            return StepLoop(
                self.session,
                execution.strategy,
                Step(self.inputs, traced.operations, traced.loss, traced.host, counter),
                layout,
                LoopRequest(fetches, fed, sums, **options, **more),
            )

        is_wish = self.wants_xla and "jit_compile" not in options
        loop = _compiled_if_possible(make) if is_wish else make()
        if os.environ.get(CHECKS_TPU) and self.execution.shards is not None:
            self._check_for_tpu(loop)
        self._compile_for_tpu(loop)
        return loop

    def _compile_for_tpu(self, loop: StepLoop) -> None:
        """Has a TPU's compiler compile the step, once, before it runs; see `--compile-for`."""
        job = current_job()
        if job is None or job.request.only or self.is_compiled or self.execution.shards is None:
            return
        compile_loop(job, self, loop)
        self.is_compiled = True

    def _check_for_tpu(self, loop: StepLoop) -> None:
        """Lets XLA compile the step, once: loops differ in what they fetch."""
        if self.is_checked or is_on_tpu(self.execution.strategy):
            return
        loop.check_compiles(for_tpu=True)
        self.is_checked = True
        count, name = len(loop.names), MODE_NAMES[self.mode]
        logging.info("XLA compiles the %s step for a TPU: %d operations.", name, count)

    def kept_loop(
        self, fetches: Sequence[str] = (), fed: Sequence[str] = (), sums: Sequence[str] = ()
    ) -> StepLoop:
        """``make_loop``, but the program, and one that stands for it, compiles each loop once."""
        key = tuple(fetches), tuple(fed), tuple(sums)
        if key not in self.loops:
            self.loops[key] = self.make_loop(fetches, fed, sums)
        return self.loops[key]

    def kept_loop_with_outputs(self, fetches: Sequence[str]) -> StepLoop:
        """A kept loop that returns what is fetched of each of its steps."""
        key = tuple(fetches)
        if key not in self.loops_with_outputs:
            tensors = map(self.graph.get_tensor_by_name, fetches)
            outputs = StepOutputs([tf.TensorSpec(t.shape, t.dtype) for t in tensors])
            self.loops_with_outputs[key] = self.make_loop(fetches, outputs=outputs)
        return self.loops_with_outputs[key]

    @property
    def wants_xla(self) -> bool:
        """Whether RunConfig's session_config turns XLA on (global_jit_level ON_1 or ON_2).

        On a TPU all is compiled by XLA in any case.
        """
        config = self.execution.config.session_config
        if is_on_tpu(self.execution.strategy):
            return False
        return bool(config and config.graph_options.optimizer_options.global_jit_level > 0)

    def _axes(self) -> list[int | None] | None:
        axes = self.execution.batch_axes(self.input)
        return axes if axes is None else [*axes, *[None] * (len(self.inputs) - len(axes))]

    def close(self) -> None:
        """Stops the input's threads and frees the variables."""
        self.input_session.close()
        self.session.close()


def _compiled_if_possible(make: Callable[..., StepLoop]) -> StepLoop:
    """A wish, as it was of a session: what XLA cannot compile runs all the same."""
    try:
        loop = make(jit_compile=True)
        loop.check_compiles()
        return loop
    except NotCompilableError as error:
        logging.warning("session_config asks for XLA, but a step runs without it. %s", error)
        return make()


def split_batch_structure(batch: Any) -> tuple[Any, Any]:
    """Features and labels of what an input_fn gives: labels are None where there are none."""
    if not isinstance(batch, (tuple, list)):  # named tuples too
        return batch, None
    return batch[0], batch[1] if len(batch) > 1 else None  # a spec leaves labels of None out


def trace_program(
    execution: Execution,
    model_fn: Callable,
    input_fn: Callable,
    mode: str,
    params: Mapping[str, Any],
    after_model: Callable[[], None] | None = None,
    shared: Resources | None = None,
) -> Program:
    """Calls input_fn and model_fn in a new graph, as the original did and in its order.

    Args:
      execution: how the model is laid out.
      model_fn: checked.
      input_fn: the user's.
      mode: one of ModeKeys.
      params: a copy of its own for this call.
      after_model: called in the graph after model_fn, for warm start.
      shared: of another trace of the same model, whose variables are used.
    """
    config = execution.config
    if config.device_fn is not None:
        logging.log_first_n(
            logging.WARN,
            "RunConfig's device_fn sets the devices of the traced graph's operations; what runs is "
            "placed by the strategy, not by them.",
            1,
        )
    with (
        trace_graph(config.tf_random_seed, execution.shards) as graph,
        execution.scope(mode),
        _v1.device(config.device_fn),
    ):
        use_resource = True if execution.step_is_resource else None
        with _v1.variable_scope(_v1.get_variable_scope(), use_resource=use_resource):
            _v1.train.create_global_step(graph)
        if mode == ModeKeys.TRAIN:
            global_step_read(graph)
        graph_input = execution.call_input_fn(input_fn, graph, mode, params)
        batch = execution.batch_tensors(graph_input, mode)
        inputs = graph_input.names_of(batch)
        features, labels = split_batch_structure(batch)
        if mode == ModeKeys.PREDICT:
            labels = None
            _warn_of_no_end(graph_input)
        traced = execution.trace(model_fn, features, labels, mode, params)
        if traced.valid_size is not None:
            inputs.append(traced.valid_size.name)
        if after_model:
            after_model()
        if mode == ModeKeys.TRAIN:
            _add_loss_summary(traced.spec.loss)
        results = metric_values(traced.spec) if mode == ModeKeys.EVAL else {}
        scaffold = traced.spec.scaffold or _v1.train.Scaffold()
        if mode == ModeKeys.EVAL:
            scaffold = with_default_local_init(scaffold)
        prepare_saver(scaffold, config.keep_checkpoint_max, config.keep_checkpoint_every_n_hours)
    session = CheckpointingSession(graph, execution.strategy, shared)
    return Program(
        execution, mode, graph, session, graph_input, session, inputs, traced, scaffold, results
    )


def _warn_of_no_end(graph_input: GraphInput) -> None:
    if not graph_input.may_end:
        _v1.logging.warning(
            "Input graph does not use tf.data.Dataset or contain a QueueRunner. That means predict "
            "yields forever. This is probably a mistake: return a tf.data.Dataset, or take as many "
            "predictions as you need with itertools.islice."
        )


def _add_loss_summary(loss: tf.Tensor) -> None:
    """Adds the loss to the summaries, unless the model has one of that name."""
    if not any(s.op.name == "loss" for s in _v1.get_collection(_v1.GraphKeys.SUMMARIES)):
        _v1.summary.scalar("loss", loss)  # 'loss_1' where the model's scope took the name
    _v1.add_to_collection(_v1.GraphKeys.LOSSES, loss)
