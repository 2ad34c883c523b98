"""Runs or continues the matrix of versions: python -m tooling.matrix [--only 2.16:3.9].

A pair whose checks passed with the current sources is not run again. Each pair gets its own
environment, which is removed afterwards. Results go to docs/versions.json and docs/versions.md.
"""

from __future__ import annotations

import argparse
import dataclasses
import hashlib
import shutil
import sys
from pathlib import Path

from tooling.matrix import page
from tooling.matrix.checks import CHECKS, Result
from tooling.matrix.claims import PAIRS, Pair, parse_pair
from tooling.matrix.environments import ROOT, MatrixError, make, versions


def sources() -> str:
    """Returns a digest of the checked files: the library, the models, the flags, the selection."""
    digest = hashlib.sha256()
    folders = (
        "estimator_bridge",
        "estimator_bridge_contrib",
        "models",
        "flags",
        "tests/selections",
    )
    for folder in folders:
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix in (".py", ".json", ".txt"):
                digest.update(path.relative_to(ROOT).as_posix().encode() + path.read_bytes())
    return digest.hexdigest()[:12]


def run_pair(pair: Pair, folder: Path) -> page.Row:
    """Makes the environment of a pair and runs all checks in it.

    Args:
        pair: the TensorFlow and the Python.
        folder: the environment's folder.

    Returns:
        The row of the results: versions, environment, checks, sources.
    """
    digest = sources()
    environment = make(pair, folder)
    checks: dict[str, Result] = {name: check(folder) for name, check in CHECKS.items()}
    return {
        "versions": versions(folder),
        "environment": environment,
        "checks": {name: dataclasses.asdict(result) for name, result in checks.items()},
        "sources": digest,
    }


def main() -> int:
    """Runs the remaining pairs.

    Returns:
        0 if each pair passed, else 1.
    """
    parser = argparse.ArgumentParser(prog="python -m tooling.matrix", description=__doc__)
    parser.add_argument("--only", nargs="+", type=parse_pair, default=PAIRS, metavar="TF:PYTHON")
    parser.add_argument("--again", action="store_true", help="run pairs that passed, too")
    parser.add_argument("--keep", action="store_true", help="keep the environments, 2 GB each")
    parser.add_argument("--folder", type=Path, default=ROOT / "build" / "matrix",
                        help="of the environments (default: build/matrix)")  # fmt: skip
    options = parser.parse_args()
    holds = True
    for pair in options.only:
        row = page.read_results().get(pair.name)
        if row and page.passed(row) and row["sources"] == sources() and not options.again:
            print(f"{pair.name}: passed before", flush=True)
            continue
        folder = options.folder.resolve() / pair.name
        folder.parent.mkdir(parents=True, exist_ok=True)
        print(f"{pair.name}: installing and testing", flush=True)
        try:
            row = run_pair(pair, folder)
        except MatrixError as error:
            print(f"{pair.name}: {error}", file=sys.stderr, flush=True)
            holds = False
            continue
        finally:
            if not options.keep:
                shutil.rmtree(folder, ignore_errors=True)
        page.write({**page.read_results(), pair.name: row})
        _tell(pair, row)
        holds &= page.passed(row)
    return 0 if holds else 1


def _tell(pair: Pair, row: page.Row) -> None:
    for name, check in row["checks"].items():
        print(f"{pair.name}: {name}: {check['passed']} passed, {len(check['failed'])} failed, "
              f"{check['cpu_seconds']} s of CPU", flush=True)  # fmt: skip
        for failure in check["failed"]:
            print(f"    {failure}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
