"""A step of one replica, lowered by TensorFlow, on its way to a TPU's compiler."""

from __future__ import annotations

import dataclasses
import math

__all__ = ["Argument", "Finding", "LoweredStep"]


@dataclasses.dataclass(frozen=True)
class Argument:
    """What a step takes.

    Attributes:
      kind: 'input' for a replica's part of the batch, 'variable', or 'position' for that in the
        random streams.
      name: TensorFlow's.
      shape: of one replica's.
      dtype: TensorFlow's name of it, 'float32'.
      item_bytes: of one element.
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
      about: what is the matter, and what to write instead.
    """

    op: str
    line: str | None
    about: str


@dataclasses.dataclass(frozen=True)
class LoweredStep:
    """A step of one replica as XLA's HLO.

    Attributes:
      hlo: a serialized HloModuleProto.
      replicas: over how many its sums go.
      arguments: in the order of the computation's parameters.
      sums: how many sums over replicas it asks for.
      float64: operations that compute in float64.
      dynamic: operations whose results have no static shape.
    """

    hlo: bytes
    replicas: int
    arguments: tuple[Argument, ...]
    sums: int = 0
    float64: tuple[Finding, ...] = ()
    dynamic: tuple[Finding, ...] = ()
