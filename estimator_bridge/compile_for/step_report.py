"""The TPU compiler's results for a step, as values."""

from __future__ import annotations

import dataclasses
from typing import Any

from estimator_bridge.compile_for.lowered import Finding
from estimator_bridge.compile_for.out_of_memory import Buffer, OutOfMemory

__all__ = [
    "AllReduces",
    "Memory",
    "Padding",
    "Refusal",
    "Roofline",
    "StepCost",
    "StepReport",
]


@dataclasses.dataclass(frozen=True)
class Memory:
    """Bytes of a core's HBM.

    Attributes:
      arguments: the batch and the variables, padded.
      arguments_unpadded: the same without padding.
      outputs: the step's outputs, including those in place of an argument.
      aliases: the outputs in place of an argument.
      temporaries: the values within the step.
      code: the program's code.
      available: the memory that a program may use.
    """

    arguments: int
    arguments_unpadded: int
    outputs: int
    aliases: int
    temporaries: int
    code: int
    available: int

    @property
    def total(self) -> int:
        """The memory that the step needs."""
        return self.arguments + self.outputs - self.aliases + self.temporaries + self.code

    @property
    def share(self) -> float:
        """The used share of the available memory."""
        return self.total / self.available


@dataclasses.dataclass(frozen=True)
class AllReduces:
    """The sums over replicas.

    Attributes:
      asked: the number of sums in the model.
      count: the number of all-reduces the compiler made of them.
      bytes: the bytes that one replica contributes per step.
      seconds: the least time: a ring sends 2 (n - 1) / n of the bytes over a chip's links.
    """

    asked: int
    count: int
    bytes: int
    seconds: float


@dataclasses.dataclass(frozen=True)
class Roofline:
    """The least time of a step on one core, in seconds.

    Attributes:
      compute: FLOPs divided by the chip's peak in bfloat16.
      memory: bytes moved through HBM divided by its bandwidth.
      all_reduce: see ``AllReduces``; the other two do not include it.
      compiler: the compiler's own estimate, the sum over operations of the larger of the two, with
        on-chip memory as slow as HBM, so it is not a lower bound; None without a plausible one.
    """

    compute: float
    memory: float
    all_reduce: float
    compiler: float | None

    @property
    def alone(self) -> float:
        """The least time of a replica's work without all-reduces."""
        return max(self.compute, self.memory)

    @property
    def seconds(self) -> float:
        """The step's least time if all-reduces overlap entirely with the rest."""
        return max(self.alone, self.all_reduce)

    @property
    def seconds_in_turn(self) -> float:
        """The step's least time if everything else waits for all-reduces."""
        return self.alone + self.all_reduce

    @property
    def bound(self) -> str:
        """The step's bottleneck: 'compute', 'memory' or 'all-reduce'."""
        parts = {"compute": self.compute, "memory": self.memory, "all-reduce": self.all_reduce}
        return max(parts, key=lambda part: parts[part])

    @property
    def matrix_share(self) -> float:
        """The maximum share of the matrix units' peak in use."""
        return self.compute / self.seconds if self.seconds else 0.0


@dataclasses.dataclass(frozen=True)
class StepCost:
    """The cost of one TensorFlow operation.

    Attributes:
      op: the operation's name.
      line: 'file:line: code' of the user's program; None if no line is the user's.
      cycles: the chip's cycles by the compiler's estimate; all-reduces are not estimated.
      share: the share of all estimated cycles.
    """

    op: str
    line: str | None
    cycles: int
    share: float


@dataclasses.dataclass(frozen=True)
class Padding:
    """An array that is padded to the chip's tiles.

    Attributes:
      op: TensorFlow's name of the operation that makes it, or of the argument.
      line: as in ``StepCost``.
      shape: XLA's notation, such as 'f32[500,10]'.
      padded: the sizes in the chip's memory.
      tile: the sizes to which the minor dimensions are padded.
      wasted_bytes: the bytes of padding.
      waste: the share of padding in the padded array.
    """

    op: str
    line: str | None
    shape: str
    padded: tuple[int, ...]
    tile: tuple[int, ...]
    wasted_bytes: int
    waste: float


@dataclasses.dataclass(frozen=True)
class StepReport:
    """A step that was compiled.

    Attributes:
      name: 'training', or 'evaluation, last batch of 3'.
      target: the slice's name.
      device: libtpu's name of the chip.
      replicas: the number of replicas.
      examples: the global batch size; None if unknown.
      compile_seconds: the compile time.
      flops: the FLOPs of one replica's step.
      bytes_moved: the bytes that the operations of one replica's step read and write, in HBM and
        in on-chip memory.
      hbm_bytes_moved: those that move through HBM.
      memory: the memory of one core.
      roofline: the least time.
      all_reduces: the sums over replicas.
      costs: the costliest operations, the one with the most cycles first.
      padding: the arrays that waste most.
      buffers: the largest arrays; not all of them are kept at the same time.
      float64: operations that compute in float64, which a TPU emulates.
      dynamic: operations whose results have no static shape, which a TPU pads.
      host_transfers: the number of instructions that exchange data with the host.
      loops_counted_once: the number of loops with an unknown trip count.
      compiler_bytes: the peak memory of the compiler's process.
      sees_all: whether each replica sees the whole batch, such as a short last one that cannot be
        divided.
      block_steps: see ``LoweredStep``.
    """

    name: str
    target: str
    device: str
    replicas: int
    examples: int | None
    compile_seconds: float
    flops: float
    bytes_moved: float
    hbm_bytes_moved: float
    memory: Memory
    roofline: Roofline
    all_reduces: AllReduces
    costs: tuple[StepCost, ...]
    padding: tuple[Padding, ...]
    buffers: tuple[Buffer, ...]
    float64: tuple[Finding, ...]
    dynamic: tuple[Finding, ...]
    host_transfers: int
    loops_counted_once: int
    compiler_bytes: int
    sees_all: bool = False
    block_steps: int = 0

    @property
    def flops_per_example(self) -> float | None:
        """FLOPs per example; on one replica if all replicas see all examples."""
        if not self.examples:
            return None
        return self.flops * (1 if self.sees_all else self.replicas) / self.examples

    def as_json(self) -> dict[str, Any]:
        """Returns plain values, including the derived ones."""
        values = dataclasses.asdict(self)
        values["flops_per_example"] = self.flops_per_example
        values["memory"].update(total=self.memory.total, share=self.memory.share)
        line = self.roofline
        values["roofline"].update(
            seconds=line.seconds,
            seconds_in_turn=line.seconds_in_turn,
            bound=line.bound,
            matrix_share=line.matrix_share,
        )
        return {"compiled": True, **values}


@dataclasses.dataclass(frozen=True)
class Refusal:
    """A step that was not compiled.

    Attributes:
      name: as in ``StepReport``.
      target: the slice's name.
      why: the kind of reason.
      message: the reason with the user's lines, and what to do.
      memory: the missing memory and the largest arrays, if memory is the reason.
    """

    name: str
    target: str
    why: str
    message: str
    memory: OutOfMemory | None = None

    def as_json(self) -> dict[str, Any]:
        """Returns plain values."""
        memory = self.memory and self.memory.as_json()
        return {"compiled": False, **dataclasses.asdict(self), "memory": memory}
