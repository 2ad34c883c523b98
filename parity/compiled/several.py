"""One lowering of each step for several slices: to trace a program takes longest."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from estimator_bridge.compile_for import (
    CompileError,
    CompileJob,
    LoweredStep,
    Report,
    Request,
    Slice,
    StepReport,
)

__all__ = ["SeveralSlices", "by_replicas"]


class SeveralSlices(CompileJob):
    """Compiles each step of a program for several slices of equally many replicas; none runs.

    Args:
      slices: for which; at least one.
      tell: see ``CompileJob``.
      on_jax: whether JAX's programs are compiled.

    Raises:
      ValueError: they differ in how many replicas they have.
    """

    def __init__(
        self,
        slices: Sequence[Slice],
        tell: Callable[[str], None] | None = None,
        on_jax: bool = False,
    ):
        if len({one.replicas for one in slices}) != 1:
            names = ", ".join(f"{one.name}: {one.replicas}" for one in slices)
            raise ValueError(f"The slices must have equally many replicas, got {names}.")
        requests = [Request.make(one.name, only=True, on_jax=on_jax) for one in slices]
        super().__init__(requests[0], tell)
        self.jobs = [CompileJob(request, tell) for request in requests]

    @property
    def report(self) -> Report:
        """The steps of all slices."""
        steps = [step for job in self.jobs for step in job.report.steps]
        return Report(self.request.target.name, dict(self._compiler.versions), tuple(steps))

    def compile(
        self,
        name: str,
        step: LoweredStep,
        examples: int | None,
        line_of: Callable[[str], str | None],
    ) -> StepReport:
        """Compiles a step for each slice.

        Returns:
          The report for the last slice for which it was compiled.

        Raises:
          CompileError: it was compiled for none.
        """
        report, failure = None, None
        for job in self.jobs:
            try:
                report = job.compile(name, step, examples, line_of)
            except CompileError as error:
                failure = error
        if report is None:
            assert failure is not None
            raise failure
        return report

    def refuse(self, name: str, error: CompileError) -> None:
        """Puts a step that was lowered for none of the slices into the report of each."""
        for job in self.jobs:
            job.refuse(name, error)


def by_replicas(slices: Sequence[Slice]) -> dict[int, list[Slice]]:
    """The slices by how many replicas they have, the fewest first."""
    groups: dict[int, list[Slice]] = {}
    for one in sorted(slices, key=lambda one: one.replicas):
        groups.setdefault(one.replicas, []).append(one)
    return groups
