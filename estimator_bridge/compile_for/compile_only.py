"""Ends programs that run under --compile-only."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NoReturn

from estimator_bridge.compile_for.job import CompileJob, current_job

__all__ = ["CompileOnlyEnd", "NotComputed", "end_program", "refuse_uncovered"]


class CompileOnlyEnd(SystemExit):
    """Ends a program that asks for a value that no step has computed.

    Args:
      code: 0 if all steps so far were compiled, else 1.
      message: the explanation for the user.
    """

    def __init__(self, code: int, message: str):
        super().__init__(code)
        self.message = message


def end_program(job: CompileJob, value_name: str) -> NoReturn:
    """Ends a program that asks for a value that only a step computes.

    Args:
      job: the program's job.
      value_name: the name of the value.

    Raises:
      CompileOnlyEnd: always.
    """
    message = f"--compile-only: no step ran, so there is no {value_name}; the program ends here."
    job.say(message)
    raise CompileOnlyEnd(0 if job.report.passed else 1, message)


def refuse_uncovered(name: str, message: str) -> None:
    """Adds a call that would run on a TPU but is not compiled to the report, if any.

    Args:
      name: the call's name.
      message: the reason and what to do.

    Raises:
      CompileOnlyEnd: under --compile-only.
    """
    job = current_job()
    if job is None:
        return
    job.not_covered(name, message)
    if job.request.only:
        explanation = (
            f"--compile-only: {name} would run here, and is not compiled; the program ends."
        )
        job.say(explanation)
        raise CompileOnlyEnd(1, explanation)


class NotComputed(dict):
    """The results of an evaluation that was compiled but not run.

    Reading it ends the program, which has no numbers to continue with.

    Args:
      job: the program's job.
    """

    def __init__(self, job: CompileJob):
        super().__init__()
        self._job = job

    def _end(self, *unused: Any, **also_unused: Any) -> NoReturn:
        end_program(self._job, "metric")

    __getitem__ = __contains__ = __eq__ = __ne__ = _end
    __bool__ = __len__ = __repr__ = __str__ = _end
    get = items = keys = values = pop = copy = update = setdefault = popitem = _end
    __hash__ = None

    def __iter__(self) -> Iterator[Any]:
        self._end()
