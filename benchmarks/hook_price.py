"""What hooks cost a step, here and in TF 2.15's Estimator, in processes that take turns.

    python -m benchmarks.hook_price --original PYTHON [--rounds 5] [--steps 6000]

PYTHON is one that has tensorflow-cpu 2.15. Each process trains the same small model twice: with a
hook that fetches the loss at every step, and with the default hooks alone. What counts is the ratio
within a round.
"""

from __future__ import annotations

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys

__all__ = ["main"]

_PROGRAM = pathlib.Path(__file__).with_name("hook_program.py")
_ROWS = {"every_step": "a hook that fetches the loss each step", "default": "default hooks alone"}


def _run(python: str, steps: int) -> dict[str, float]:
    environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", "PYTHONPATH": os.getcwd()}
    run = subprocess.run(
        [python, str(_PROGRAM), str(steps)],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        check=True,
        text=True,
    )
    return json.loads(run.stdout.splitlines()[-1])


def main() -> None:
    """Prints steps a second and their ratios."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--original", required=True, help="a Python with tensorflow-cpu 2.15")
    parser.add_argument("--rounds", type=int, default=5, help="how often each is timed")
    parser.add_argument("--steps", type=int, default=6000, help="steps of each timing")
    args = parser.parse_args()
    rounds = []
    for i in range(args.rounds):
        order = (sys.executable, args.original) if i % 2 else (args.original, sys.executable)
        results = {python: _run(python, args.steps) for python in order}
        rounds.append((results[sys.executable], results[args.original]))
    print(f"MLP 64-128-10, batch 32; {os.cpu_count()} CPUs, {args.rounds} rounds")
    print(f"{'':40}{'here':>10}{'TF 2.15':>10}   here / TF 2.15: median (min to max)")
    for row, title in _ROWS.items():
        here, there = ([pair[i][row] for pair in rounds] for i in (0, 1))
        ratios = sorted(a / b for a, b in zip(here, there))
        print(
            f"{title:40}{statistics.median(here):>8.0f}/s{statistics.median(there):>8.0f}/s   "
            f"{statistics.median(ratios):.2f} ({ratios[0]:.2f} to {ratios[-1]:.2f})"
        )


if __name__ == "__main__":
    main()
