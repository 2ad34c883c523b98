"""The TPU compiler's results for a program's steps, as values for people and programs."""

from __future__ import annotations

import dataclasses
from typing import Any

from estimator_bridge.compile_for.batch_search import LargestBatch
from estimator_bridge.compile_for.step_report import Refusal, StepReport
from estimator_bridge.compile_for.text_table import table_of

__all__ = ["Report"]


@dataclasses.dataclass(frozen=True)
class Report:
    """All steps that a program reached.

    Attributes:
      target: the slice's name.
      versions: the versions of 'jax' and 'libtpu'.
      steps: those that were compiled and those that were not, in the program's order.
      batches: the largest batches that fit, if they were searched for.
    """

    target: str
    versions: dict[str, str]
    steps: tuple[StepReport | Refusal, ...]
    batches: tuple[LargestBatch, ...] = ()

    @property
    def compiled(self) -> tuple[StepReport, ...]:
        """The steps that were compiled."""
        return tuple(step for step in self.steps if isinstance(step, StepReport))

    @property
    def refused(self) -> tuple[Refusal, ...]:
        """The steps that were not compiled."""
        return tuple(step for step in self.steps if isinstance(step, Refusal))

    @property
    def passed(self) -> bool:
        """True if there were steps and all of them were compiled."""
        return bool(self.steps) and not self.refused

    def table(self) -> str:
        """Returns all steps as lines of text."""
        return "\n".join([*map(table_of, self.steps), *map(str, self.batches)])

    def as_json(self) -> dict[str, Any]:
        """Returns plain values."""
        return {
            "target": self.target,
            "versions": self.versions,
            "passed": self.passed,
            "steps": [step.as_json() for step in self.steps],
            "batches": [dataclasses.asdict(batch) for batch in self.batches],
        }
