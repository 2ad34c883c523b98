"""A replica's step, lowered by TensorFlow for a TPU's compiler."""

from __future__ import annotations

import dataclasses
import math

__all__ = ["DRAW_IN_FUNCTION", "STEP_IN_PROGRAM", "Argument", "Finding", "LoweredStep"]

STEP_IN_PROGRAM = "estimator_bridge_step"  # precedes names of a step's operations in JAX's program
DRAW_IN_FUNCTION = "estimator_bridge_draw"  # ends the names of a step's draws inside functions


@dataclasses.dataclass(frozen=True)
class Argument:
    """An argument of a step.

    Attributes:
      kind: 'input' for a replica's part of the batch, 'variable', or 'position' for the position in
        the random streams.
      name: TensorFlow's name.
      shape: the shape on one replica.
      dtype: TensorFlow's name of the dtype, such as 'float32'.
      item_bytes: the size of one element.
    """

    kind: str
    name: str
    shape: tuple[int, ...]
    dtype: str
    item_bytes: int

    @property
    def bytes(self) -> int:
        """The size without padding."""
        return math.prod(self.shape) * self.item_bytes


@dataclasses.dataclass(frozen=True)
class Finding:
    """An operation that a TPU compiles but runs badly.

    Attributes:
      op: the operation's name.
      line: 'file:line: code' of the user's program, or None.
      about: the problem and what to write instead.
    """

    op: str
    line: str | None
    about: str


@dataclasses.dataclass(frozen=True)
class LoweredStep:
    """A step of one replica as XLA's HLO.

    Attributes:
      hlo: a serialized HloModuleProto; see ``block_steps``.
      replicas: the number of replicas that its sums run over.
      arguments: the arguments in the order of the computation's parameters.
      sums: the number of sums over replicas in the model.
      float64: operations that compute in float64.
      dynamic: operations whose results have no static shape.
      sees_all: whether each replica sees the whole batch.
      random_ops: operations that a TPU draws with its own generator; of those in functions, the
        last part of the name.
      block_steps: the number of steps whose batches JAX's program of all replicas holds; ``hlo`` is
        that program's StableHLO text then. 0 for one replica's step.
    """

    hlo: bytes
    replicas: int
    arguments: tuple[Argument, ...]
    sums: int = 0
    float64: tuple[Finding, ...] = ()
    dynamic: tuple[Finding, ...] = ()
    sees_all: bool = False
    random_ops: tuple[str, ...] = ()
    block_steps: int = 0
