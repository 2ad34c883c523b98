"""Runs the programs of ``parity/programs/`` and compares their numbers with the original's.

    python -m parity.compare --original PYTHON --report
    python -m parity.compare --original PYTHON --record
    python -m parity.compare [PROGRAM ...]

PYTHON has TensorFlow 2.15: both sides are run, and load each other's checkpoints; then both are run
once more after ``tf.disable_v2_behavior()``, as most TF1 programs began. Or it has TensorFlow 1.15:
then both sides run after that call, also the programs that use tf.contrib, and the original's runs
are repeated, since some may race. Without ``--original``, this side is compared with the original's
results recorded in ``parity/goldens/``. The exit status is 0 if every difference is within its
tolerance.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from parity import record, report
from parity.programs import CONTRIB, EVERY, NOT_IN_1X, RANDOM
from parity.rows import (
    FACTS,
    Row,
    compare,
    compare_continued,
    compare_repeated,
    with_races,
)

__all__ = ["GOLDENS", "main", "programs_of", "run_side"]

ROOT = Path(__file__).resolve().parent.parent
GOLDENS = ROOT / "parity" / "goldens"
_V2_OFF = "--v2-behavior-off"
# BestExporter of 1.15.5 fails if no evaluation is without a name; that of `mlp` has one.
_OPTIONS_1X = (_V2_OFF, "--without-outer-loop")
_REPEATS = 3  # further runs of the original: of 1.15, or where a fact differs


def run_side(python: str, names: list[str], *arguments: str | Path) -> None:
    """Runs ``parity.run`` in a separate process.

    Args:
      python: the Python, which determines the TensorFlow.
      names: the programs.
      *arguments: further arguments of ``parity.run``.

    Raises:
      RuntimeError: a program failed; the message holds the end of its output.
    """
    words = [python, "-W", "ignore", "-m", "parity.run", *map(str, arguments), *names]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "TF_CPP_MIN_LOG_LEVEL": "3"}
    process = subprocess.run(
        words, cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    if process.returncode:
        raise RuntimeError(
            f"{' '.join(words)} failed, after {len(process.stdout.splitlines())} of {len(names)} "
            f"programs:\n{process.stderr[-3000:]}"
        )


def _live(names: list[str], python: str, work: Path, *arguments: str) -> dict[str, list[Row]]:
    """Runs both sides in ``work``, and each from the other's last checkpoints."""
    rows = _both(names, python, work, *arguments)
    original, here = work / "original", work / "here"
    for side, runs in (("original", python), ("here", sys.executable)):
        print(f"Checkpoints of both sides, loaded by: {side}", flush=True)
        for origin in (original, here):
            out = work / f"{side}_from_{origin.name}"
            run_side(runs, names, "--out", out, "--go-on-from", origin, *arguments)
    for name in names:
        for reader, writer in (("here", "original"), ("original", "here")):
            actual = record.load(work / f"{reader}_from_{writer}" / name)
            expected = record.load(work / f"{writer}_from_{writer}" / name)
            rows[name] += compare_continued(reader, actual, expected, only_values=name in RANDOM)
    return rows


def _both(names: list[str], python: str, work: Path, *arguments: str) -> dict[str, list[Row]]:
    """Runs the original, and then this side from its checkpoints."""
    original, here = work / "original", work / "here"
    how = " ".join(arguments)
    print(f"The original trains from scratch, and from its checkpoint {how}", flush=True)
    run_side(python, names, "--out", original, *arguments)
    print(f"The same here, from that checkpoint {how}", flush=True)
    run_side(sys.executable, names, "--out", here, "--starts", original, *arguments)
    rows = _compare(names, here, original)
    varying = [name for name in names if not all(r.holds for r in rows[name] if r.measure in FACTS)]
    if varying:
        repeats = _repeats_of_original(varying, python, work, *arguments)
        for name in varying:
            rows[name] = with_races(
                rows[name], record.load(here / name), [record.load(out / name) for out in repeats]
            )
    return rows


def _repeat(names: list[str], python: str, work: Path) -> dict[str, list[Row]]:
    """Runs the original again from its checkpoints; returns how often it gives its own numbers."""
    repeats = _repeats_of_original(names, python, work, *_OPTIONS_1X)
    return {
        name: [
            compare_repeated(
                [record.load(out / name) for out in repeats],
                record.load(work / "original" / name),
            )
        ]
        for name in names
    }


def _repeats_of_original(names: list[str], python: str, work: Path, *arguments: str) -> list[Path]:
    """Runs the original again from its checkpoints; returns the folders of its records."""
    folders = [work / f"again_{number}" for number in range(_REPEATS)]
    for out in folders:
        print(f"The original once more: {out.name}", flush=True)
        run_side(python, names, "--out", out, "--starts", work / "original", *arguments)
    return folders


def _compare(names: list[str], here: Path, original: Path) -> dict[str, list[Row]]:
    return {name: compare(record.load(here / name), record.load(original / name)) for name in names}


def _keep_goldens(names: list[str], original: Path) -> None:
    for name in names:
        shutil.rmtree(GOLDENS / name, ignore_errors=True)
        shutil.copytree(original / name / "start", GOLDENS / name / "start")
        for file in original.joinpath(name).glob("record.*"):
            shutil.copy(file, GOLDENS / name)


def _print(rows: dict[str, list[Row]]) -> bool:
    for name, of_program in rows.items():
        print(name)
        for row in of_program:
            verdict = "" if row.holds else f"  TOO FAR: at most {row.tolerance:g}; {row.worst}"
            print(f"  {row.measure:36} {row.difference:8.2g}{verdict}")
    return all(row.holds for of_program in rows.values() for row in of_program)


def _options(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m parity.compare", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("programs", nargs="*", metavar="PROGRAM", help=", ".join(EVERY))
    parser.add_argument("--original", metavar="PYTHON", help="one with TensorFlow 2.15 or 1.15")
    parser.add_argument("--record", action="store_true", help="keep its results as the goldens")
    parser.add_argument("--report", action="store_true", help="write the original's report")
    options = parser.parse_args(arguments)
    unknown = sorted(set(options.programs) - set(EVERY))
    if unknown:
        parser.error(f"no such program: {', '.join(unknown)}; there are {', '.join(EVERY)}")
    if (options.record or options.report) and not options.original:
        parser.error("--record and --report need a run of both sides: add --original PYTHON")
    if options.report and options.programs:
        parser.error("--report covers all programs: leave out their names")
    return options


def _version(python: str) -> str:
    """Returns the version of TensorFlow that a Python has.

    Raises:
      SystemExit: the Python cannot be started, or cannot import TensorFlow.
    """
    words = [python, "-W", "ignore", "-c", "import tensorflow; print(tensorflow.__version__)"]
    try:
        process = subprocess.run(words, capture_output=True, text=True, check=False)
    except OSError as error:
        raise SystemExit(f"--original: {python} cannot be started: {error}.") from error
    if process.returncode:
        raise SystemExit(
            f"--original: {python} cannot import TensorFlow; it needs TensorFlow 2.15 or 1.15. "
            f"The end of its output:\n{process.stderr[-1000:]}"
        )
    return process.stdout.split()[-1]


def programs_of(names: list[str], version: str) -> list[str]:
    """Returns the programs that an original can run.

    Args:
      names: the programs that are asked for; if empty, all that it can run.
      version: the original's TensorFlow.

    Raises:
      SystemExit: one of the wanted programs is not among them.
    """
    is_1x = version.startswith("1.")
    choices = [name for name in EVERY if name not in (NOT_IN_1X if is_1x else CONTRIB)]
    if others := [name for name in names if name not in choices]:
        raise SystemExit(
            f"TensorFlow {version} cannot run {', '.join(others)}. It runs {', '.join(choices)}."
        )
    return names or choices


def main(arguments: list[str] | None = None) -> int:
    """Runs the command; see the module's docstring.

    Returns:
      0 if every difference is within its tolerance.
    """
    options = _options(arguments)
    with tempfile.TemporaryDirectory() as folder:
        if options.original:
            rows = _against(options, Path(folder))
        else:
            names = options.programs or list(EVERY)
            run_side(sys.executable, names, "--out", folder, "--starts", GOLDENS)
            rows = _compare(names, Path(folder), GOLDENS)
    return 0 if _print(rows) else 1


def _against(options: argparse.Namespace, work: Path) -> dict[str, list[Row]]:
    """Runs both sides, and keeps what the options ask for."""
    python, version = options.original, _version(options.original)
    names = programs_of(options.programs, version)
    off: dict[str, list[Row]] = {}
    if version.startswith("1."):
        rows = _live(names, python, work, *_OPTIONS_1X)
        repeated_rows = _repeat(names, python, work)
        rows = {name: of_program + repeated_rows[name] for name, of_program in rows.items()}
        names_to_record = [name for name in names if name in CONTRIB]
    else:
        rows = _live(names, python, work)
        off = _both(names, python, work / "off", _V2_OFF)
        names_to_record = names
    if options.record:
        _keep_goldens(names_to_record, work / "original")
    if options.report:
        report.write(rows, off, version, record.load(work / "here" / names[0]).facts["tensorflow"])
    return {**rows, **{f"{name}, v2 behavior off": row for name, row in off.items()}}


if __name__ == "__main__":
    sys.exit(main())
