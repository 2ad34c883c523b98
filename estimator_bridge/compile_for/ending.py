"""How a program ends that was only to be compiled."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NoReturn

from estimator_bridge.compile_for.job import CompileJob

__all__ = ["CompileOnlyEnd", "Uncomputed", "end_program"]


class CompileOnlyEnd(SystemExit):
    """The program asks for what no step has computed: it ends here.

    Args:
      code: 0 where all steps that it came to were compiled, else 1.
      message: what it asked for.
    """

    def __init__(self, code: int, message: str):
        super().__init__(code)
        self.message = message


def end_program(job: CompileJob, wanted: str) -> NoReturn:
    """Ends a program that asks for something that only steps compute.

    Args:
      job: of the program.
      wanted: what it asks for.

    Raises:
      CompileOnlyEnd: always.
    """
    message = f"--compile-only: no step ran, so there is no {wanted}; the program ends here."
    job.say(message)
    raise CompileOnlyEnd(0 if job.report.passed else 1, message)


class Uncomputed(dict):
    """The results of an evaluation that was compiled and did not run.

    To look into it ends the program, as there are no numbers to go on with.

    Args:
      job: of the program.
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
