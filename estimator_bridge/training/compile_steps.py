"""Compiles the steps of a traced model for a TPU; see ``compile_for``."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import TYPE_CHECKING

import tensorflow as tf

from estimator_bridge.compile_for import (
    CompileError,
    CompileJob,
    LoweredStep,
    NotCompiledReason,
    StepReport,
)
from estimator_bridge.data.component_names import input_names
from estimator_bridge.errors import NotCompilableError
from estimator_bridge.graph.user_line import line_of_forward
from estimator_bridge.model import MODE_NAMES
from estimator_bridge.runtime import StepLoop

if TYPE_CHECKING:
    from estimator_bridge.training.program import Program

__all__ = ["compile_loop", "line_finder", "lower", "step_name"]

_v1 = tf.compat.v1


def step_name(program: Program) -> str:
    """Returns the name of a program's step in reports."""
    return MODE_NAMES[program.mode] + program.execution.step_label


def compile_loop(
    job: CompileJob, program: Program, loop: StepLoop, has_values: bool = True
) -> StepReport:
    """Compiles one replica's step for a TPU.

    Args:
      job: names the TPU, and collects the report.
      program: traced for a TPU's replicas.
      loop: the loop of its step.
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
    if execution.has_embedding_tables:
        raise job.not_covered(
            name,
            "embedding_config_spec leaves tables to a TPU's embedding engine, which is not "
            "compiled here, and their lookups do not run on its cores. Make the tables by "
            "tf.compat.v1.get_variable and look ids up by tf.gather to have them compiled.",
        )
    try:
        lowered = lower(program, loop, has_values)
    except NotCompilableError as error:
        job.refuse(name, CompileError(NotCompiledReason.TENSORFLOW, str(error)))
        raise
    return job.compile(name, lowered, program.plan.examples, line_finder(program))


def lower(program: Program, loop: StepLoop, has_values: bool) -> LoweredStep:
    """Lowers a replica's part of the step for a TPU's compiler, with the program's names."""
    execution = program.execution
    lowered = loop.lower(execution.strategy.num_replicas_in_sync, has_values)
    names = dict(zip(program.inputs, input_names(program.plan.input.spec)))
    arguments = tuple(
        dataclasses.replace(one, name=names.get(f"{one.name}:0", one.name))
        if one.kind == "input"
        else one
        for one in lowered.arguments
    )
    return dataclasses.replace(lowered, arguments=arguments, sees_all=execution.sees_all)


def line_finder(program: Program) -> Callable[[str], str | None]:
    """Returns the program's line of an operation."""
    graph = program.graph  # a program that is closed has none
    return lambda operation: line_of_forward(graph, operation)
