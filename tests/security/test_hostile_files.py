"""Files that anybody may have written are refused with a message: none hangs or ends by a signal.

Each input is read in one process that reports after each: a signal would lose the reports after it.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = Path(__file__).with_name("hostile_files.py")
CASES = [
    "a length of 2^36", "a length of 2^62", "a length in event files", "a pipe as records",
    "a manifest's ../name", "a manifest's absolute name", "a deep manifest", "a pipe as manifest",
    "a manifest with a name twice", "a manifest's huge shape",
    "an image of 2^28 pixels", "an archive larger than memory", "an array of another size",
    "an archive of objects", "an index with a part twice", "indexes with changed bytes",
    "indexes with changed tables", "strings longer than their file", "changed record files",
    "changed manifests",
]  # fmt: skip


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory):
    folder = tmp_path_factory.mktemp("hostile")
    done = subprocess.run(
        [sys.executable, str(PROGRAM), str(folder)],
        env={**os.environ, "PYTHONPATH": str(ROOT), "TF_CPP_MIN_LOG_LEVEL": "3"},
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )
    lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
    return done.returncode, done.stderr[-2000:], [json.loads(line) for line in lines]


def test_none_ends_by_a_signal(outcomes):
    code, errors, _ = outcomes
    assert code == 0, errors


@pytest.mark.parametrize("case", CASES)
def test_it_is_refused(outcomes, case):
    (outcome,) = [one for one in outcomes[2] if one["case"] == case]
    assert outcome["tried"] == outcome["refused"] + outcome["read"], outcome
    assert outcome["refused"], outcome


def test_the_program_has_these_cases(outcomes):
    assert [one["case"] for one in outcomes[2]] == CASES
