"""Measures everything: python -m benchmarks --original PYTHON [--quick] [--only NAME ...].

PYTHON is one that has tensorflow-cpu 2.15. Without it the original's columns are left out.
"""

from __future__ import annotations

import argparse
import datetime
import os
import platform
import sys

from benchmarks.measure import measure
from benchmarks.report import lines, write_json
from benchmarks.workloads import WORKLOADS

__all__ = ["main"]


def main() -> None:
    """Measures, prints the report as it grows, writes the figures."""
    names = [workload.name for workload in WORKLOADS]
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--original", help="a Python with tensorflow-cpu 2.15")
    parser.add_argument("--only", nargs="+", choices=names, metavar="NAME", help=", ".join(names))
    parser.add_argument("--rounds", type=int, default=7, help="how often each is measured")
    parser.add_argument("--seconds", type=float, default=1.0, help="a measurement of steps")
    parser.add_argument("--quick", action="store_true", help="two short rounds")
    parser.add_argument("--output", default="runs/bench/figures.json", help="the raw figures")
    args = parser.parse_args()
    if args.quick:
        args.rounds, args.seconds = 2, 0.3
    pythons = dict.fromkeys(("here", "keras", "hand"), sys.executable)
    if args.original:
        pythons["original"] = args.original
    figures = {}
    for workload in WORKLOADS:
        if args.only and workload.name not in args.only:
            continue
        found = measure(workload, pythons, args.rounds, args.seconds, _tell)
        figures[workload.name] = {"title": workload.title, "figures": found}
        print(*lines(workload.title, found), sep="\n", flush=True)
        write_json(args.output, {**_machine(), "workloads": figures})


def _machine() -> dict:
    return {
        "date": datetime.date.today().isoformat(),
        "cpus": os.cpu_count(),
        "load": os.getloadavg()[0],
        "python": platform.python_version(),
    }


def _tell(text: str) -> None:
    if sys.stderr.isatty():
        print(f"\r{text:70}", end="\r", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
