"""Runs cases in one process and reports each outcome as a line of JSON.

It runs under TensorFlow 1.15 and 2.15 too, so it imports nothing of this library.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import shutil
import sys
import tempfile
import time


def main() -> None:
    """Reads ``[[theme, case, times], ...]`` from standard input and runs the cases in order."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mode", required=True)
    parser.add_argument("--cores", type=int, default=0)
    parser.add_argument("--report", type=int, required=True, help="a file descriptor to write to")
    options = parser.parse_args()
    tasks = json.loads(sys.stdin.read())
    with os.fdopen(options.report, "w", buffering=1, encoding="utf-8") as report:

        def write(**event):
            report.write(json.dumps(event) + "\n")

        from parity.differential import outcome, world

        world.enter(options.mode, options.cores)
        for theme, name, times in tasks:
            for _ in range(times):
                if not world.begin_case():
                    write(event="spent")
                    return
                write(event="start", case=name)
                began = time.time()
                folder = tempfile.mkdtemp()
                result = outcome.of(_case(theme, name), folder)
                shutil.rmtree(folder, ignore_errors=True)
                write(event="end", case=name, outcome=result, seconds=time.time() - began)
        write(event="done")


def _case(theme, name):
    """Returns the case; the call imports its file, so that an import that fails is an outcome."""

    def function(folder):
        module = importlib.import_module("parity.differential.cases." + theme)
        return getattr(module, name)(folder)

    return function


if __name__ == "__main__":
    main()
    # Threads that a case left behind must not keep the process.
    sys.stdout.flush()
    os._exit(0)
