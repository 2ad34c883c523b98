"""Measures the headline rows: python -m benchmarks [--original PYTHON] [--quick] [--all].

The Pythons of --original, --tf1 and --jax have tensorflow-cpu 2.15, tensorflow 1.15.5, and Keras 3
with JAX. Without one of them, its columns are left out.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import platform
import sys
import time
from typing import Any

from benchmarks.chart import draw
from benchmarks.measure import measure
from benchmarks.page import with_tables
from benchmarks.report import lines, write_json, write_whole
from benchmarks.workloads import HEADLINES, WAYS, WORKLOADS

__all__ = ["main"]

_CORES = 2
_OF_PAGE = "docs/performance.json"  # the figures behind the page's tables


def main() -> None:
    """Measures, prints the report progressively, and writes the figures."""
    names = [workload.name for workload in WORKLOADS]
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--original", help="a Python with tensorflow-cpu 2.15")
    parser.add_argument("--tf1", help="a Python 3.7 with tensorflow 1.15.5")
    parser.add_argument("--jax", help="a Python with keras 3 and jax")
    parser.add_argument("--only", nargs="+", choices=names, metavar="NAME",
                        help="these rows, whether headlines or not, and keep the others' figures: "
                        f"{', '.join(names)}")  # fmt: skip
    parser.add_argument("--all", action="store_true", help="all rows: an hour and a half")
    parser.add_argument("--rounds", type=int, default=9, help="of each; 0: only show")
    parser.add_argument("--seconds", type=float, default=0.2, help="a measurement of steps")
    parser.add_argument("--quick", action="store_true", help="a few short rounds")
    parser.add_argument(
        "--docs", action="store_true", help="write figures, chart and tables of docs/performance.md"
    )
    parser.add_argument(
        "--resume", action="store_true",
        help="keep the rounds in the folder's figures and measure those that are missing",
    )  # fmt: skip
    parser.add_argument("--output", default="runs/bench", help="the folder of figures and chart")
    args = parser.parse_args()
    # The measured processes inherit this: on a machine with more cores too, all have the same two.
    if hasattr(os, "sched_setaffinity"):  # not on macOS
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:_CORES])
    if args.quick:
        args.rounds, args.seconds = 1, 0.1
    others = {"original": args.original, "tf1": args.tf1, "jax": args.jax}
    pythons = {**dict.fromkeys(WAYS, sys.executable), **others}
    pythons = {way: python for way, python in pythons.items() if python}
    output = os.path.join(args.output, "figures.json")
    only = args.only or (names if args.all else [name for name, *_ in HEADLINES])
    content = _content_of(output) if args.only or args.resume or args.rounds == 0 else {}
    of_page = {} if args.all else _content_of(_OF_PAGE) if args.docs else {}
    earlier_workloads = {**of_page.get("workloads", {}), **content.get("workloads", {})}
    content = {**_machine(), "workloads": earlier_workloads}
    workloads = [w for w in WORKLOADS if args.rounds and w.name in only]
    for workload in workloads:
        previous = content["workloads"].get(workload.name, {}) if args.resume else {}
        start = time.monotonic()

        def keep(figures: Any, workload: Any = workload) -> None:
            content["workloads"][workload.name] = {"title": workload.title, "figures": figures}
            write_json(output, content)

        earlier = previous.get("figures")
        new_figures = measure(workload, pythons, args.rounds, args.seconds, _tell, earlier, keep)
        print(*lines(workload.title, new_figures), sep="\n", flush=True)
        print(f"    took {time.monotonic() - start:.0f} s", flush=True)
    _show(content, args.output, args.docs)


def _show(content: dict[str, Any], folder: str, in_docs: bool) -> None:
    order = [workload.name for workload in WORKLOADS]
    figures = dict(sorted(content["workloads"].items(), key=lambda item: order.index(item[0])))
    content = {**content, "workloads": figures}
    note = "{date}, {cpus} CPUs, load {load:.1f}".format(**content)
    draw(os.path.join(folder, "chart.svg"), figures, note)
    if in_docs:
        write_json(_OF_PAGE, content)
        draw("docs/performance.svg", figures, note)
        with open("docs/performance.md", encoding="utf-8") as file:
            page = with_tables(file.read(), content)
        write_whole("docs/performance.md", page.encode())


def _content_of(path: str) -> dict[str, Any]:
    """Returns the figures of an earlier run, some of which are measured again."""
    if not os.path.exists(path):
        return {}
    with open(path, encoding="utf-8") as file:
        return json.load(file)


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
