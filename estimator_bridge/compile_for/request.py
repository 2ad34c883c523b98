"""Whether this program's steps are to be compiled for a TPU, as its environment says it.

The environment, so that processes which a program starts inherit it. Nothing here needs TensorFlow.
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Mapping, MutableMapping

from estimator_bridge.compile_for.slices import Slice, find_slice
from estimator_bridge.tpu_presence import CORES

__all__ = ["Request"]

_SLICE = "ESTIMATOR_BRIDGE_COMPILE_FOR"
_ONLY = "ESTIMATOR_BRIDGE_COMPILE_ONLY"
_REPORT = "ESTIMATOR_BRIDGE_COMPILE_REPORT"
_PYTHON = "ESTIMATOR_BRIDGE_COMPILE_PYTHON"
_SECS = "ESTIMATOR_BRIDGE_COMPILE_SECS"
_DEFAULT_SECS = 1800.0


@dataclasses.dataclass(frozen=True)
class Request:
    """What to compile for, and what to do besides.

    Attributes:
      target: the slice.
      only: whether no step is to run.
      report: the file for a report in JSON; None for none.
      python: the interpreter that has the compiler; None for this one.
      secs: how long one step may take to compile.
    """

    target: Slice
    only: bool = False
    report: str | None = None
    python: str | None = None
    secs: float = _DEFAULT_SECS

    @classmethod
    def of(cls, environ: Mapping[str, str]) -> Request | None:
        """The request that an environment makes; None for none.

        Raises:
          ValueError: its slice does not exist, or its seconds are no positive number.
        """
        if not environ.get(_SLICE):
            return None
        return cls(
            find_slice(environ[_SLICE]),
            bool(environ.get(_ONLY)),
            environ.get(_REPORT) or None,
            environ.get(_PYTHON) or None,
            _seconds(environ.get(_SECS)),
        )

    @classmethod
    def make(cls, target: str, only: bool = False, report: str | None = None) -> Request:
        """A request for a slice, with the rest as this process's environment says.

        Raises:
          ValueError: as ``of``; or the report's folder does not exist.
        """
        python, secs = os.environ.get(_PYTHON) or None, _seconds(os.environ.get(_SECS))
        if report is not None:
            report = os.path.abspath(report)
            folder = os.path.dirname(report)
            if not os.path.isdir(folder):
                raise ValueError(f"the report's folder {folder} does not exist. Make it first.")
            if os.path.isdir(report):
                raise ValueError(f"the report {report} is a folder. Name a file.")
        return cls(find_slice(target), only, report, python, secs)

    def write_to(self, environ: MutableMapping[str, str]) -> None:
        """Makes this request in an environment, with as many emulated cores as it has replicas."""
        environ[_SLICE] = self.target.name
        environ[CORES] = str(self.target.replicas)
        for name, value in ((_ONLY, "1" if self.only else ""), (_REPORT, self.report or "")):
            if value:
                environ[name] = value
            else:
                environ.pop(name, None)


def _seconds(given: str | None) -> float:
    if not given:
        return _DEFAULT_SECS
    try:
        seconds = float(given)
    except ValueError:
        seconds = 0.0
    if not seconds > 0:
        raise ValueError(f"{_SECS} must be a positive number of seconds, got {given!r}.")
    return seconds
