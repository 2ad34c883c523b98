"""Results of each program for each slice, in a JSON file that a later run continues."""

from __future__ import annotations

import dataclasses
import json
import os
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from estimator_bridge.compile_for import Refusal, StepReport

__all__ = ["ON_JAX", "Results", "cell_name", "summary", "write_atomically"]

ON_JAX = " on JAX"  # after a slice's name: the programs that JAX runs


def cell_name(target: str, on_jax: bool) -> str:
    """Returns the name of a column of the matrix."""
    return target + ON_JAX * on_jax


def summary(steps: Iterable[StepReport | Refusal]) -> list[dict[str, Any]]:
    """The figures that the matrix shows, of each step once."""
    figures: dict[str, dict[str, Any]] = {}
    for step in steps:
        if isinstance(step, Refusal):
            figures.setdefault(step.name, step.as_json())
            continue
        figures[step.name] = {
            "compiled": True,
            "name": step.name,
            "device": step.device,
            "replicas": step.replicas,
            "examples": step.examples,
            "compile_seconds": round(step.compile_seconds, 2),
            "flops": step.flops,
            "bytes_moved": step.bytes_moved,
            "hbm_bytes_moved": step.hbm_bytes_moved,
            "memory": {**dataclasses.asdict(step.memory), "total": step.memory.total},
            "seconds": step.roofline.seconds,
            "bound": step.roofline.bound,
            "sums": step.all_reduces.asked,
            "all_reduces": step.all_reduces.count,
            "all_reduce_bytes": step.all_reduces.bytes,
            "float64": len(step.float64),
            "dynamic": len(step.dynamic),
            "compiler_bytes": step.compiler_bytes,
        }
    return list(figures.values())


class Results:
    """Program to slice to steps, in a file.

    Args:
      path: of the file; what is there is read.

    Attributes:
      programs: program to slice to ``summary``.
      versions: program to slice to what compiled it: the versions of 'jax' and 'libtpu'.
    """

    def __init__(self, path: Path):
        self._path = path
        self.versions: dict[str, dict[str, dict[str, str]]] = {}
        self.programs: dict[str, dict[str, list[dict[str, Any]]]] = {}
        self._read()

    def _read(self) -> None:
        if self._path.exists():
            content = json.loads(self._path.read_text(encoding="utf-8"))
            self.versions, self.programs = content["versions"], content["programs"]

    def missing(self, program: str, slices: Iterable[str]) -> list[str]:
        """The slices for which a program has not been compiled."""
        return [name for name in slices if name not in self.programs.get(program, {})]

    def add(
        self,
        program: str,
        of_slices: dict[str, list[dict[str, Any]]],
        versions: dict[str, str],
    ) -> None:
        """Adds what came of a program to the file, to which another process may have added too.

        Args:
          program: its name.
          of_slices: slice to ``summary``.
          versions: of what compiled them.
        """
        self._read()
        self.versions.setdefault(program, {}).update(dict.fromkeys(of_slices, versions))
        self.programs.setdefault(program, {}).update(of_slices)
        values = {"versions": self.versions, "programs": self.programs}
        write_atomically(self._path, json.dumps(values, indent=1, sort_keys=True) + "\n")
        self._read()  # in the file's order, in which a later run writes the page


def write_atomically(path: Path, text: str) -> None:
    """Writes a file, whole or not at all."""
    handle, part = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(part, 0o644)
        os.replace(part, path)
    except BaseException:
        os.unlink(part)
        raise
