"""Compiles programs with a TPU's own compiler for slices of each kind and writes the matrix.

    python -m parity.compile_for_tpu [PROGRAM ...] [--slices v5e-1,v3-8] [--checkouts FOLDER]
        [--jax]

The programs are those of ``parity/programs/``, the digits model and a canned classifier; with
``--checkouts``, those of ``parity/compiled/fetched.py`` too, whose repositories the folder holds as
``OWNER+NAME``. None of their steps runs. With ``--jax``, the programs of many steps are compiled
that JAX runs, of those without ``--checkouts``. Needs the extra tpu-compile. Results are kept in
``parity/COMPILED.json``, and a later run compiles only what is missing; ``--again`` compiles
everything. The matrix is ``parity/COMPILED.md``, and in docs/tpu.md. The exit status is 1 if a step
was neither compiled nor explained.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from estimator_bridge.compile_for import Slice, find_slice
from parity.compiled.fetched import FETCHED, command, import_path
from parity.compiled.page import in_docs, page, unexplained
from parity.compiled.results import Results, cell_name, write_atomically
from parity.compiled.several import by_replicas
from parity.programs import PROGRAMS

__all__ = ["JSON", "PAGE", "main"]

ROOT = Path(__file__).parents[1]
JSON, PAGE = ROOT / "parity" / "COMPILED.json", ROOT / "parity" / "COMPILED.md"
DOCS = ROOT / "docs" / "tpu.md"
SLICES = "v2-8,v3-8,v4-8,v5e-1,v5e-8,v5e-16,v5p-8,v6e-8,tpu7x-8"
OWN = (*PROGRAMS, "digits", "classifier")
_OWN_SECS, _FETCHED_SECS = 7200, 7200


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command; see the module's docstring."""
    options = _parse(arguments)
    slices = [find_slice(name) for name in options.slices.split(",")]
    results = Results(JSON)
    programs = options.programs or [*OWN, *(FETCHED if options.checkouts else ())]
    with tempfile.TemporaryDirectory() as folder:
        own = [program for program in programs if program in OWN]
        _compile_own(own, slices, results, options, folder)
        fetched_programs = [p for p in programs if p in FETCHED]
        if fetched_programs:
            data = Path(folder, "data")
            data.mkdir()
            _process(["-c", _WRITE_DATA, str(data)], folder, _OWN_SECS)
            for program in fetched_programs:
                _compile_fetched(program, slices, results, options, data)
    write_atomically(PAGE, page(results))
    write_atomically(DOCS, in_docs(DOCS.read_text(encoding="utf-8"), results))
    missing = unexplained(results)
    print(*missing, sep="\n", flush=True)
    return 1 if missing else 0


_WRITE_DATA = (
    "import sys, pathlib; from parity.compiled.data import write_data; "
    "write_data(pathlib.Path(sys.argv[1]))"
)


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m parity.compile_for_tpu", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    choices = [*OWN, *FETCHED]
    parser.add_argument("programs", nargs="*", metavar="PROGRAM", help="; ".join(choices))
    parser.add_argument("--slices", default=SLICES, help=f"comma-separated (default: {SLICES})")
    parser.add_argument("--checkouts", type=Path, help="a folder of repositories, OWNER+NAME each")
    parser.add_argument("--again", action="store_true", help="compile everything again")
    parser.add_argument("--jax", action="store_true", help="compile the programs that JAX runs")
    options = parser.parse_args(arguments)
    if options.jax and options.checkouts:
        parser.error("--jax covers the programs of parity/programs/ only: leave --checkouts out")
    unknown = sorted(set(options.programs) - set(choices))
    if unknown:
        parser.error(f"no such program: {', '.join(unknown)}; there are {', '.join(choices)}")
    fetched_programs = sorted(set(options.programs) & set(FETCHED))
    if fetched_programs and options.checkouts is None:
        names = ", ".join(fetched_programs)
        parser.error(f"{names}: name the folder of their repositories with --checkouts")
    if options.checkouts is not None:
        options.checkouts = options.checkouts.resolve()
        for program in fetched_programs or ([] if options.programs else FETCHED):
            checkout = _checkout(options.checkouts, program)
            if not checkout.is_dir():
                one = FETCHED[program]
                parser.error(
                    f"{program}: no folder {checkout}. Clone "
                    f"https://github.com/{one.repository} there, at {one.revision}."
                )
    try:
        for name in options.slices.split(","):
            find_slice(name)
    except ValueError as error:
        parser.error(str(error))
    return options


def _checkout(checkouts: Path, program: str) -> Path:
    return checkouts / FETCHED[program].repository.replace("/", "+")


def _compile_own(
    programs: list[str],
    slices: list[Slice],
    results: Results,
    options: argparse.Namespace,
    folder: str,
) -> None:
    """Compiles all in one process: loading TensorFlow and the compiler takes longer than most."""
    names = [one.name for one in slices]
    cells = [cell_name(name, options.jax) for name in names]
    programs = [p for p in programs if options.again or results.missing(p, cells)]
    if not programs:
        return
    out = Path(folder, "own.json")
    arguments = ["-m", "parity.compiled.worker", "--slices", ",".join(names), "--out", str(out)]
    flags = ["--jax"] if options.jax else []
    _process([*arguments, *flags, "own", *programs], folder, _OWN_SECS)
    _collect(out, results)


def _compile_fetched(
    program: str, slices: list[Slice], results: Results, options: argparse.Namespace, data: Path
) -> None:
    one, checkout = FETCHED[program], _checkout(options.checkouts, program)
    names = [tpu_slice.name for tpu_slice in slices]
    slice_names = set(names if options.again else results.missing(program, names))
    for replicas, group in by_replicas([s for s in slices if s.name in slice_names]).items():
        with tempfile.TemporaryDirectory() as folder:
            out = Path(folder, "steps.json")
            group_names = ",".join(tpu_slice.name for tpu_slice in group)
            arguments = ["-m", "parity.compiled.worker", "--slices", group_names, "--out", str(out)]
            words = command(
                one, replicas, data=str(data), out=str(Path(folder, "model")), code=str(checkout)
            )
            path = import_path(one, checkout, Path(folder))
            environment = {"PYTHONPATH": path, **one.environment}
            arguments += ["run", program, *words]
            output = _process(arguments, folder, _FETCHED_SECS, environment)
            _collect(out, results, program, [tpu_slice.name for tpu_slice in group], output)


def _process(
    arguments: list[str], folder: str, secs: float, environment: dict[str, str] | None = None
) -> str:
    """Runs Python, and returns the end of its output; the whole output is in the folder."""
    print(shlex.join(arguments)[:300], flush=True)
    log = Path(folder, "log.txt")
    with log.open("wb") as output:
        try:
            subprocess.run(
                [sys.executable, *arguments],
                cwd=ROOT,
                env={**os.environ, "TF_CPP_MIN_LOG_LEVEL": "2", **(environment or {})},
                stdout=output,
                stderr=subprocess.STDOUT,
                timeout=secs,
                check=False,
            )
        except subprocess.TimeoutExpired:
            output.write(f"\nended after {secs} s".encode())
    lines = log.read_text(errors="replace").splitlines()
    return "\n".join(lines[-12:])


def _collect(
    out: Path,
    results: Results,
    program: str = "",
    slices: Sequence[str] = (),
    output: str = "",
) -> None:
    """Adds a process's results, or its output if the program reached no step."""
    report: dict[str, Any] = json.loads(out.read_text()) if out.exists() else {"programs": {}}
    programs = report["programs"] or ({program: {}} if program else {})
    for name, of_slices in programs.items():
        for target in slices:
            if not of_slices.get(target):
                failure = {"compiled": False, "name": "program", "target": target}
                of_slices[target] = [{**failure, "why": "the program ended", "message": output}]
        results.add(name, of_slices, report.get("versions", {}))
        print(name, {k: sum(s["compiled"] for s in v) for k, v in of_slices.items()}, flush=True)


if __name__ == "__main__":
    sys.exit(main())
