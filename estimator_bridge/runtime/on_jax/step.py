"""A step as JAX runs it, with what it needs around it."""

from __future__ import annotations

import dataclasses
import functools
import math

import tensorflow as tf

from estimator_bridge.errors import INSTEAD_OF_JAX, NotCompilableError, XlaMissingError
from estimator_bridge.graph import LiftedSession, host_device
from estimator_bridge.runtime.on_jax.host_steps import HostSteps
from estimator_bridge.runtime.on_jax.program import StepsProgram, StepsShape
from estimator_bridge.runtime.on_jax.strategy import JaxStrategy
from estimator_bridge.runtime.replicas import BatchLayout
from estimator_bridge.runtime.step import ReplicaStep
from estimator_bridge.tensorflow_private.names import eager_mode

__all__ = ["JaxStep"]

_MOST_STEPS = 256  # of a block
_MOST_BYTES = 64 << 20  # of a block's batches, and of what its steps return


@dataclasses.dataclass(frozen=True)
class JaxStep:
    """A step, the host's part after it, and the values that loops watch.

    Attributes:
      run: the replicas' part.
      host: the host's part, and the results for hooks.
      session: the session of the traced graph; owns the variables.
      strategy: the replicas.
      layout: the layout of a batch over them.
      loss: the scalar to watch; None if there is none.
      counter: an integer variable (the global step); None if there is none.
      is_counted: whether it is known how many steps run: each adds one to the counter.
    """

    run: ReplicaStep
    host: HostSteps
    session: LiftedSession
    strategy: JaxStrategy
    layout: BatchLayout
    loss: str | None
    counter: str | None
    is_counted: bool

    @functools.cached_property
    def shape(self) -> StepsShape:
        """The results of the step, as indices of its outputs."""
        index = {ref: i for i, ref in enumerate(self.run.tensors)}
        axes = self.layout.axes
        return StepsShape(
            loss=index[self.loss] if self.loss else None,
            last=[index[ref] for ref in self.host.last],
            each=[index[ref] for ref in self.host.each],
            axes=[0 if axes is None else axes[i] for i in self.run.used_inputs],
            fed=self.host.fed_count,
            is_random=self.run.is_random,
        )

    def lower(self) -> None:
        """Lowers the step, if that has not happened yet; see ``program``."""
        assert self.program

    @functools.cached_property
    def program(self) -> StepsProgram:
        """The JAX program, of the lowered step.

        Raises:
          NotCompilableError: TensorFlow cannot lower the step.
        """
        run, strategy = self.run, self.strategy
        try:
            with eager_mode(), tf.device(host_device()):
                lowered = run.lowering_of_used.lower(
                    strategy.num_replicas_in_sync, has_values=False, updates=run.updates
                )
        except XlaMissingError:
            raise
        except NotCompilableError as error:
            raise NotCompilableError(f"{error}\n{INSTEAD_OF_JAX}") from error
        return StepsProgram(
            lowered, run.updates, self.shape, len(run.tensors), strategy.jax_devices
        )

    @functools.cached_property
    def steps_of_block(self) -> int:
        """The largest number of steps for which batches are read at once."""
        if self.program.is_single or not self.is_counted or self.host.uses_any(self.run.updates):
            return 1
        inputs = sum(math.prod(s.shape.as_list()) * s.dtype.size for s in self.run.used_specs)
        outputs = sum(math.prod(self.program.output_shape(i)) * 8 for i in self.shape.each)
        size = (inputs + outputs) * self.strategy.num_replicas_in_sync
        return min(max(_MOST_BYTES // max(size, 1), 1), _MOST_STEPS)
