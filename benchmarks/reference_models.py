"""Measures the models of train.py: examples/s, waiting for input, and what a TPU needs.

    python -m benchmarks.reference_models [NAME ...] [--cores 1 8] [--steps 300] [--slice v5e-1]

Each training is a train.py of its own, on the data that ships. The pace and the share of time that
steps wait for input are medians over the later half of what its monitor wrote. The last figures are
those of a TPU's compiler for the training step, without a TPU: the memory and the least time of a
step. They need estimator-bridge[tpu-compile].
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from models.registry import model_names

__all__ = ["main"]

ROOT = Path(__file__).resolve().parents[1]


def _train_py(folder: Path, *arguments: str) -> None:
    done = subprocess.run(
        [sys.executable, str(ROOT / "train.py"), "--mode=train", *arguments],
        cwd=folder,  # the data that ships is written into runs/data there
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    if done.returncode:
        raise RuntimeError(f"train.py {' '.join(arguments)} failed:\n{done.stderr}")


def _pace(name: str, cores: int, steps: int, folder: Path, more: Sequence[str]) -> float:
    """Prints the pace of a training on emulated cores; returns its examples/s."""
    model_dir = folder / f"{name}-{cores}"
    loops = max(1, steps // 20)
    _train_py(
        folder, f"--model={name}", f"--tpu=emulated:{cores}", f"--train_steps={steps}",
        "--warmup_steps=0", f"--iterations_per_loop={loops}", f"--model_dir={model_dir}", *more,
    )  # fmt: skip
    points = json.loads((model_dir / "monitor.json").read_text())["points"]
    later = points[len(points) // 2 :]
    paces = [point["examples_per_sec"] for point in later if point["examples_per_sec"]]
    waits = [point["input_wait"] for point in later if point["input_wait"] is not None]
    waiting = f"{statistics.median(waits):.1%} waiting for input" if waits else "waiting unknown"
    pace = statistics.median(paces)
    print(f"{name} on {cores} core(s): {pace:,.0f} examples/s, {waiting}", flush=True)
    return pace


def _compiled(name: str, target: str, folder: Path, more: Sequence[str]) -> str:
    report = folder / f"{name}.json"
    _train_py(
        folder, f"--model={name}", f"--compile_for={target}", "--compile_only",
        f"--compile_report={report}", *more,
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
    parser.add_argument("--cores", type=int, nargs="*", default=[1, 8], help="numbers of cores")
    parser.add_argument("--steps", type=int, default=300, help="steps of a training")
    parser.add_argument("--slice", help="also compile the training step for this TPU slice")
    parser.add_argument("--flags", nargs="*", default=[], help="more of train.py's: NAME=VALUE")
    given = parser.parse_args()
    load = os.getloadavg()[0]
    print(f"{os.cpu_count()} CPUs, load {load:.1f}")
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        more = [f"--{flag}" for flag in given.flags]
        for name in given.models or model_names():
            paces = [_pace(name, cores, given.steps, folder, more) for cores in given.cores]
            if len(paces) > 1:
                print(f"{name}: {paces[-1] / paces[0]:.2f}x from the first to the last", flush=True)
            if given.slice:
                print(_compiled(name, given.slice, folder, more), flush=True)


if __name__ == "__main__":
    main()
