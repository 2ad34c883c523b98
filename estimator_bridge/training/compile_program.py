"""Compiles all steps of a mode for a TPU without running any; see `--compile-only`."""

from __future__ import annotations

import time
from collections.abc import Callable

import tensorflow as tf
from tensorflow.compat.v1 import logging

from estimator_bridge.compile_for import (
    CompileError,
    CompileJob,
    NotCompiledReason,
    SearchEndError,
    Trial,
)
from estimator_bridge.errors import NotCompilableError, NotOnJaxError, XlaMissingError
from estimator_bridge.graph import continue_trace
from estimator_bridge.runtime import StepLoop
from estimator_bridge.tensorflow_private.names import eager_mode
from estimator_bridge.training.compile_steps import compile_loop
from estimator_bridge.training.program import Program
from estimator_bridge.training.short_batches import trace_short

__all__ = ["compile_program"]

_v1 = tf.compat.v1
_READING_SECS = 60.0  # for reading an evaluation's input to its last batch


def compile_program(
    job: CompileJob,
    program: Program,
    steps: int | None = None,
    retrace: Callable[[int], Program] | None = None,
) -> None:
    """Compiles all steps that a run of a mode would have, and runs none.

    The job's report lists what is not compiled.

    Args:
      job: names the TPU, and collects the report.
      program: traced; its variables need no values.
      steps: the number of batches of an evaluation; None for all of its input.
      retrace: makes the same program for another global batch, to look for the largest that fits.

    Raises:
      CompileError: the compiler is not installed.
    """
    if program.execution.shards is None:
        job.not_covered(
            program.traced_step.name,
            "it asks for no TPU: give the program a TPUEstimator with use_tpu=True "
            "(--use_tpu=true, in most programs), and leave eval_on_tpu=False out.",
        )
        return
    first = _compile_one(job, program)
    if program.plan.layout.full_batch is not None:
        batch = _short_batch(program, steps)
        if batch is not None:
            with eager_mode():
                structure = tf.nest.pack_sequence_as(program.plan.input.spec, batch)
                elements = tf.data.Dataset.from_tensors(structure)
            _compile_one(job, trace_short(program, elements))
    if job.request.finds_batch and retrace and first:
        _find_batch(job, program, retrace, first)


def _find_batch(
    job: CompileJob, program: Program, retrace: Callable[[int], Program], first: Trial
) -> None:
    name, execution = program.traced_step.name, program.execution
    start = program.plan.examples
    if start is None:
        return

    def attempt(size: int) -> Trial:
        if size == start:
            return first
        try:
            other = retrace(size)
        except (ValueError, TypeError, tf.errors.OpError) as error:
            raise SearchEndError(
                f"the program has no batches of {size:,}: {str(error).splitlines()[0]}"
            ) from error
        try:
            if _shapes(other) == _shapes(program):
                raise SearchEndError(
                    f"the program has no batches of {size:,}: its input_fn ignores "
                    "params['batch_size']"
                )
            step = other.traced_step
            lowered = step.lower(_loop(other), has_values=False)
        except XlaMissingError:
            raise
        except (NotCompilableError, NotOnJaxError) as error:
            raise SearchEndError(str(error).splitlines()[0]) from error
        finally:
            other.close()
        return job.fits(name, lowered, step.line_of)

    job.find_batch(name, attempt, start, execution.strategy.num_replicas_in_sync)


def _shapes(program: Program) -> list[list[int | None]]:
    """Returns the specs of a replica's inputs."""
    tensors = map(program.graph.get_tensor_by_name, program.inputs)
    return [tensor.shape.as_list() for tensor in tensors]


def _loop(program: Program) -> StepLoop:
    return program.make_loop([tensor.name for tensor in program.traced.outputs.values()])


def _compile_one(job: CompileJob, program: Program) -> Trial | None:
    """Compiles a step; returns None if that failed for other reasons than memory."""
    try:
        loop = _loop(program)
    except XlaMissingError:
        raise  # no step can be compiled
    except (NotCompilableError, NotOnJaxError) as error:
        reason = CompileError(NotCompiledReason.TENSORFLOW, str(error))
        job.refuse(program.traced_step.name, reason)
        return None
    try:
        report = compile_loop(job, program.traced_step, loop, has_values=False)
        return Trial(True, report.memory.total)
    except XlaMissingError:
        raise
    except NotCompilableError:
        return None  # the report has it
    except CompileError as error:
        if error.why is NotCompiledReason.SETUP:
            raise
        if error.why is not NotCompiledReason.MEMORY:
            return None
        return Trial(False, error.memory.needed if error.memory else 0)


def _short_batch(program: Program, steps: int | None) -> list[tf.Tensor] | None:
    """Returns the flat components of the last batch of an evaluation's input, if it is short."""
    graph, session = program.graph, program.session
    with continue_trace(graph, program.execution.shards):
        session.run([_v1.local_variables_initializer(), _v1.tables_initializer()])
    full = program.plan.layout.full_batch
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
