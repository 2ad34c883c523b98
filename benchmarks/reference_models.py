"""Measures the models of train.py: examples/s, waiting for input, and what a TPU needs.

    python -m benchmarks.reference_models [NAME ...] [--cores 1 8] [--steps 300] [--rounds 1]
        [--slice v5e-1]
    python -m benchmarks.reference_models --readme [NAME ...]

Each training is a train.py of its own, on the data that ships. The pace is the median over the
later half of what its monitor wrote. The share of time that steps wait for input is the median over
the later half of another training. There half of the steps run on batches in memory, so that both
paces are those of the same second: a machine's pace changes by more than most inputs take. The last
figures are those of a TPU's compiler for the training step, without a TPU: the memory and the least
time of a step. They need estimator-bridge[tpu-compile]. With --readme, the paces are written into
the table of models/README.md; rows of models that are not named stay.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.page import markdown, with_table
from benchmarks.report import write_whole
from models.common.registry import model_names

__all__ = ["Pace", "main", "with_paces"]

ROOT = Path(__file__).resolve().parents[1]
_CORES = (1, 8)
_STEPS = 300
_MISSING = "not measured yet"
# A train.py whose monitor may sample as often as it likes; by default, for 0.3 % of the time.
_SAMPLED = """
import runpy, sys
from estimator_bridge.training.monitoring import input_wait
input_wait._COST = 1.0
del sys.argv[0]
runpy.run_path(sys.argv[0], run_name="__main__")
"""
# A row of the table of paces of models/README.md.
_ROW = re.compile(r"^\| `train\.py --model=(\w+)` \|.*\n", re.M)


@dataclasses.dataclass(frozen=True)
class Pace:
    """The pace of a training.

    Attributes:
      examples_per_sec: the median.
      waiting: the median share of time that steps wait for input, from 0 to 1; None: unknown.
    """

    examples_per_sec: float
    waiting: float | None

    def __str__(self) -> str:
        return f"{self.examples_per_sec:,.0f} examples/s, {self.share} waiting for input"

    @property
    def share(self) -> str:
        """The share of waiting, for a table."""
        return "unknown" if self.waiting is None else f"{self.waiting:.1%}"


def _command(name: str) -> str:
    return f"`train.py --model={name}`"


def with_paces(page: str, paces: Mapping[str, Mapping[int, Pace]], date: str) -> str:
    """Returns models/README.md with new rows in its table of paces: one for each model.

    Args:
      page: the content of models/README.md.
      paces: of each model that was measured the paces by the number of cores, 1 and 8.
      date: how they were measured, in words, for the last column.
    """
    head = ["", "examples/s on 1 core", "on 8 cores", "8 / 1", "waiting for input on 1, on 8 cores"]
    rows = {m[1]: [c.strip() for c in m[0].strip("|\n").split("|")] for m in _ROW.finditer(page)}
    for name, by_cores in paces.items():
        one, eight = (by_cores[cores].examples_per_sec for cores in _CORES)
        waiting = ", ".join(by_cores[cores].share for cores in _CORES)
        cells = [f"{one:,.0f}", f"{eight:,.0f}", f"{eight / one:.2f}", waiting]
        rows[name] = [_command(name), *cells, date]
    missing = [""] * (len(head) - 1) + [_MISSING]
    rows_in_order = [rows.get(name, [_command(name), *missing]) for name in model_names()]
    return with_table(page, "models", markdown([*head, "measured"], rows_in_order))


def _train_py(folder: Path, *arguments: str, with_samples: bool = False) -> None:
    program = ["-c", _SAMPLED] if with_samples else []
    process = subprocess.run(
        [sys.executable, *program, str(ROOT / "train.py"), "--mode=train", *arguments],
        cwd=folder,  # the data that ships is written into runs/data there
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    if process.returncode:
        raise RuntimeError(f"train.py {' '.join(arguments)} failed:\n{process.stderr}")


def _points(
    name: str,
    cores: int,
    steps: int,
    folder: Path,
    extra_flags: Sequence[str],
    with_samples: bool = False,
) -> list[dict[str, Any]]:
    """Returns what the monitor of a training wrote in the later half of it."""
    model_dir = folder / f"{name}-{cores}-{with_samples}"
    loops = max(1, steps // 20)
    _train_py(
        folder, f"--model={name}", f"--tpu=emulated:{cores}", f"--train_steps={steps}",
        "--warmup_steps=0", f"--iterations_per_loop={loops}", f"--model_dir={model_dir}",
        *extra_flags,
        with_samples=with_samples,
    )  # fmt: skip
    points = json.loads((model_dir / "monitor.json").read_text())["points"]
    shutil.rmtree(model_dir)
    return points[len(points) // 2 :]


def _pace(
    name: str, cores: int, steps: int, rounds: int, folder: Path, extra_flags: Sequence[str]
) -> Pace:
    """Prints and returns the pace of trainings on emulated cores."""
    paces, waits = [], []
    for _ in range(rounds):
        points = _points(name, cores, steps, folder, extra_flags)
        paces += [point["examples_per_sec"] for point in points if point["examples_per_sec"]]
        points = _points(name, cores, steps, folder, extra_flags, with_samples=True)
        waits += [point["input_wait"] for point in points if point["input_wait"] is not None]
    pace = Pace(statistics.median(paces), statistics.median(waits) if waits else None)
    print(f"{name} on {cores} core(s): {pace}", flush=True)
    return pace


def _compile(name: str, target: str, folder: Path, extra_flags: Sequence[str]) -> str:
    report = folder / f"{name}.json"
    _train_py(
        folder, f"--model={name}", f"--compile_for={target}", "--compile_only",
        f"--compile_report={report}", *extra_flags,
    )  # fmt: skip
    step = json.loads(report.read_text())["steps"][0]
    memory, line = step["memory"]["total"] / 2**20, step["roofline"]
    loops = step["loops_counted_once"]
    once = f", with {loops} loop(s) counted once" if loops else ""
    return (
        f"{name} for {target}, batch {step['examples']}: {memory:,.1f} MiB of HBM, at least "
        f"{1e6 * line['seconds']:,.3f} us a step, bound by {line['bound']}{once}"
    )


def main() -> None:
    """Measures, and prints a line for each figure."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("models", nargs="*", metavar="NAME", help="by default all")
    parser.add_argument(
        "--cores", type=int, nargs="*", default=list(_CORES), help="numbers of cores"
    )
    parser.add_argument("--steps", type=int, default=_STEPS, help="steps of a training")
    parser.add_argument("--rounds", type=int, default=1, help="trainings of each kind")
    parser.add_argument("--slice", help="also compile the training step for this TPU slice")
    parser.add_argument("--flags", nargs="*", default=[], help="more of train.py's: NAME=VALUE")
    parser.add_argument(
        "--readme", action="store_true", help="write the paces into the table of models/README.md"
    )
    options = parser.parse_args()
    if options.readme and (options.flags or options.cores != list(_CORES)):
        parser.error("--readme measures on 1 and 8 cores, with the defaults: leave out other flags")
    machine = f"{os.cpu_count()} CPUs, load {os.getloadavg()[0]:.1f}"
    print(machine)
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        extra_flags = [f"--{flag}" for flag in options.flags]
        for name in options.models or model_names():
            paces = {
                cores: _pace(name, cores, options.steps, options.rounds, folder, extra_flags)
                for cores in options.cores
            }
            if options.readme:
                page = ROOT / "models" / "README.md"
                how = f"{options.rounds} x {options.steps} steps on {machine} before"
                page_now = with_paces(page.read_text("utf-8"), {name: paces}, how)
                write_whole(str(page), page_now.encode())
            if options.slice:
                print(_compile(name, options.slice, folder, extra_flags), flush=True)


if __name__ == "__main__":
    main()
