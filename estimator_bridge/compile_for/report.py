"""What the TPU's compiler said of a step, as values that a person or another program reads."""

from __future__ import annotations

import dataclasses
import json
import os
import tempfile
from typing import Any

from estimator_bridge.compile_for.lowered import Finding

__all__ = [
    "AllReduces",
    "Memory",
    "Padding",
    "Refusal",
    "Report",
    "Roofline",
    "StepCost",
    "StepReport",
    "write_json",
]


@dataclasses.dataclass(frozen=True)
class Memory:
    """Bytes of a core's HBM.

    Attributes:
      arguments: the batch and the variables, padded.
      arguments_unpadded: the same by their shapes alone.
      outputs: of the step, those that take an argument's place included.
      aliases: of the outputs, those that do.
      temporaries: of values within the step.
      code: of the program.
      available: what a program may use.
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
        """What the step needs."""
        return self.arguments + self.outputs - self.aliases + self.temporaries + self.code

    @property
    def share(self) -> float:
        """Of what is available."""
        return self.total / self.available


@dataclasses.dataclass(frozen=True)
class AllReduces:
    """The sums over replicas.

    Attributes:
      asked: how many sums the model has.
      count: how many all-reduces the compiler made of them.
      bytes: that one replica brings to them in a step.
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
      compute: FLOPs by the chip's peak in bfloat16.
      memory: bytes moved by the bandwidth of the HBM.
      all_reduce: see ``AllReduces``.
      compiler: the compiler's own sum over its operations of the larger of the two; None where
        it gives none that makes sense.
    """

    compute: float
    memory: float
    all_reduce: float
    compiler: float | None

    @property
    def seconds(self) -> float:
        """The step's least time: the compiler's, or the largest of the parts if that is more."""
        return max(self.compute, self.memory, self.all_reduce, self.compiler or 0.0)

    @property
    def bound(self) -> str:
        """What the step waits for most: 'compute', 'memory' or 'all-reduce'."""
        parts = {"compute": self.compute, "memory": self.memory, "all-reduce": self.all_reduce}
        return max(parts, key=lambda part: parts[part])

    @property
    def matrix_share(self) -> float:
        """At most this share of the matrix units' peak is used."""
        return self.compute / self.seconds if self.seconds else 0.0


@dataclasses.dataclass(frozen=True)
class StepCost:
    """What one of TensorFlow's operations costs.

    Attributes:
      op: its name.
      line: 'file:line: code' of the user's program; None where no line is the user's.
      cycles: of the chip, by the compiler's estimate; all-reduces are not estimated.
      share: of all estimated cycles.
    """

    op: str
    line: str | None
    cycles: int
    share: float


@dataclasses.dataclass(frozen=True)
class Padding:
    """An array that is padded to the chip's tiles.

    Attributes:
      op: TensorFlow's name of what makes it, or of the argument that it is.
      line: as in ``StepCost``.
      shape: as 'f32[500,10]'.
      padded: the sizes as the chip keeps them.
      tile: to which the minor dimensions are padded.
      wasted_bytes: how much more that is.
      waste: of the padded array, the share that is padding.
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
      replicas: how many.
      examples: of a step, over all replicas; None where that is not known.
      compile_seconds: of the compiler.
      flops: of one replica's step.
      bytes_moved: by one replica's step, from and to its memories.
      memory: of one core.
      roofline: the least time.
      all_reduces: the sums over replicas.
      costs: the costliest operations, that of most cycles first.
      padding: the arrays that waste most.
      float64: operations that compute in float64, which a TPU emulates.
      dynamic: operations whose results have no static shape, which a TPU pads.
      host_transfers: how many instructions exchange data with the host.
      loops_counted_once: loops of which the compiler does not know how often they run.
      compiler_bytes: the most memory that the compiler's process has had.
    """

    name: str
    target: str
    device: str
    replicas: int
    examples: int | None
    compile_seconds: float
    flops: float
    bytes_moved: float
    memory: Memory
    roofline: Roofline
    all_reduces: AllReduces
    costs: tuple[StepCost, ...]
    padding: tuple[Padding, ...]
    float64: tuple[Finding, ...]
    dynamic: tuple[Finding, ...]
    host_transfers: int
    loops_counted_once: int
    compiler_bytes: int

    @property
    def flops_per_example(self) -> float | None:
        """FLOPs of all replicas by the examples of a step."""
        return self.flops * self.replicas / self.examples if self.examples else None

    def as_json(self) -> dict[str, Any]:
        """Plain values, with those that are computed from others."""
        values = dataclasses.asdict(self)
        values["flops_per_example"] = self.flops_per_example
        values["memory"].update(total=self.memory.total, share=self.memory.share)
        line = self.roofline
        values["roofline"].update(
            seconds=line.seconds, bound=line.bound, matrix_share=line.matrix_share
        )
        return {"compiled": True, **values}


@dataclasses.dataclass(frozen=True)
class Refusal:
    """A step that was not compiled.

    Attributes:
      name: as of a ``StepReport``.
      target: the slice's name.
      why: of what kind the reason is.
      message: the reason, with the user's lines, and what to do.
    """

    name: str
    target: str
    why: str
    message: str

    def as_json(self) -> dict[str, Any]:
        """Plain values."""
        return {"compiled": False, **dataclasses.asdict(self)}


@dataclasses.dataclass(frozen=True)
class Report:
    """All steps that a program came to.

    Attributes:
      target: the slice's name.
      versions: of 'jax' and 'libtpu'.
      steps: those that were compiled and those that were not, in the program's order.
    """

    target: str
    versions: dict[str, str]
    steps: tuple[StepReport | Refusal, ...]

    @property
    def compiled(self) -> tuple[StepReport, ...]:
        """The steps that were compiled."""
        return tuple(step for step in self.steps if isinstance(step, StepReport))

    @property
    def refused(self) -> tuple[Refusal, ...]:
        """The steps that were not."""
        return tuple(step for step in self.steps if isinstance(step, Refusal))

    @property
    def passed(self) -> bool:
        """Whether there were steps, and all of them were compiled."""
        return bool(self.steps) and not self.refused

    def table(self) -> str:
        """All steps as lines of text."""
        from estimator_bridge.compile_for.table import table_of  # which shows these values

        return "\n".join(map(table_of, self.steps))

    def as_json(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "target": self.target,
            "versions": self.versions,
            "passed": self.passed,
            "steps": [step.as_json() for step in self.steps],
        }


def write_json(report: Report, path: str) -> None:
    """Writes a report to a file, whole or not at all.

    Raises:
      OSError: the file cannot be written.
    """
    folder = os.path.dirname(os.path.abspath(path))
    handle, part = tempfile.mkstemp(dir=folder, prefix=".report-", suffix=".json")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            json.dump(report.as_json(), file, indent=1)
            file.write("\n")
        os.chmod(part, 0o666 & ~_umask())
        os.replace(part, path)
    except BaseException:
        os.unlink(part)
        raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
