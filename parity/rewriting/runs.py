"""Runs third-party programs by `estimator-bridge run`, and rewritten by plain Python; compares.

    python -m parity.rewriting.runs --checkouts FOLDER [--cores N] [--out FILE] [PROGRAM ...]

The programs are those of ``parity.compiled.fetched``, and FOLDER holds their checkouts. Both runs
train with the same seed on emulated cores. Their last checkpoints must be equal, bit for bit, their
evaluations must give the same results, and their predictions' tables the same bytes. Packages that
a program needs and this environment lacks are found on PYTHONPATH.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from parity.compiled.fetched import FETCHED, Fetched, command

__all__ = ["compared", "main"]

_SECS = 600
_SEEDED = Path(__file__).with_name("seeded")
_ROOT = Path(__file__).resolve().parents[2]
_RESULT = re.compile(r"Saving dict for global step (\d+: .*)")
# Repositories that expect to be a package of this name.
_PACKAGES = {"google-research/albert": "albert"}
# What is compiled in minutes, and not run, is left out.
_TOO_LARGE = ("bert: run_classifier, BERT-base", "tpu: resnet_main, ResNet-50")


def _run(
    program: Fetched, checkout: Path, data: Path, out: Path, cores: int, is_rewritten: bool
) -> tuple[int, str]:
    words = command(program, cores, data=str(data), out=str(out), code=str(checkout))
    folders = [_SEEDED, _ROOT, *(checkout / folder for folder in program.path)]
    folders += [checkout.parent] if program.repository in _PACKAGES else []
    python_path = os.environ.get("PYTHONPATH")
    environment = {
        **os.environ,
        **program.environment,
        "PYTHONPATH": os.pathsep.join(
            [*map(str, folders), *([python_path] if python_path else [])]
        ),
        "PYTHONWARNINGS": "ignore",
    }
    if is_rewritten:
        environment["ESTIMATOR_BRIDGE_CORES"] = str(cores)
        start = [sys.executable]
    else:
        start = [sys.executable, "-m", "estimator_bridge", "run", "--cores", str(cores)]
    process = subprocess.run(
        [*start, *words], env=environment, cwd=out.parent, timeout=_SECS, check=False,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
    )  # fmt: skip
    return process.returncode, process.stdout


def _weights(folder: Path) -> dict[str, Any]:
    """All variables of the last checkpoint below a folder."""
    import tensorflow as tf

    states = sorted(folder.rglob("checkpoint"))
    if not states:
        return {}
    latest = tf.train.latest_checkpoint(str(states[0].parent))
    reader = tf.train.load_checkpoint(latest)
    return {name: reader.get_tensor(name) for name in reader.get_variable_to_shape_map()}


def _tables(folder: Path) -> dict[str, bytes]:
    """The tables of predictions below a folder."""
    return {
        str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*.tsv"))
    }


def compared(name: str, checkouts: Path, data: Path, cores: int) -> dict[str, Any]:
    """Runs one program both ways.

    Args:
      name: of FETCHED.
      checkouts: folder of OWNER+NAME folders.
      data: what ``write_data`` wrote.
      cores: how many are emulated.

    Returns:
      Exit codes, the number of variables, names of those that differ, the number of evaluations
      and of tables, and the last lines of a run that failed.
    """
    import numpy as np

    program = FETCHED[name]
    checkout = checkouts / program.repository.replace("/", "+")
    result: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as folder:
        package = _PACKAGES.get(program.repository, checkout.name)
        published, copy = (Path(folder, side, package) for side in ("published", "rewritten"))
        for place in (published, copy):
            shutil.copytree(checkout, place, symlinks=True, ignore=shutil.ignore_patterns(".git"))
        rewritten = subprocess.run(
            [sys.executable, "-m", "estimator_bridge", "rewrite", "--write", str(copy)],
            cwd=_ROOT, timeout=_SECS, check=False, capture_output=True, text=True,
        )  # fmt: skip
        result["by hand"] = rewritten.returncode
        sides = {}
        for side, code in (("run", published), ("python", copy)):
            out = Path(folder, f"out of {side}".replace(" ", "_"))
            result[side], output = _run(program, code, data, out, cores, side == "python")
            sides[side] = _weights(out), _RESULT.findall(output), _tables(out)
            if result[side]:
                result[f"{side} said"] = output.splitlines()[-5:]
    (ours, results, tables), (theirs, other_results, other_tables) = sides["run"], sides["python"]
    result["variables"] = len(ours)
    result["evaluations"] = len(results)
    result["tables"] = len(tables)
    result["different"] = sorted(
        variable
        for variable in {*ours, *theirs}
        if variable not in ours
        or variable not in theirs
        or not np.array_equal(ours[variable], theirs[variable])
    )
    result["equal"] = (
        bool(ours)
        and not result["different"]
        and (results, tables) == (other_results, other_tables)
    )
    return result


def main(arguments: list[str]) -> int:
    """The command.

    Returns:
      0 where each program gave the same numbers both ways, else 1.
    """
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--checkouts", type=Path, required=True, metavar="FOLDER")
    parser.add_argument("--cores", type=int, default=2, metavar="N")
    parser.add_argument("--out", type=Path, metavar="FILE")
    parser.add_argument("programs", nargs="*", metavar="PROGRAM")
    options = parser.parse_args(arguments)
    names = options.programs or [name for name in FETCHED if name not in _TOO_LARGE]
    unknown = [name for name in names if name not in FETCHED]
    if unknown:
        parser.error(f"no program is called {unknown[0]!r}; there are {', '.join(FETCHED)}")
    from parity.compiled.data import write_data

    results = {}
    with tempfile.TemporaryDirectory() as folder:
        write_data(Path(folder))
        for name in names:
            try:
                results[name] = compared(
                    name, options.checkouts.resolve(), Path(folder), options.cores
                )
            except subprocess.TimeoutExpired as error:
                results[name] = {"equal": False, "error": f"no end within {error.timeout:g} s"}
            print(json.dumps({"program": name, **results[name]}), flush=True)
            if options.out:
                new_file = options.out.with_name(options.out.name + ".new")
                new_file.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
                new_file.replace(options.out)
    return 0 if all(result["equal"] for result in results.values()) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
