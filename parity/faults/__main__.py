"""Injects faults of a kind into training programs, and prints a table of the outcomes.

    python -m parity.faults KIND [--original PYTHON] [--json FILE] [CASE ...]

With PYTHON, that of an environment with TensorFlow 2.15, each case is also run under the real
tf.estimator, if it can run it. The command fails if a case did not hold here, except for those that
docs/reliability.md names.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from parity.faults import (
    damage,
    disks,
    foreign_files,
    hostile,
    kills,
    large_checkpoints,
    random_kills,
    restarts,
    servers,
    signals,
    sockets,
    two_trainings,
    workers,
)
from parity.faults.options import Options

# Each has NAMES, `run(names, options)`, which returns a dict of JSON by case, and
# `table(here, original)`.
KINDS: dict[str, Any] = {
    "damage": damage,
    "disks": disks,
    "foreign-files": foreign_files,
    "hostile": hostile,
    "kills": kills,
    "large-checkpoints": large_checkpoints,
    "random-kills": random_kills,
    "restarts": restarts,
    "servers": servers,
    "signals": signals,
    "sockets": sockets,
    "two-trainings": two_trainings,
    "workers": workers,
}


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the command; returns its exit code."""
    parser = argparse.ArgumentParser(prog="python -m parity.faults", description=__doc__)
    parser.add_argument("kind", choices=KINDS)
    parser.add_argument("cases", nargs="*", metavar="CASE")
    parser.add_argument("--original", metavar="PYTHON", help="or a file that it wrote with --json")
    parser.add_argument("--json", metavar="FILE", help="write the results instead of the table")
    parser.add_argument("--every", metavar="N", type=int, default=1, help="try every N-th place")
    parser.add_argument("--seed", type=int, default=0, help="seed of random choices")
    parser.add_argument(
        "--tried",
        metavar="N",
        type=int,
        default=1000,
        help="number of random folders, or of kills of a job",
    )
    parser.add_argument(
        "--results", metavar="FILE", type=Path, help="continue from the results in this file"
    )
    arguments = parser.parse_intermixed_args(argv)
    kind = KINDS[arguments.kind]
    unknown = set(arguments.cases) - set(kind.NAMES)
    if unknown:
        parser.error(f"no such case: {sorted(unknown)[0]}; there are {', '.join(kind.NAMES)}")
    options = Options(arguments.every, arguments.seed, arguments.tried, arguments.results)
    results = kind.run(arguments.cases or kind.NAMES, options)
    if arguments.json:
        Path(arguments.json).write_text(json.dumps(results, indent=1))
        return 0
    original = _of_original(arguments, options) if arguments.original else {}
    print("\n".join(kind.table(results, original)))
    return 0 if all(case["held"] or case["known"] for case in results.values()) else 1


def _of_original(arguments: argparse.Namespace, options: Options) -> dict:
    if arguments.original.endswith(".json"):
        return json.loads(Path(arguments.original).read_text())
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder, "results.json")
        how = ["--every", str(options.every), "--seed", str(options.seed), "--json", str(out)]
        command = [
            arguments.original,
            "-m",
            "parity.faults",
            arguments.kind,
            *how,
            *arguments.cases,
        ]
        subprocess.run(command, check=True)
        return json.loads(out.read_text())


if __name__ == "__main__":
    sys.exit(main())
