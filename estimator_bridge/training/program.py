"""A model in one mode: traced, with a session, ready to run steps."""

from __future__ import annotations

import contextlib
import dataclasses
import os
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import tensorflow as tf
from tensorflow.compat.v1 import logging

from estimator_bridge.base.tpu_presence import CHECKS_TPU
from estimator_bridge.compile_for import current_job
from estimator_bridge.graph import (
    GlobalSteps,
    LiftedSession,
    is_on_tpu,
    trace_graph,
)
from estimator_bridge.model import MODE_NAMES, EstimatorSpec, ModeKeys
from estimator_bridge.runtime import LoopRequest, Step, StepLoop, StepOutputs, is_on_jax, step_loop
from estimator_bridge.tensorflow_private.names import eager_mode
from estimator_bridge.training.compile_steps import TracedStep, compile_loop
from estimator_bridge.training.execution import Execution, TracedModel
from estimator_bridge.training.input_plan import InputPlan, ProgramInput, TracedBatch
from estimator_bridge.training.xla_mode import XlaMode, XlaRefusals, make_compiled_loop, xla_mode
from estimator_bridge.training.xla_trial import TrialLoop, XlaTrial

__all__ = ["ModelSource", "Program", "ProgramLoops"]

_v1 = tf.compat.v1


@dataclasses.dataclass(frozen=True)
class ModelSource:
    """The source of a trace.

    Attributes:
      model_fn: a checked model_fn.
      params: the program's copy of the params.
    """

    model_fn: Callable[..., Any]
    params: Mapping[str, Any]


@dataclasses.dataclass
class ProgramLoops:
    """The compiled functions of a program, shared with a program that replaces it.

    Attributes:
      by_request: the loops.
      with_outputs: the loops that return the outputs of each step, by their fetches.
      short_steps: the steps for an evaluation's last batch, by its size.
      is_checked: whether XLA has compiled the step as for a TPU, see `--check-tpu`.
      trial: measures steps with and without XLA, see ``XlaMode.AUTO``.
      refusals: says which steps XLA does not compile.
      is_compiled: whether a TPU's compiler has compiled the step, see `--compile-for`.
      global_steps: makes the global steps of the graphs of later inputs.
    """

    by_request: dict[Any, StepLoop] = dataclasses.field(default_factory=dict)
    with_outputs: dict[Any, StepLoop] = dataclasses.field(default_factory=dict)
    short_steps: dict[int, Any] = dataclasses.field(default_factory=dict)
    is_checked: bool = False
    is_compiled: bool = False
    trial: XlaTrial | None = None
    refusals: XlaRefusals = dataclasses.field(default_factory=XlaRefusals)
    global_steps: GlobalSteps = dataclasses.field(default_factory=GlobalSteps)


@dataclasses.dataclass(frozen=True)
class Program:
    """A traced model.

    Attributes:
      execution: the layout of the model.
      mode: one of ModeKeys.
      session: the session of the traced graph.
      input: the input of the steps.
      batch: one replica's batch, in the graph.
      traced: the result of model_fn.
      source: the model_fn and params of the trace.
      loops: its compiled functions.
    """

    execution: Execution
    mode: str
    session: LiftedSession
    input: ProgramInput
    batch: TracedBatch
    traced: TracedModel
    source: ModelSource
    loops: ProgramLoops = dataclasses.field(default_factory=ProgramLoops)

    @property
    def graph(self) -> tf.Graph:
        """The traced graph."""
        return self.session.graph

    @property
    def plan(self) -> InputPlan:
        """The plan of the input."""
        return self.input.plan

    @property
    def inputs(self) -> tuple[str, ...]:
        """The graph's tensors that a batch's flat components stand for, by reference."""
        return self.batch.refs

    @property
    def scaffold(self) -> Any:
        """The model's scaffold, or a default one."""
        return self.traced.scaffold

    @property
    def results(self) -> dict[str, Any]:
        """The tensors that an evaluation computes at the end."""
        return self.traced.results

    def dataset(self) -> Any:
        """Returns the batches for the compiled loop; the session is initialized."""
        return self.input.dataset(self.plan.input.is_self_contained)

    @property
    def traced_step(self) -> TracedStep:
        """The step, as a TPU's compiler needs it."""
        return TracedStep(self.graph, self.mode, self.execution, self.plan, self.inputs)

    @property
    def is_stopped(self) -> bool:
        """Whether a hook or an error has stopped the input's threads."""
        here, of_input = self.session, self.input.session
        return here.queues.coordinator.should_stop() or (
            of_input is not here and of_input.queues.coordinator.should_stop()
        )

    def check_input(self) -> None:
        """Raises the error that ended a thread of the input, if one did."""
        self.input.session.queues.check()

    def end_input(self) -> None:
        """Stops the input's threads; the next input replaces this one."""
        self.session.end_input()
        self.session.input = None
        self.input.end()

    def with_input(self, input_fn: Callable[..., Any], params: Mapping[str, Any]) -> Program | None:
        """Returns the same program for the result of another call of an input_fn.

        Returns:
          None if its structure differs from that of the trace.
        """
        with trace_graph(self.execution.config.tf_random_seed, self.execution.shards) as graph:
            if self.execution.makes_global_step:
                self.loops.global_steps.create(graph)
            plan = self.execution.plan_input(input_fn, graph, self.mode, params)
        if not self.input.is_like(plan):
            return None
        session = LiftedSession(graph, self.execution.strategy)
        return dataclasses.replace(self, input=ProgramInput(plan, session, is_apart=True))

    @property
    def spec(self) -> EstimatorSpec:
        """The spec of the model."""
        return self.traced.spec

    @property
    def global_step(self) -> int:
        """The current value of the global step."""
        name = _v1.train.get_global_step(self.graph).op.name
        self.session.resources.prepare({name + ":0"})
        variable = self.session.resources.first_copy(name)
        with eager_mode():
            self.session.resources.combine([name])
            return int(variable.read_value())

    def make_loop(
        self,
        fetches: Sequence[str] = (),
        fed: Sequence[str] = (),
        sums: Sequence[str] = (),
        needs: Sequence[str] = (),
        **options: Any,
    ) -> StepLoop:
        """Returns a compiled loop of the model's step that also returns these fetches.

        Args:
          fetches: references.
          fed: references that calls feed.
          sums: see ``LoopRequest``.
          needs: see ``LoopRequest``.
          **options: other fields of ``LoopRequest``.
        """
        name = _v1.train.get_global_step(self.graph).op.name
        counter = name if self.mode == ModeKeys.TRAIN else None
        traced, strategy = self.traced, self.execution.strategy
        step = Step(self.inputs, traced.operations, traced.loss, traced.host, counter)

        def make(**more: Any) -> StepLoop:
            request = LoopRequest(fetches, fed, sums, needs, **options, **more)
            return step_loop(self.session, strategy, step, self.plan.layout, request)

        xla = XlaMode.OFF if "jit_compile" in options else self.xla_mode
        if is_on_jax(strategy):
            loop = make()
            self._compile_for_tpu(loop)
            return loop
        if xla is XlaMode.OFF:
            loop = make()
        else:
            alone = LoopRequest(jit_compile=True, in_blocks=True)
            is_required = xla is XlaMode.ON and self.mode == ModeKeys.TRAIN
            required = partial(StepLoop, self.session, strategy, step, self.plan.layout, alone)
            name, refusals = MODE_NAMES[self.mode], self.loops.refusals
            loop = make_compiled_loop(make, refusals, name, required if is_required else None)
        if os.environ.get(CHECKS_TPU) and self.execution.shards is not None:
            self._check_for_tpu(loop)
        self._compile_for_tpu(loop)
        if xla is XlaMode.AUTO and loop.request.jit_compile:
            return self._on_trial(loop, make())
        return loop

    def check_runtime(self) -> None:
        """Checks that the runtime has what the step needs; nothing is compiled and nothing runs.

        Raises:
          NotOnJaxError: it has not.
          NotCompilableError: it compiles steps, and cannot compile this one.
        """
        job = current_job()
        if is_on_jax(self.execution.strategy) and not (job and job.request.only):
            outputs = self.traced.outputs.values()
            with contextlib.suppress(
                tf.errors.InvalidArgumentError
            ):  # a hook feeds what is missing
                self.make_loop([one.name for one in outputs if isinstance(one, tf.Tensor)])

    def _on_trial(self, compiled: StepLoop, plain: StepLoop) -> Any:
        """Returns what is called like a StepLoop, and measures both in a trial of all loops."""
        if self.loops.trial is None:
            self.loops.trial = XlaTrial(MODE_NAMES[self.mode])
        return TrialLoop(compiled, plain, self.loops.trial)

    def _compile_for_tpu(self, loop: StepLoop) -> None:
        """Compiles the step for a TPU, once, before it runs; see `--compile-for`."""
        job = current_job()
        if (
            job is None
            or job.request.only
            or self.loops.is_compiled
            or self.execution.shards is None
        ):
            return
        compile_loop(job, self.traced_step, loop)
        self.loops.is_compiled = True

    def _check_for_tpu(self, loop: StepLoop) -> None:
        """Compiles the step by XLA, once: loops differ only in their fetches."""
        if self.loops.is_checked or is_on_tpu(self.execution.strategy):
            return
        loop.check_compiles(for_tpu=True)
        self.loops.is_checked = True
        count, name = len(loop.names), MODE_NAMES[self.mode]
        logging.info("XLA compiles the %s step for a TPU: %d operations.", name, count)

    def kept_loop(
        self,
        fetches: Sequence[str] = (),
        fed: Sequence[str] = (),
        sums: Sequence[str] = (),
        needs: Sequence[str] = (),
    ) -> StepLoop:
        """Returns the result of ``make_loop``, which the program compiles only once per request."""
        key = tuple(fetches), tuple(fed), tuple(sums), tuple(needs)
        if key not in self.loops.by_request:
            self.loops.by_request[key] = self.make_loop(fetches, fed, sums, needs)
        return self.loops.by_request[key]

    def kept_loop_with_outputs(self, fetches: Sequence[str]) -> StepLoop:
        """Returns a kept loop that returns the fetches of each of its steps."""
        key = tuple(fetches)
        if key not in self.loops.with_outputs:
            tensors = map(self.graph.get_tensor_by_name, fetches)
            outputs = StepOutputs([tf.TensorSpec(t.shape, t.dtype) for t in tensors])
            self.loops.with_outputs[key] = self.make_loop(fetches, outputs=outputs)
        return self.loops.with_outputs[key]

    @property
    def xla_mode(self) -> XlaMode:
        """Whether XLA compiles the steps."""
        return xla_mode(self.execution.config, self.execution.strategy)

    def close(self) -> None:
        """Stops the input's threads and frees the variables."""
        self.input.session.close()
        self.session.close()
