"""Reads and writes, in the environment, the request to compile a program's steps for a TPU.

Processes that a program starts inherit the environment. Nothing here needs TensorFlow.
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Mapping, MutableMapping

from estimator_bridge.base.jax_names import JaxName, parse_jax_name
from estimator_bridge.base.tpu_presence import CORES, RUNTIME
from estimator_bridge.compile_for.report_file import check_report_file
from estimator_bridge.compile_for.slices import Slice, find_slice

__all__ = ["Request"]

_SLICE = "ESTIMATOR_BRIDGE_COMPILE_FOR"
_ONLY = "ESTIMATOR_BRIDGE_COMPILE_ONLY"
_FIND = "ESTIMATOR_BRIDGE_COMPILE_FIND_BATCH_SIZE"
_REPORT = "ESTIMATOR_BRIDGE_COMPILE_REPORT"
_PYTHON = "ESTIMATOR_BRIDGE_COMPILE_PYTHON"
_SECS = "ESTIMATOR_BRIDGE_COMPILE_SECS"
_DEFAULT_SECS = 1800.0


@dataclasses.dataclass(frozen=True)
class Request:
    """The slice to compile for, and options.

    Attributes:
      target: the slice.
      only: whether to compile without running any step.
      report: the path of the report, or None; see ``write_report``.
      python: the interpreter with the compiler; None for this one.
      secs: the time limit for compiling one step.
      finds_batch: whether to search for the largest batches that fit.
      on_jax: whether JAX runs the steps, whose program is compiled then.
    """

    target: Slice
    only: bool = False
    report: str | None = None
    python: str | None = None
    secs: float = _DEFAULT_SECS
    finds_batch: bool = False
    on_jax: bool = False

    @classmethod
    def of(cls, environ: Mapping[str, str]) -> Request | None:
        """Returns the request in an environment, or None.

        Raises:
          ValueError: its slice does not exist, or its seconds are not a positive number.
        """
        if not environ.get(_SLICE):
            return None
        return cls(
            find_slice(environ[_SLICE]),
            bool(environ.get(_ONLY)),
            environ.get(_REPORT) or None,
            environ.get(_PYTHON) or None,
            _seconds(environ.get(_SECS)),
            bool(environ.get(_FIND)),
            parse_jax_name(environ.get(RUNTIME)) is not None,
        )

    @classmethod
    def make(
        cls,
        target: str,
        only: bool = False,
        report: str | None = None,
        finds_batch: bool = False,
        on_jax: bool = False,
    ) -> Request:
        """Returns a request for a slice, with the other options from this process's environment.

        Raises:
          ValueError: see ``of``; or the report cannot be written, or finds_batch is set without
            only.
        """
        python, secs = os.environ.get(_PYTHON) or None, _seconds(os.environ.get(_SECS))
        if finds_batch and not only:
            raise ValueError(
                "searching for the largest batch compiles steps of many sizes, which do not run: "
                "add --compile-only"
            )
        tpu_slice = find_slice(target)
        report = None if report is None else check_report_file(report)
        return cls(tpu_slice, only, report, python, secs, finds_batch, on_jax)

    def write_to(self, environ: MutableMapping[str, str]) -> None:
        """Writes this request to an environment, with a CPU device or core for each replica."""
        environ[_SLICE] = self.target.name
        replicas = self.target.replicas
        for name, value in (
            (CORES, "" if self.on_jax else str(replicas)),
            (RUNTIME, str(JaxName(replicas, on_cpu=True)) if self.on_jax else ""),
            (_ONLY, "1" if self.only else ""),
            (_REPORT, self.report or ""),
            (_FIND, "1" if self.finds_batch else ""),
        ):
            if value:
                environ[name] = value
            else:
                environ.pop(name, None)


def _seconds(text: str | None) -> float:
    if not text:
        return _DEFAULT_SECS
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not seconds > 0:
        raise ValueError(f"{_SECS} must be a positive number of seconds, got {text!r}.")
    return seconds
