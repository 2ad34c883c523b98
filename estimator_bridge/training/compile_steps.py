"""The steps of a traced model, given to a TPU's compiler; see ``compile_for``."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import tensorflow as tf
from tensorflow.compat.v1 import logging

from estimator_bridge.compile_for import CompileError, CompileJob, StepReport, Why
from estimator_bridge.errors import NotCompilableError
from estimator_bridge.graph import continue_trace
from estimator_bridge.graph.user_line import line_of_forward
from estimator_bridge.model import MODE_NAMES, ModeKeys
from estimator_bridge.runtime import StepLoop
from estimator_bridge.tensorflow_private import eager_mode

if TYPE_CHECKING:
    from estimator_bridge.training.program import Program

__all__ = ["compile_loop", "compile_program", "step_name"]

_v1 = tf.compat.v1
_READING_SECS = 60.0  # so long an evaluation's input is read to find its last batch


def step_name(program: Program) -> str:
    """A program's step as reports call it."""
    return MODE_NAMES[program.mode] + program.execution.step_label


def compile_loop(
    job: CompileJob, program: Program, loop: StepLoop, has_values: bool = True
) -> StepReport:
    """Has one replica's step compiled for a TPU.

    Args:
      job: says for which, and takes the report.
      program: traced for a TPU's replicas.
      loop: of its step.
      has_values: whether the variables have values.

    Raises:
      CompileError: the TPU's compiler does not compile it, or it is not covered.
      NotCompilableError: TensorFlow does not lower it.
    """
    name, execution = step_name(program), program.execution
    cores = getattr(getattr(execution.config, "tpu_config", None), "num_cores_per_replica", None)
    if cores and cores > 1:
        raise job.not_covered(
            name,
            f"TPUConfig has num_cores_per_replica={cores}, and a model that is split over cores "
            "is not compiled here. Leave it out to have the whole model compiled for one core.",
        )
    replicas = execution.strategy.num_replicas_in_sync
    try:
        lowered = loop.lower(replicas, has_values)
    except NotCompilableError as error:
        job.refuse(name, CompileError(Why.TENSORFLOW, str(error)))
        raise
    return job.compile(
        name,
        lowered,
        execution.examples_per_step(program.input),
        lambda operation: line_of_forward(program.graph, operation),
    )


def compile_program(job: CompileJob, program: Program, steps: int | None = None) -> None:
    """Has all steps of a mode compiled that a run would have, and runs none.

    What is not compiled is in the job's report.

    Args:
      job: says for which, and takes the report.
      program: traced; its variables need no values.
      steps: how many batches an evaluation would have; None for all of its input.

    Raises:
      CompileError: the compiler is not installed.
    """
    if program.execution.shards is None:
        job.not_covered(
            step_name(program),
            "it asks for no TPU: give the program a TPUEstimator with use_tpu=True "
            "(--use_tpu=true, in most programs), and leave eval_on_tpu=False out.",
        )
        return
    _compile_one(job, program)
    execution = program.execution
    if program.mode == ModeKeys.EVAL and execution.full_batch(program.input, program.mode):
        batch = _short_batch(program, steps)
        if batch is not None:
            with eager_mode():
                structure = tf.nest.pack_sequence_as(program.input.spec, batch)
                elements = tf.data.Dataset.from_tensors(structure)
            _compile_one(job, execution.trace_short(program, elements))


def _compile_one(job: CompileJob, program: Program) -> None:
    outputs = [tensor.name for tensor in program.traced.outputs.values()]
    try:
        compile_loop(job, program, program.make_loop(outputs), has_values=False)
    except NotCompilableError:
        return  # the report has it
    except CompileError as error:
        if error.why is Why.SETUP:
            raise


def _short_batch(program: Program, steps: int | None) -> list[tf.Tensor] | None:
    """The flat components of the last batch of an evaluation's input, if it is a short one."""
    graph, session = program.graph, program.session
    with continue_trace(graph, program.execution.shards):
        session.run([_v1.local_variables_initializer(), _v1.tables_initializer()])
    full = program.execution.full_batch(program.input, program.mode)
    assert full is not None
    until = time.monotonic() + _READING_SECS
    with eager_mode():
        for number, element in enumerate(program.dataset()):
            if number == steps:
                return None
            size, batch = element
            if int(size) < full:
                return [part[: int(size)] for part in tf.nest.flatten(batch)]
            if time.monotonic() > until:
                logging.warning(
                    "The evaluation's input has not ended after %g s and %d batches: a short last "
                    "batch is not looked for, and not compiled. Give evaluate() its steps.",
                    _READING_SECS,
                    number + 1,
                )
                return None
    return None
