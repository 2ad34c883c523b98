"""The steps of a program, compiled one after the other, and what came of them."""

from __future__ import annotations

import functools
import hashlib
import os
import sys
from collections.abc import Callable

from estimator_bridge.compile_for.analysis import LineOf, analyse, analyse_refused
from estimator_bridge.compile_for.batches import LargestBatch, Search, SearchEndError, Trial
from estimator_bridge.compile_for.compiler import shared_compiler
from estimator_bridge.compile_for.errors import CompileError, Why
from estimator_bridge.compile_for.jax_import import keep_jax_out
from estimator_bridge.compile_for.lowered import LoweredStep
from estimator_bridge.compile_for.refusals import explain_refusal
from estimator_bridge.compile_for.report import Refusal, Report, StepReport
from estimator_bridge.compile_for.report_file import write_report
from estimator_bridge.compile_for.request import Request
from estimator_bridge.compile_for.table import table_of
from estimator_bridge.compile_for.units import as_bytes

__all__ = ["CompileJob", "current_job", "start_job", "use_job"]

_given: list[CompileJob] = []


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
        self._batches: list[LargestBatch] = []
        self._seen: dict[tuple[str, str], StepReport | CompileError] = {}

    @property
    def report(self) -> Report:
        """All steps so far."""
        return Report(
            self.request.target.name,
            dict(self._compiler.versions),
            tuple(self._steps),
            tuple(self._batches),
        )

    def start(self) -> None:
        """Starts the compiler, which takes seconds to load, while the program is traced.

        Raises:
          CompileError: its Python is not there, or has no compiler of a release that fits.
        """
        target = self.request.target
        if not target.chip.runs_tensorflow:
            self.say(
                f"{target.name}: Google offers this chip for JAX and PyTorch, not for TensorFlow. "
                "What follows says what its compiler makes of the program, which cannot run there."
            )
        self._compiler.start(target)

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
        key = _key(name, step)
        known = self._seen.get(key)
        if isinstance(known, CompileError):
            raise known
        if known:
            return known
        try:
            report = self._compiled(name, step, examples, line_of)
        except CompileError as error:
            self.refuse(name, error)
            self._seen[key] = error
            raise
        self._seen[key] = report
        self._add(report)
        return report

    def find_batch(self, name: str, attempt: Callable[[int], Trial], start: int, step: int) -> None:
        """Looks for the largest batch of a mode, and puts it into the report.

        Args:
          name: of the mode's step.
          attempt: compiles the step for a global batch, see ``fits``.
          start: the first batch.
          step: batches are multiples of this.
        """

        def told(size: int) -> Trial:
            trial = attempt(size)
            result = "fit" if trial.fits else "do not fit"
            self.say(f"  {name}, batches of {size:,} {result}: {as_bytes(trial.bytes)}")
            return trial

        target = self.request.target
        search = Search(told, step, target.chip.hbm_bytes)
        search.run(start)
        found = LargestBatch(
            name, target.name, search.size, search.too_large, search.bytes, search.available,
            search.trials, search.why_ended,
        )  # fmt: skip
        self._batches.append(found)
        self.say(str(found))
        self._write()

    def fits(self, name: str, step: LoweredStep, line_of: LineOf) -> Trial:
        """Whether a step fits the chip; nothing of it goes into the report.

        Raises:
          SearchEndError: it was not compiled, and not because of its memory.
        """
        try:
            return Trial(True, self._compiled(name, step, None, line_of).memory.total)
        except CompileError as error:
            if error.why is not Why.MEMORY:
                raise SearchEndError(str(error).splitlines()[0]) from error
            return Trial(False, error.memory.needed if error.memory else 0)

    def _compiled(
        self, name: str, step: LoweredStep, examples: int | None, line_of: LineOf
    ) -> StepReport:
        target = self.request.target
        try:
            compiled = self._compiler.compile(step.hlo, target, step.replicas)
        except CompileError as error:
            raise _explained(error, step, line_of) from error
        return analyse(name, step, compiled, target, examples, line_of)

    def refuse(self, name: str, error: CompileError) -> None:
        """Puts a step into the report that was not compiled."""
        self._add(
            Refusal(name, self.request.target.name, error.why.value, str(error), error.memory)
        )

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
                "use_tpu=True, or to none at all. Many programs have a flag for it: --use_tpu=true."
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
        self._write()

    def _write(self) -> None:
        if self.request.report:
            write_report(self.report, self.request.report)


def current_job() -> CompileJob | None:
    """The job that ``use_job`` was given, or that this process's environment asks for, or None.

    Raises:
      ValueError: see ``Request.of``.
    """
    return _given[-1] if _given else _job_of_environment()


def use_job(job: CompileJob) -> None:
    """Makes a job this process's, whatever its environment asks for."""
    _given[:] = [job]


@functools.cache
def _job_of_environment() -> CompileJob | None:
    request = Request.of(os.environ)
    if request is None:
        return None
    return CompileJob(request, _print)


def start_job(
    target: str, only: bool = False, report: str | None = None, finds_batch: bool = False
) -> CompileJob:
    """Has this process compile the steps of the program that it runs.

    To be called before TensorFlow is loaded, as the emulated cores are made then.

    Args:
      target: the name of a slice.
      only: whether no step is to run.
      report: the file for a report, see ``write_report``; None for none.
      finds_batch: whether to look for the largest batches that fit.

    Raises:
      ValueError: see ``Request.make``.
      CompileError: the compiler's Python is not there, or has no compiler of a release that fits.
    """
    Request.make(target, only, report, finds_batch).write_to(os.environ)
    _job_of_environment.cache_clear()
    job = _job_of_environment()
    assert job is not None
    job.start()
    keep_jax_out()
    return job


def _key(name: str, step: LoweredStep) -> tuple[str, str]:
    return name, hashlib.sha256(step.hlo).hexdigest()


def _explained(error: CompileError, step: LoweredStep, line_of: LineOf) -> CompileError:
    """The compiler's refusal in terms of the user's program."""
    if error.why is Why.TPU:
        return CompileError(Why.TPU, explain_refusal(str(error), step, line_of))
    if error.why is Why.MEMORY:
        memory = analyse_refused(str(error), error.text, step, line_of)
        if memory:
            advice = "Make the batch smaller; --find-batch-size looks for the largest that fits."
            return CompileError(Why.MEMORY, f"{memory}\n{advice}", memory=memory)
    return error


def _print(text: str) -> None:
    print(text, file=sys.stdout, flush=True)
