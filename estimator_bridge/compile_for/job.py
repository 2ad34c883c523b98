"""Compiles a program's steps one after the other, and collects the results."""

from __future__ import annotations

import functools
import hashlib
import os
import sys
from collections.abc import Callable

from estimator_bridge.base.jax_names import parse_jax_name
from estimator_bridge.base.tpu_presence import RUNTIME
from estimator_bridge.compile_for.analysis import LineOf, analyse, analyse_refused
from estimator_bridge.compile_for.batch_search import LargestBatch, Search, SearchEndError, Trial
from estimator_bridge.compile_for.compiler import shared_compiler
from estimator_bridge.compile_for.compiler_errors import explain_refusal
from estimator_bridge.compile_for.errors import CompileError, NotCompiledReason
from estimator_bridge.compile_for.jax_import import keep_jax_out
from estimator_bridge.compile_for.lowered import LoweredStep
from estimator_bridge.compile_for.report import Report
from estimator_bridge.compile_for.report_file import write_report
from estimator_bridge.compile_for.request import Request
from estimator_bridge.compile_for.step_report import Refusal, StepReport
from estimator_bridge.compile_for.text_table import table_of
from estimator_bridge.compile_for.units import as_bytes

__all__ = ["CompileJob", "current_job", "start_job", "use_job"]

_jobs: list[CompileJob] = []


class CompileJob:
    """Compiles a program's steps for one slice.

    Args:
      request: the slice and the options.
      tell: called with each step's table when it is done; None for no output.
    """

    def __init__(self, request: Request, tell: Callable[[str], None] | None = None):
        self.request = request
        self._tell = tell or (lambda text: None)
        self._compiler = shared_compiler(request.python, request.secs)
        self._steps: list[StepReport | Refusal] = []
        self._batches: list[LargestBatch] = []
        self._outcomes: dict[tuple[str, str], StepReport | CompileError] = {}

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
          CompileError: its Python does not exist, or has no supported release of the compiler.
        """
        target = self.request.target
        if not (target.chip.runs_tensorflow or self.request.on_jax):
            self.say(
                f"{target.name}: Google offers this chip for JAX and PyTorch, not for TensorFlow. "
                "The report shows the compiler's result; the program runs there on JAX "
                "(--runtime jax) only."
            )
        self._compiler.start(target)

    def compile(
        self, name: str, step: LoweredStep, examples: int | None, line_of: LineOf
    ) -> StepReport:
        """Compiles a step, unless the same step was compiled before under the same name.

        Args:
          name: the step's name in the report.
          step: the lowered step.
          examples: the global batch size.
          line_of: maps an operation's name to the user's line.

        Raises:
          CompileError: the step was not compiled; the report has it too.
        """
        key = _key(name, step)
        outcome = self._outcomes.get(key)
        if isinstance(outcome, CompileError):
            raise outcome
        if outcome:
            return outcome
        try:
            report = self._compile(name, step, examples, line_of)
        except CompileError as error:
            self.refuse(name, error)
            self._outcomes[key] = error
            raise
        self._outcomes[key] = report
        self._add(report)
        return report

    def find_batch(self, name: str, attempt: Callable[[int], Trial], start: int, step: int) -> None:
        """Searches for the largest batch of a mode, and adds it to the report.

        Args:
          name: the name of the mode's step.
          attempt: compiles the step for a global batch; see ``fits``.
          start: the first batch size to try.
          step: batches are multiples of this.
        """

        def report_trial(size: int) -> Trial:
            trial = attempt(size)
            result = "fit" if trial.fits else "do not fit"
            self.say(f"  {name}, batches of {size:,} {result}: {as_bytes(trial.bytes)}")
            return trial

        target = self.request.target
        search = Search(report_trial, step, target.chip.hbm_bytes)
        search.run(start)
        largest_batch = LargestBatch(
            name, target.name, search.size, search.too_large, search.bytes, search.available,
            search.trials, search.why_ended,
        )  # fmt: skip
        self._batches.append(largest_batch)
        self.say(str(largest_batch))
        self._write()

    def fits(self, name: str, step: LoweredStep, line_of: LineOf) -> Trial:
        """Returns whether a step fits the chip, without adding it to the report.

        Raises:
          SearchEndError: it was not compiled for a reason other than memory.
        """
        try:
            return Trial(True, self._compile(name, step, None, line_of).memory.total)
        except CompileError as error:
            if error.why is not NotCompiledReason.MEMORY:
                raise SearchEndError(str(error).splitlines()[0]) from error
            return Trial(False, error.memory.needed if error.memory else 0)

    def _compile(
        self, name: str, step: LoweredStep, examples: int | None, line_of: LineOf
    ) -> StepReport:
        target = self.request.target
        try:
            compiled = self._compiler.compile(
                step.hlo, target, step.replicas, step.random_ops, bool(step.block_steps)
            )
        except CompileError as error:
            raise _explain(error, step, line_of) from error
        return analyse(name, step, compiled, target, examples, line_of)

    def refuse(self, name: str, error: CompileError) -> None:
        """Adds a step that was not compiled to the report."""
        self._add(
            Refusal(name, self.request.target.name, error.why.value, str(error), error.memory)
        )

    def not_covered(self, name: str, message: str) -> CompileError:
        """Returns the error of a step that cannot be compiled, and adds it to the report."""
        error = CompileError(NotCompiledReason.NOT_COVERED, message)
        self.refuse(name, error)
        return error

    def finish(self) -> int:
        """Ends the compiler's process, and prints the summary at the program's end.

        Returns:
          The program's exit status: 0 if there were steps and all were compiled, else 1.
        """
        self.close()
        report = self.report
        if not report.steps:
            self.say(
                "Nothing was compiled: the program reached no step of a TPUEstimator with "
                "use_tpu=True. Many programs have a flag for it: --use_tpu=true."
            )
        elif report.refused:
            self.say(f"{len(report.refused)} of {len(report.steps)} step(s) were not compiled.")
        return 0 if report.passed else 1

    def say(self, text: str) -> None:
        """Passes a text to ``tell``."""
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
    """Returns the job given to ``use_job``, else the one that the environment requests, or None.

    Raises:
      ValueError: see ``Request.of``.
    """
    return _jobs[-1] if _jobs else _job_of_environment()


def use_job(job: CompileJob) -> None:
    """Sets this process's job; it overrides the environment."""
    _jobs[:] = [job]


@functools.cache
def _job_of_environment() -> CompileJob | None:
    request = Request.of(os.environ)
    if request is None:
        return None
    return CompileJob(request, _print)


def start_job(
    target: str,
    only: bool = False,
    report: str | None = None,
    finds_batch: bool = False,
    on_jax: bool = False,
) -> CompileJob:
    """Makes this process compile the steps of the program that it runs.

    Call it before TensorFlow is loaded, which creates the emulated cores.

    Args:
      target: the name of a slice.
      only: whether to compile without running any step.
      report: the path of the report, or None; see ``write_report``.
      finds_batch: whether to search for the largest batches that fit.
      on_jax: see ``Request``; also if the environment has JAX run the steps.

    Raises:
      ValueError: see ``Request.make``.
      CompileError: the compiler's Python does not exist, or has no supported release of the
        compiler.
    """
    on_jax = on_jax or parse_jax_name(os.environ.get(RUNTIME)) is not None
    Request.make(target, only, report, finds_batch, on_jax).write_to(os.environ)
    _job_of_environment.cache_clear()
    job = _job_of_environment()
    assert job is not None
    job.start()
    keep_jax_out()
    return job


def _key(name: str, step: LoweredStep) -> tuple[str, str]:
    return name, hashlib.sha256(step.hlo).hexdigest()


def _explain(error: CompileError, step: LoweredStep, line_of: LineOf) -> CompileError:
    """Returns the compiler's error in terms of the user's program."""
    if error.why is NotCompiledReason.TPU:
        return CompileError(NotCompiledReason.TPU, explain_refusal(str(error), step, line_of))
    if error.why is NotCompiledReason.MEMORY:
        memory = analyse_refused(str(error), error.text, step, line_of)
        if memory:
            advice = "Make the batch smaller; --find-batch-size searches for the largest that fits."
            return CompileError(NotCompiledReason.MEMORY, f"{memory}\n{advice}", memory=memory)
    return error


def _print(text: str) -> None:
    print(text, file=sys.stdout, flush=True)
