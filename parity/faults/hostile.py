"""Files that anybody may have written: each is read, or refused with a message in under 2 s.

The files and what reads them are those of tests/security/hostile_files.py.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from parity.faults.counts import table
from parity.faults.options import Options

__all__ = ["NAMES", "run", "table"]

NAMES = ["files"]
_ROOT = Path(__file__).parents[2]
_PROGRAM = _ROOT / "tests" / "security" / "hostile_files.py"
_TRIES = 60  # changed copies of each file
_SECS = 1200.0
_MOST_SECS = 2.0


def run(names: Sequence[str], options: Options) -> dict[str, Any]:
    """Reads the files in one process, which reports after each case.

    Args:
      names: of NAMES.
      options: `every` has an effect: the changed copies are fewer.

    Returns:
      JSON by the kind of file: see `counts.summarize_case`; and the longest time in `secs`.
    """
    del names
    with tempfile.TemporaryDirectory() as folder:
        process = subprocess.run(
            [sys.executable, str(_PROGRAM), folder],
            env={
                **os.environ,
                "PYTHONPATH": str(_ROOT),
                "TF_CPP_MIN_LOG_LEVEL": "3",
                "HOSTILE_TRIES": str(_TRIES // options.every),
            },
            capture_output=True,
            text=True,
            timeout=_SECS,
            check=False,
        )
    lines = [json.loads(line) for line in process.stdout.splitlines() if line.startswith("{")]
    results = {case["case"]: _count(case) for case in lines}
    if process.returncode:
        description = f"ended with {process.returncode} after these: {process.stderr[-300:]}"
        results["the next one"] = {
            "tried": 1, "count": 0, "held": False, "known": False, "told": {description: 1}
        }  # fmt: skip
    return results


def _count(case: Mapping[str, Any]) -> dict[str, Any]:
    outcomes = {kind: case[kind] for kind in ("refused", "read") if case[kind]}
    if case["others"]:
        outcomes["another error"] = len(case["others"])
    is_slow = case["slowest"] >= _MOST_SECS
    if is_slow:
        outcomes[f"took {case['slowest']} s"] = 1
    count = max(case["refused"] + case["read"] - is_slow, 0)
    return {
        "tried": case["tried"], "count": count, "held": count == case["tried"], "known": False,
        "told": outcomes, "secs": case["slowest"],
    }  # fmt: skip
