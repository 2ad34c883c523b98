"""Runs TensorFlow 1.15's own tests of tf.contrib against this library.

    python -m parity.contrib.conformance CHECKOUT

CHECKOUT is a work tree of TensorFlow, tag v1.15.5; ``tensorflow/contrib`` is enough.
``docs/contrib/conformance.md`` explains the scores.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from parity.contrib import docs
from parity.contrib.files import find_files
from parity.contrib.runner import run_files
from parity.harness import records, report
from parity.harness.outcomes import FAILED, PASSED, SKIPPED, FileResult

__all__ = ["main"]


def main(arguments: list[str] | None = None) -> int:
    """Runs the command.

    Returns:
      0 if each test that uses only public names and passes under TensorFlow 1.15.5 passes.
    """
    options = _options(arguments)
    if options.checkout is None:
        if not options.write_docs:
            raise SystemExit(
                "contrib.conformance: name the CHECKOUT of TensorFlow's tests, or --write-docs."
            )
        docs.write_docs()
        return 0
    only, _, test = (options.only or "").partition("::")
    if options.record and test:
        raise SystemExit("contrib.conformance: --record keeps whole files; leave ::TEST out.")
    checkout = options.checkout.resolve()
    files = find_files(checkout, only or None)
    original = records.load_json(docs.ORIGINAL)

    def watch(result: FileResult) -> None:
        counts = (f"{result.count(kind)} {kind}" for kind in (PASSED, FAILED, SKIPPED))
        print(f"{result.file}: {', '.join(counts)}", flush=True)
        there = original.get(result.file, {}).get("others", {})
        for outcome in result.outcomes_with(FAILED):
            if options.verbose and outcome.test not in there:
                report.print_failure(outcome)

    results = run_files(files, checkout, options.original, options.time_limit, test, watch)
    if options.json:
        records.save(options.json, results)
    if options.record:
        docs.record(docs.ORIGINAL if options.original else docs.HERE, results)
    if options.write_docs:
        docs.write_docs()
    return 0 if options.original else int(any(_misses(result, original) for result in results))


def _misses(result: FileResult, original: dict) -> bool:
    there = original.get(result.file, {}).get("others", {})
    failures = (o for o in result.outcomes if o.result != PASSED and o.kind == "public")
    return any(outcome.test not in there for outcome in failures)


def _options(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m parity.contrib.conformance", description=__doc__
    )
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("checkout", nargs="?", type=Path, metavar="CHECKOUT")
    parser.add_argument("--only", metavar="PART[::TEST]", help="files with PART in their path")
    parser.add_argument("--original", metavar="PYTHON", help="run under this Python's 1.15.5")
    parser.add_argument("--time-limit", type=float, default=60.0, help="seconds for one test")
    parser.add_argument("--verbose", action="store_true", help="show the end of each failure")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all outcomes to FILE")
    parser.add_argument("--record", action="store_true", help="keep the scores, for the docs")
    parser.add_argument(
        "--write-docs",
        action="store_true",
        help="write the kept scores into docs/contrib/conformance.md",
    )
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main())
