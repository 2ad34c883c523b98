"""A step as JAX runs it, with what it needs around it."""

from __future__ import annotations

import dataclasses
import functools
import math

import tensorflow as tf

from estimator_bridge.compile_for import LoweredStep
from estimator_bridge.errors import INSTEAD_OF_JAX, NotCompilableError, XlaMissingError
from estimator_bridge.graph import LiftedSession, host_device
from estimator_bridge.runtime.on_jax.for_tpu import lower_program
from estimator_bridge.runtime.on_jax.host_steps import HostSteps
from estimator_bridge.runtime.on_jax.program import StepsProgram, StepsShape
from estimator_bridge.runtime.on_jax.strategy import JaxStrategy
from estimator_bridge.runtime.replicas import BatchLayout
from estimator_bridge.runtime.step import ReplicaStep
from estimator_bridge.tensorflow_private.names import eager_mode

__all__ = ["JaxStep", "padded_block"]

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
    def lowered(self) -> LoweredStep:
        """A replica's step, whose outputs are the results and then the updated variables.

        Raises:
          NotCompilableError: TensorFlow cannot lower the step.
        """
        run, replicas = self.run, self.strategy.num_replicas_in_sync
        try:
            with eager_mode(), tf.device(host_device()):
                step = run.lowering_of_used.lower(replicas, has_values=False, updates=run.updates)
        except XlaMissingError:
            raise
        except NotCompilableError as error:
            raise NotCompilableError(f"{error}\n{INSTEAD_OF_JAX}") from error
        return step if self.strategy.device_draws else dataclasses.replace(step, random_ops=())

    @functools.cached_property
    def program(self) -> StepsProgram:
        """The JAX program, of the lowered step; see ``lowered`` for its errors."""
        return self._program()

    def lower_for_tpu(self, steps: int | None) -> LoweredStep:
        """Returns the program as a TPU would run it, for a block of its usual size.

        Args:
          steps: the number of steps of a call; None if unknown.
        """
        program = self._program("tpu")
        most = self._block_size(program)
        rows = padded_block(most if steps is None else min(steps, most))
        text, arguments = lower_program(program, rows)
        return dataclasses.replace(
            self.lowered,
            hlo=text.encode(),
            arguments=arguments,
            random_ops=(),  # the program's own generator is chosen already
            block_steps=rows,
        )

    def _program(self, target: str | None = None) -> StepsProgram:
        run, devices = self.run, self.strategy.jax_devices
        return StepsProgram(
            self.lowered, run.updates, self.shape, len(run.tensors), devices, target
        )

    @functools.cached_property
    def steps_of_block(self) -> int:
        """The largest number of steps for which batches are read at once."""
        return self._block_size(self.program)

    def _block_size(self, program: StepsProgram) -> int:
        if program.is_single or not self.is_counted or self.host.uses_any(self.run.updates):
            return 1
        inputs = sum(math.prod(s.shape.as_list()) * s.dtype.size for s in self.run.used_specs)
        outputs = sum(math.prod(program.output_shape(i)) * 8 for i in self.shape.each)
        size = (inputs + outputs) * self.strategy.num_replicas_in_sync
        return min(max(_MOST_BYTES // max(size, 1), 1), _MOST_STEPS)


def padded_block(steps: int) -> int:
    """Returns the size of a block that has room for some steps: a power of two."""
    return 1 << (steps - 1).bit_length()
