"""Steps per second on parameter servers: here, under TensorFlow 2.15, and under TF2's coordinator.

    python -m benchmarks.servers --original PYTHON [--rounds N] [--rows N] [--steps N]

One chief, two workers and one server on this machine train an embedding. The sides take turns. A
round's ratio is that of its own runs, and the table has the median and the range of the ratios.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from parity.clusters import Cluster

_PROGRAM = Path(__file__).with_name("servers_program.py")
_COUNTS = {"ps": 1, "worker": 2, "chief": 1}


def main(argv: Sequence[str] | None = None) -> None:
    """Runs the command."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.servers", description=__doc__)
    parser.add_argument("--original", required=True, metavar="PYTHON")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--steps", type=int, default=3000)
    arguments = parser.parse_args(argv)
    sides = {
        "here": (sys.executable, []),
        "TensorFlow 2.15": (arguments.original, []),
        "TF2's coordinator": (sys.executable, ["coordinator"]),
    }
    rates: dict[str, list[float]] = {side: [] for side in sides}
    for _ in range(arguments.rounds):
        for side, (python, mode) in sides.items():
            rates[side].append(_rate(python, arguments.rows, arguments.steps, mode))
            print(f"{side}: {rates[side][-1]:.0f} steps/s", file=sys.stderr, flush=True)
    print(f"| {arguments.rows:,} rows | steps/s, median | ratio: here to it, median (range) |")
    print("| --- | --: | --: |")
    for side, own in rates.items():
        ratios = [here / other for here, other in zip(rates["here"], own)]
        spread = f"{statistics.median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})"
        print(f"| {side} | {statistics.median(own):.0f} | {spread} |")


def _rate(python: str, rows: int, steps: int, mode: Sequence[str]) -> float:
    def start(words: Sequence[str], environment: Mapping[str, str], log: Path) -> Any:
        with log.open("ab") as output:
            return subprocess.Popen(
                [python, *words], env=dict(environment), stdout=output, stderr=output
            )

    with tempfile.TemporaryDirectory() as name, Cluster(Path(name), _COUNTS, start) as cluster:
        words = [str(_PROGRAM), str(rows), str(steps), str(Path(name, "model")), *mode]
        cluster.start_all(*words, TF_CPP_MIN_LOG_LEVEL="2", PYTHONWARNINGS="ignore")
        if cluster.wait("chief 0", 600):
            raise RuntimeError(cluster.outputs())
        return cluster.results("chief 0")["steps_per_sec"]


if __name__ == "__main__":
    main()
