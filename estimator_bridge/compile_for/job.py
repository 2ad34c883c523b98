"""The steps of a program, compiled one after the other, and what came of them."""

from __future__ import annotations

import functools
import hashlib
import os
import sys
from collections.abc import Callable

from estimator_bridge.compile_for.analysis import LineOf, analyse
from estimator_bridge.compile_for.compiler import shared_compiler
from estimator_bridge.compile_for.errors import CompileError, Why
from estimator_bridge.compile_for.lowered import LoweredStep
from estimator_bridge.compile_for.report import Refusal, Report, StepReport, write_json
from estimator_bridge.compile_for.request import Request
from estimator_bridge.compile_for.table import table_of

__all__ = ["CompileJob", "current_job", "start_job"]


class CompileJob:
    """Compiles a program's steps for one slice.

    Args:
      request: what for.
      tell: is given each step's table when it is there; None tells nobody.
    """

    def __init__(self, request: Request, tell: Callable[[str], None] | None = None):
        self.request = request
        self._tell = tell or (lambda text: None)
        self._compiler = shared_compiler(request.python, request.secs)
        self._steps: list[StepReport | Refusal] = []
        self._seen: dict[tuple[str, str], StepReport] = {}

    @property
    def report(self) -> Report:
        """All steps so far."""
        return Report(self.request.target.name, dict(self._compiler.versions), tuple(self._steps))

    def start(self) -> None:
        """Starts the compiler, which takes seconds to load, while the program is traced.

        Raises:
          CompileError: its Python is not there.
        """
        self._compiler.start()

    def compile(
        self, name: str, step: LoweredStep, examples: int | None, line_of: LineOf
    ) -> StepReport:
        """Compiles a step; one that was compiled before, of the same name, is not again.

        Args:
          name: of the step, for the report.
          step: lowered.
          examples: of a step, over all replicas.
          line_of: the user's line of an operation by its name.

        Raises:
          CompileError: it was not compiled; the report says so, too.
        """
        key = name, hashlib.sha256(step.hlo).hexdigest()
        if key in self._seen:
            return self._seen[key]
        target = self.request.target
        try:
            compiled = self._compiler.compile(step.hlo, target, step.replicas)
        except CompileError as error:
            self.refuse(name, error)
            raise
        report = analyse(name, step, compiled, target, examples, line_of)
        self._seen[key] = report
        self._add(report)
        return report

    def refuse(self, name: str, error: CompileError) -> None:
        """Puts a step into the report that was not compiled."""
        self._add(Refusal(name, self.request.target.name, error.why.value, str(error)))

    def not_covered(self, name: str, message: str) -> CompileError:
        """The error of a step that cannot be compiled this way; it is in the report, too."""
        error = CompileError(Why.NOT_COVERED, message)
        self.refuse(name, error)
        return error

    def finish(self) -> int:
        """Ends the compiler's process, and says what there is to say at a program's end.

        Returns:
          The program's exit status: 0 where there were steps and all were compiled, else 1.
        """
        self.close()
        report = self.report
        if not report.steps:
            self.say(
                "Nothing was compiled: the program came to no step of a TPUEstimator with "
                "use_tpu=True, or to none at all."
            )
        elif report.refused:
            self.say(f"{len(report.refused)} of {len(report.steps)} step(s) were not compiled.")
        return 0 if report.passed else 1

    def say(self, text: str) -> None:
        """Tells the user."""
        self._tell(text)

    def close(self) -> None:
        """Ends the compiler's process; another step to compile starts it again."""
        self._compiler.close()

    def _add(self, step: StepReport | Refusal) -> None:
        self._steps.append(step)
        self._tell(table_of(step))
        if self.request.report:
            write_json(self.report, self.request.report)


@functools.cache
def current_job() -> CompileJob | None:
    """The job that this process's environment asks for; None for none.

    Raises:
      ValueError: see ``Request.of``.
    """
    request = Request.of(os.environ)
    if request is None:
        return None
    return CompileJob(request, _print)


def start_job(target: str, only: bool = False, report: str | None = None) -> CompileJob:
    """Has this process compile the steps of the program that it runs.

    To be called before TensorFlow is loaded, as the emulated cores are made then.

    Args:
      target: the name of a slice.
      only: whether no step is to run.
      report: the file for a report in JSON; None for none.

    Raises:
      ValueError: see ``Request.make``.
      CompileError: the compiler's Python is not there.
    """
    Request.make(target, only, report).write_to(os.environ)
    current_job.cache_clear()
    job = current_job()
    assert job is not None
    job.start()
    return job


def _print(text: str) -> None:
    print(text, file=sys.stdout, flush=True)
