"""A small part of each kind of the long campaign; `python -m parity.faults` has all."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from parity.faults import __main__ as command
from parity.faults import kills, traces

PROGRAM = """
import json, sys
from parity.faults import damage, disks, kills, random_kills, sockets
from parity.faults.options import Options

tenth = Options(every=10)
results = {
    "kills": kills.run(["train_and_evaluate"], Options(every=60, seed=1)),
    "random-kills": random_kills.run(["train"], Options(every=6)),
    "disks": disks.run(["full disk, train", "failing disk, train"], Options(every=30, seed=1)),
    "damage": damage.run([name for name in damage.NAMES if "ckpt" in name], tenth),
    "sockets": sockets.run(["a tpu's address closes"], tenth),
}
open(sys.argv[1], "w").write(json.dumps(results))
"""
LEAST_TRIALS = {"kills": 7, "random-kills": 1, "disks": 6, "damage": 20, "sockets": 1}


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    out = tmp_path_factory.mktemp("campaign") / "results.json"
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(out)],
        cwd=Path(__file__).parents[2],
        env={**os.environ, "PYTHONWARNINGS": "ignore"},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(out.read_text())


@pytest.mark.parametrize("kind", LEAST_TRIALS)
def test_all_of_it_holds(results, kind):
    cases = results[kind]
    assert sum(case["tried"] for case in cases.values()) >= LEAST_TRIALS[kind], cases
    for name, case in cases.items():
        assert case["held"], (name, case)


def test_kinds_have_names_and_tables():
    case = {"tried": 2, "count": 1, "held": False, "known": False, "told": {"a": 1, "b": 1}}
    assert list(kills.table({"train": case}, {"train": {"told": {"lost": 3}}})) == [
        "| fault | tried | held | what happened | the original |",
        "| --- | --- | --- | --- | --- |",
        "| train | 2 | 1 | 1x a; 1x b | lost |",
        "",
        "1 of 2 held.",
    ]
    assert list(kills.table({"train": case}, {"tpu": case}))[2].endswith("| not tried |")
    for kind in command.KINDS.values():
        assert kind.NAMES
        assert len(set(kind.NAMES)) == len(kind.NAMES)


def whole():
    return {
        "values": {"w": "1"}, "checkpoints": ["model.ckpt-2"], "exports": {}, "next": [],
        "files": ["checkpoint", "graph.pbtxt"], "summaries": {".": {"loss": [[1, "a"], [2, "b"]]}},
    }  # fmt: skip


@pytest.mark.parametrize(
    ("change", "sentences"),
    [
        ({}, []),
        ({"values": {"w": "2"}}, [("other values", "")]),
        ({"next": [[1.0]]}, [("other next", "")]),
        ({"files": ["checkpoint"]}, [("lacks files", "graph.pbtxt")]),
        ({"files": [*whole()["files"], "x"]}, [("leftovers", "x")]),
        ({"summaries": {}}, [("summaries lost", "./loss [1, 2]")]),
        (
            {"summaries": {".": {"loss": [[1, "a"], [2, "b"], [2, "b"]]}}},
            [("summaries twice", "./loss [1, 2, 2]")],
        ),
        (
            {"summaries": {".": {"loss": [[1, "a"], [2, "c"]]}}},
            [("other summaries", "./loss")],
        ),
    ],
)
def test_what_differs_is_told(change, sentences):
    assert traces.differences(whole(), {**whole(), **change}) == sentences
