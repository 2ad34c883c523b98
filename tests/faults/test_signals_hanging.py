"""SIGTERM and Ctrl-C end a program wherever it hangs, and its checkpoint stays whole."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

# Each place once; the four ways to signal take turns.
CASES = [
    "steps:SIGINT",
    "generator:SIGTERM",
    "input:SIGINT-twice",
    "py_function:SIGTERM-twice",
    "step:SIGINT",
    "hook:SIGTERM",
    "gil:SIGTERM-twice",
    "model_fn:SIGINT",
    "compilation:SIGTERM-twice",
    "write:SIGTERM-twice",
    "evaluation:SIGINT-twice",
    "prediction:SIGINT",
    "train_and_evaluate:SIGTERM",
    "tpu:SIGINT",
    "worker:SIGTERM",
]


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    out = tmp_path_factory.mktemp("signals") / "results.json"
    done = subprocess.run(
        [sys.executable, "-m", "parity.faults", "signals", "--json", str(out), *CASES],
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
def test_it_ends_with_its_code_and_the_checkpoint_stands(results, case):
    result = results[case]
    assert result["held"], result
    place, _, sent = case.partition(":")
    code = 143 if sent.startswith("SIGTERM") else 130
    assert result["code"] == (137 if place == "gil" else code)  # a guard has killed it


def test_the_last_line_says_what_stands(results):
    for case in ("generator:SIGTERM", "write:SIGTERM-twice", "step:SIGINT"):
        last = results[case]["output"].splitlines()[-1]
        assert last.startswith("estimator_bridge: Training ends at once, "), last
        assert last.endswith(
            "model.ckpt-4 is complete; training resumes from it when started again."
        ), last
    last = results["gil:SIGTERM-twice"]["output"].splitlines()[-1]
    assert last.startswith("estimator_bridge: Training is killed, at a second signal: "), last
    assert last.endswith("model.ckpt-4 is complete; training resumes from it when started again.")
    assert "ends at once, at a second SIGTERM." in results["write:SIGTERM-twice"]["output"]
    assert "Training was ended by Ctrl-C (SIGINT)." in results["steps:SIGINT"]["output"]
