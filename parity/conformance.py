"""Runs the original project's own test files against this library.

    python -m parity.conformance CHECKOUT

CHECKOUT is a work tree of the original project, tag v2.15.0. The table shows each file in each
mode beside the original's own score; ``docs/evidence/conformance.md`` explains it.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

from parity.harness import docs, records, report
from parity.harness.outcomes import FAILED, FileResult, Outcome
from parity.harness.runner import run_file
from parity.harness.test_files import MODES, find_files

__all__ = ["main"]


def main(arguments: list[str] | None = None) -> int:
    """Runs the command.

    Returns:
      0 if every test that uses only public names passed, or failed under the original too.
    """
    options = _options(arguments)
    only, _, test = (options.only or "").partition("::")
    if options.checkout is None:
        if not options.write_docs:
            raise SystemExit(
                "conformance: name the CHECKOUT of the original's tests, or --write-docs."
            )
        _write_docs()
        return 0
    if options.record and test:
        raise SystemExit("conformance: --record keeps whole files; leave ::TEST out of --only.")
    cores = (options.cores, options.devices)
    here = {
        (8, "emulated"): records.HERE,
        (2, "emulated"): records.HERE_2_CORES,
        (2, "jax:cpu"): records.HERE_2_ON_JAX,
    }.get(cores)
    if options.record and here is None:
        raise SystemExit(
            "conformance: --record keeps the scores of 8 and of 2 emulated cores, and of 2 devices "
            "of JAX."
        )
    checkout = options.checkout.resolve()
    runs = [
        (file, mode)
        for file in find_files(checkout, only or None)
        for mode in file.modes
        if options.mode in (None, mode) and (file.on_cores or options.devices == "emulated")
    ]
    results = []
    for number, (file, mode) in enumerate(runs, 1):
        began = time.monotonic()
        result = run_file(
            file, mode, checkout, options.original, options.time_limit, test,
            _watcher(options.verbose), cores,
        )  # fmt: skip
        report.print_progress(result, number, len(runs), time.monotonic() - began)
        results.append(result)
    original = records.load(records.ORIGINAL)
    if options.json:
        records.save(options.json, results)
    if options.record and here:
        records.update(records.ORIGINAL if options.original else here, results)
    if options.write_docs:
        _write_docs()
    report.print_table(results, original)
    return 0 if options.original else int(bool(_regressions(results, original)))


def _write_docs() -> None:
    docs.write_docs()
    for reason in docs.reasons_of_nothing():
        print(f"{records.REASONS.name} explains what does not fail: {reason}")


def _regressions(results: list[FileResult], original: records.Scores) -> list[Outcome]:
    return [
        outcome
        for result in results
        for outcome in result.outcomes_with(FAILED)
        if outcome.kind == "public"
        and outcome.test not in original.get(result.file, {}).get(result.mode, {}).get("failed", ())
    ]


def _watcher(verbose: bool):
    def show(outcome: Outcome) -> None:
        if outcome.result == FAILED:
            report.print_failure(outcome)

    return show if verbose else lambda outcome: None


def _options(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m parity.conformance", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("checkout", nargs="?", type=Path, metavar="CHECKOUT")
    parser.add_argument("--only", metavar="FILE[::TEST]", help="one file, or tests of one file")
    parser.add_argument("--mode", choices=MODES, help="by default both, or the file's own")
    parser.add_argument("--original", metavar="PYTHON", help="run under this Python's Estimator")
    parser.add_argument("--time-limit", type=float, default=60.0, help="seconds for one test")
    parser.add_argument("--cores", type=int, default=8, help="number of cores for tests of TPUs")
    parser.add_argument(
        "--devices", default="emulated", choices=("emulated", "jax:cpu"), help="what they are"
    )
    parser.add_argument("--verbose", action="store_true", help="show the end of each failure")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all outcomes to FILE")
    parser.add_argument(
        "--record", action="store_true", help="keep the scores beside this file, for the docs"
    )
    parser.add_argument(
        "--write-docs",
        action="store_true",
        help="write the kept scores into docs/evidence/conformance.md",
    )
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main())
