"""A process that compiles programs, and writes what came of each step as it comes.

    python -m parity.compiled.worker --slices v5e-1,v3-8 --out FILE own NAME ...
    python -m parity.compiled.worker --slices v3-8,v5e-8 --out FILE run NAME SCRIPT [ARGUMENT ...]

With ``--jax`` it compiles what JAX runs.

``own`` takes the programs of this repository, all in this one process. ``run`` takes a name for the
results, and what follows `estimator-bridge run`; its slices have equally many replicas, as a
program has one number of cores. FILE is there if the process is ended, too.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from pathlib import Path
from typing import Any

from estimator_bridge.compile_for import Slice, find_slice, use_job
from parity.compiled.results import cell_name, summary, write_atomically
from parity.compiled.several import SeveralSlices, by_replicas

__all__ = ["main"]


class _Output:
    """The written results: versions, and program to slice to steps."""

    def __init__(self, path: Path, on_jax: bool):
        self._path, self._on_jax = path, on_jax
        self._values: dict[str, Any] = {"versions": {}, "programs": {}}

    def job(self, program: str, slices: list[Slice]) -> SeveralSlices:
        """A job whose steps go into the file; it is this process's from here on."""

        def report_progress(text: str) -> None:
            print(f"{program}: {text}", flush=True)
            self.write(program, job)

        job = SeveralSlices(slices, report_progress, self._on_jax)
        use_job(job)
        return job

    def write(self, program: str, job: SeveralSlices) -> None:
        """Writes the steps that a job has come to."""
        of_program = self._values["programs"].setdefault(program, {})
        for report in (one.report for one in job.jobs):
            self._values["versions"] = report.versions
            of_program[cell_name(report.target, self._on_jax)] = summary(report.steps)
        write_atomically(self._path, json.dumps(self._values))


def main(arguments: list[str] | None = None) -> int:
    """The command; see the module's docstring."""
    parser = argparse.ArgumentParser(prog="python -m parity.compiled.worker", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--slices", required=True, help="names, by commas")
    parser.add_argument("--out", type=Path, required=True, help="the file that is written")
    parser.add_argument("--jax", action="store_true", help="the programs that JAX runs")
    parser.add_argument("kind", choices=("own", "run"))
    parser.add_argument("program", nargs=argparse.REMAINDER)
    options = parser.parse_args(arguments)
    groups = by_replicas([find_slice(name) for name in options.slices.split(",")])
    output = _Output(options.out, options.jax)
    if options.kind == "own":
        return _own(output, options.program, groups, options.jax)
    program, *command = options.program
    return _run(output, program, command, groups)


def _own(output: _Output, programs: list[str], groups: dict[int, list[Slice]], on_jax: bool) -> int:
    first = output.job(programs[0], groups[max(groups)])
    first.start()
    from parity.compiled.on_cores import compile_program, make_cores

    make_cores(max(groups), on_jax)
    for program in programs:
        for slices in groups.values():
            job = output.job(program, slices)
            compile_program(program, job)
            output.write(program, job)
    first.close()
    return 0


def _run(output: _Output, program: str, command: list[str], groups: dict[int, list[Slice]]) -> int:
    (slices,) = groups.values()
    job = output.job(program, slices)
    job.request.write_to(os.environ)
    job.start()
    from estimator_bridge.commands.cli import main as estimator_bridge

    try:
        return estimator_bridge(["run", *command])
    finally:
        job.close()
        output.write(program, job)


if __name__ == "__main__":
    sys.exit(main())
