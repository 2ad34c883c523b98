"""The long campaign's faults, a few of each kind: restarts, a second training."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from parity.faults import restarts

CASES = {
    "`checkpoint` missing": {"from 6": 1},
    "index cut short": {"from 4": 5},
    "data, a flipped bit": {"from 4": 5},
    "input position cut short": {"from 4": 5},
    "all indexes missing": {"MissingCheckpointError": 1},
    "second training": {"ModelDirInUseError": 20},
}


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    out = tmp_path_factory.mktemp("restarts") / "results.json"
    done = subprocess.run(
        [sys.executable, "-m", "parity.faults", "restarts", "--json", str(out), *CASES],
        cwd=Path(__file__).parents[2],
        env={**os.environ, "PYTHONWARNINGS": "ignore"},
        capture_output=True,
        text=True,
        timeout=400,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(out.read_text())


@pytest.mark.parametrize("case", CASES)
def test_a_restart_takes_the_newest_whole_state(results, case):
    assert results[case]["held"], results[case]
    assert results[case]["told"] == CASES[case]


def test_the_table_has_a_row_for_each_case_and_the_sum(results):
    lines = list(restarts.table(results, {"index cut short": {"told": {"error": 5}}, **results}))
    assert len(lines) == 2 + len(CASES) + 2
    assert "| `checkpoint` missing | 1 | 1 | from 6 | from 6 |" in lines
    assert lines[-1] == "37 of 37 held."


def test_what_does_not_hold_is_counted():
    silent = {"began": 0, "same": False, "error": "", "kept": False}
    assert not restarts.mended(silent)
    assert not restarts._is_refusal(silent)
    assert restarts.describe_restart(silent) == "began at 0"
    assert restarts.describe_restart({**silent, "began": 6}) == "from 6, other weights"
    assert not restarts._is_refusal({**silent, "began": None, "error": "MissingCheckpointError"})
