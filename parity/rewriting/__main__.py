"""Counts over folders that hold a repository each, and writes the tables of the docs as JSON.

python -m parity.rewriting --out counts.json FOLDER...
python -m parity.rewriting --beside --out beside.json FOLDER...
python -m parity.rewriting --private --out private.json FOLDER...
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from pathlib import Path

from parity.rewriting.census import take

_TOOLS = ("as it is", "tf_upgrade_v2", "rewrite")


def main() -> int:
    """Counts, prints a line for each folder, and writes JSON."""
    parser = argparse.ArgumentParser(prog="python -m parity.rewriting", description=__doc__)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--out", type=Path, required=True, help="the JSON file to write")
    parser.add_argument(
        "--beside", action="store_true", help="look names up, and run tf_upgrade_v2 beside"
    )
    parser.add_argument(
        "--private", action="store_true", help="count only the private names that are used"
    )
    arguments = parser.parse_args()
    if arguments.private:
        from parity.rewriting.private_names import private_names

        row = private_names(arguments.folders)
        arguments.out.write_text(json.dumps(row, indent=1) + "\n")
        print(json.dumps(row))
        return 0
    rows = []
    failure_count = 0
    for folder in arguments.folders:
        census, texts = take(folder)
        row = census.as_json()
        if arguments.beside:
            row["names"] = _beside(texts)
        failure_count += bool(census.not_python or census.unstable)
        print(json.dumps(row), flush=True)
        rows.append(row)
        arguments.out.write_text(json.dumps(rows, indent=1) + "\n")
    return int(failure_count > 0)


def _beside(texts: dict[str, tuple[str, str]]) -> dict[str, dict[str, int]]:
    """By tool: the verdicts on lines, over the files that `rewrite` has something to do in."""
    from parity.rewriting.names import lines_of
    from parity.rewriting.upgrade_script import upgraded

    counts: dict[str, Counter[str]] = {tool: Counter() for tool in _TOOLS}
    for path, (before, after) in texts.items():
        if before == after:
            continue
        theirs = upgraded(before, path)
        counts["as it is"] += lines_of(before)
        counts["rewrite"] += lines_of(after)
        if theirs is None:
            counts["tf_upgrade_v2"]["files it fails on"] += 1
            theirs = before
        counts["tf_upgrade_v2"] += lines_of(theirs)
        for count in counts.values():
            count["files"] += 1
    return {tool: dict(verdict_counts) for tool, verdict_counts in counts.items()}


if __name__ == "__main__":
    sys.exit(main())
