"""Training that is killed and restarted ends with the weights of an undisturbed run."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parent / "interruption.py"


def interrupt(kind: str, folder: Path) -> dict:
    seed = str(random.SystemRandom().randrange(1 << 30))
    done = subprocess.run(
        [sys.executable, str(SCRIPT), kind, str(folder), seed],
        env={**os.environ, "PYTHONPATH": str(SCRIPT.parents[1]), "PYTHONWARNINGS": "ignore"},
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    print(f"seed {seed}", done.stderr, sep="\n")  # pytest shows it if what follows fails
    assert done.returncode == 0
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.parametrize(
    ("kind", "kills"),
    [("random", 20), ("windows", 12), ("async_random", 10), ("async_windows", 12)],
)
def test_killed_and_restarted_it_ends_the_same(tmp_path, kind, kills):
    result = interrupt(kind, tmp_path)
    assert result["kills"] == kills
    interrupted, whole = result["interrupted"], result["whole"]
    assert interrupted["values"] == whole["values"]
    assert len(whole["values"]) > 10  # weights, slots, the step
    assert "model.ckpt-" in whole["files"][-1]
    # What is left of the kills are checkpoints of which all files are there, and nothing else.
    extra = set(interrupted["files"]) - set(whole["files"])
    assert all(name.startswith(("model.ckpt-", "input.ckpt-")) for name in extra), extra
    assert not [name for name in extra if "temp" in name or ".new" in name]
