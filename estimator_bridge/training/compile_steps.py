"""Compiles the steps of a traced model for a TPU; see ``compile_for``."""

from __future__ import annotations

import dataclasses

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
from estimator_bridge.training.execution import Execution
from estimator_bridge.training.input_plan import InputPlan

__all__ = ["TracedStep", "compile_loop"]


@dataclasses.dataclass(frozen=True)
class TracedStep:
    """The step of a traced model, as a TPU's compiler needs it.

    Attributes:
      graph: the traced graph.
      mode: one of ModeKeys.
      execution: the layout of the model.
      plan: the plan of the input.
      inputs: the graph's tensors that a batch's flat components stand for, by reference.
    """

    graph: tf.Graph
    mode: str
    execution: Execution
    plan: InputPlan
    inputs: tuple[str, ...]

    @property
    def name(self) -> str:
        """The name of the step in reports."""
        return MODE_NAMES[self.mode] + self.execution.step_label

    def lower(self, loop: StepLoop, has_values: bool) -> LoweredStep:
        """Lowers a replica's part of the step, with the program's names.

        Args:
          loop: the loop of the step.
          has_values: whether the variables have values.
        """
        steps = self.execution.loop_limits(self.mode).fixed
        lowered = loop.lower(self.execution.strategy.num_replicas_in_sync, has_values, steps)
        names = dict(zip(self.inputs, input_names(self.plan.input.spec)))
        arguments = tuple(
            dataclasses.replace(one, name=names.get(f"{one.name}:0", one.name))
            if one.kind == "input"
            else one
            for one in lowered.arguments
        )
        return dataclasses.replace(lowered, arguments=arguments, sees_all=self.execution.sees_all)

    def line_of(self, operation: str) -> str | None:
        """Returns the program's line of an operation."""
        return line_of_forward(self.graph, operation)


def compile_loop(
    job: CompileJob, step: TracedStep, loop: StepLoop, has_values: bool = True
) -> StepReport:
    """Compiles one replica's step for a TPU.

    Args:
      job: names the TPU, and collects the report.
      step: traced for a TPU's replicas.
      loop: the loop of the step.
      has_values: whether the variables have values.

    Raises:
      CompileError: the TPU's compiler does not compile it, or it is not covered.
      NotCompilableError: TensorFlow does not lower it.
    """
    name, execution = step.name, step.execution
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
        lowered = step.lower(loop, has_values)
    except NotCompilableError as error:
        job.refuse(name, CompileError(NotCompiledReason.TENSORFLOW, str(error)))
        raise
    return job.compile(name, lowered, step.plan.examples, step.line_of)
