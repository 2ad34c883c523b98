"""Runs the programs of ``parity/programs/`` and compares their numbers with the original's.

    python -m parity.compare --original PYTHON --report
    python -m parity.compare --original PYTHON --record
    python -m parity.compare [PROGRAM ...]

PYTHON has TensorFlow 2.15: both sides are run, and load each other's checkpoints; then both are run
once more after ``tf.disable_v2_behavior()``, as most TF1 programs began. Without ``--original``,
this side is compared with the original's results recorded in ``parity/goldens/``. The exit status
is 0 if every difference is within its tolerance.
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
from parity.programs import PROGRAMS, RANDOM
from parity.rows import Row, compare, compare_continued

__all__ = ["GOLDENS", "main", "run_side"]

ROOT = Path(__file__).resolve().parent.parent
GOLDENS = ROOT / "parity" / "goldens"


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
    done = subprocess.run(
        words, cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise RuntimeError(
            f"{' '.join(words)} failed, after {len(done.stdout.splitlines())} of {len(names)} "
            f"programs:\n{done.stderr[-3000:]}"
        )


def _live(names: list[str], python: str, work: Path) -> dict[str, list[Row]]:
    """Runs both sides in ``work``, and each from the other's last checkpoints."""
    rows = _both(names, python, work)
    original, here = work / "original", work / "here"
    for side, runs in (("original", python), ("here", sys.executable)):
        print(f"Checkpoints of both sides, loaded by: {side}", flush=True)
        for origin in (original, here):
            out = work / f"{side}_from_{origin.name}"
            run_side(runs, names, "--out", out, "--go-on-from", origin)
    for name in names:
        for reader, writer in (("here", "original"), ("original", "here")):
            got = record.load(work / f"{reader}_from_{writer}" / name)
            wanted = record.load(work / f"{writer}_from_{writer}" / name)
            rows[name] += compare_continued(reader, got, wanted, only_values=name in RANDOM)
    return rows


def _both(names: list[str], python: str, work: Path, *arguments: str) -> dict[str, list[Row]]:
    """Runs the original, and then this side from its checkpoints."""
    original, here = work / "original", work / "here"
    how = " ".join(arguments)
    print(f"TensorFlow 2.15 trains from scratch, and from its checkpoint {how}", flush=True)
    run_side(python, names, "--out", original, *arguments)
    print(f"The same here, from that checkpoint {how}", flush=True)
    run_side(sys.executable, names, "--out", here, "--starts", original, *arguments)
    return _compared(names, here, original)


def _compared(names: list[str], here: Path, original: Path) -> dict[str, list[Row]]:
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
    parser.add_argument("programs", nargs="*", metavar="PROGRAM", help=", ".join(PROGRAMS))
    parser.add_argument("--original", metavar="PYTHON", help="a Python with TensorFlow 2.15")
    parser.add_argument("--record", action="store_true", help="keep its results as the goldens")
    parser.add_argument("--report", action="store_true", help=f"write {report.REPORT.name}")
    options = parser.parse_args(arguments)
    unknown = sorted(set(options.programs) - set(PROGRAMS))
    if unknown:
        parser.error(f"no such program: {', '.join(unknown)}; there are {', '.join(PROGRAMS)}")
    if (options.record or options.report) and not options.original:
        parser.error("--record and --report need a run of both sides: add --original PYTHON")
    if options.report and options.programs:
        parser.error("--report covers all programs: leave out their names")
    return options


def main(arguments: list[str] | None = None) -> int:
    """Runs the command; see the module's docstring.

    Returns:
      0 if every difference is within its tolerance.
    """
    options = _options(arguments)
    names = options.programs or list(PROGRAMS)
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        off: dict[str, list[Row]] = {}
        if options.original:
            original = work / "original"
            rows = _live(names, options.original, work)
            off = _both(names, options.original, work / "off", "--v2-behavior-off")
        else:
            original = GOLDENS
            run_side(sys.executable, names, "--out", work / "here", "--starts", GOLDENS)
            rows = _compared(names, work / "here", GOLDENS)
        if options.record:
            _keep_goldens(names, original)
        if options.report:
            versions = [
                record.load(side / names[0]).facts["tensorflow"]
                for side in (original, work / "here")
            ]
            report.REPORT.write_text(report.text(rows, off, *versions))
    rows.update({f"{name}, v2 behavior off": of_program for name, of_program in off.items()})
    return 0 if _print(rows) else 1


if __name__ == "__main__":
    sys.exit(main())
