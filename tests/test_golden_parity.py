"""The programs of ``parity/programs/`` give the numbers of the real tf.estimator.

``parity/goldens/`` has what they gave there, and the checkpoints to start from. This side is run
once, in a process of its own: programs find it where tf.estimator was.
"""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import pytest

from parity import programs, record
from parity.compare import GOLDENS, run_side
from parity.rows import FACTS, NUMBERS, compare

OUTER_LOOP = "train_and_evaluate"
FOLDER = Path(programs.__file__).parent


@pytest.fixture(scope="session")
def here(request, tmp_path_factory) -> Path:
    """This side's records of the programs that are to be tested."""
    chosen = {
        item.callspec.params["rows"]
        for item in request.session.items
        if item.path == Path(__file__) and "rows" in item.fixturenames
    }
    out = tmp_path_factory.mktemp("here")
    run_side(sys.executable, sorted(chosen), "--out", out, "--starts", GOLDENS)
    return out


@pytest.fixture(scope="session", params=programs.EVERY)
def rows(request, here) -> dict:
    compared = compare(record.load(here / request.param), record.load(GOLDENS / request.param))
    return {row.measure: row for row in compared}


@pytest.mark.parametrize("measure", [m for m in (*NUMBERS, *FACTS) if OUTER_LOOP not in m])
def test_same_as_the_original(rows, measure):
    assert rows[measure].holds, rows[measure]


@pytest.mark.parametrize("rows", ["mlp"], indirect=True)
def test_train_and_evaluate_leaves_the_same_behind(rows):
    about = [row for measure, row in rows.items() if OUTER_LOOP in measure]
    assert len(about) == 2
    assert [row for row in about if not row.holds] == []


@pytest.mark.parametrize("name", programs.EVERY)
def test_programs_know_nothing_of_this_library(name):
    tree = ast.parse((FOLDER / f"{name}.py").read_text())
    imported = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            imported |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            imported.add(node.module)
    contrib = {"tensorflow.contrib"} if name in programs.CONTRIB else set()
    assert imported <= {"__future__", "numpy", "os", "tensorflow.compat.v1"} | contrib


def test_each_program_file_is_run_and_has_a_small_golden():
    files = {path.stem for path in FOLDER.glob("*.py")} - {"__init__"}
    goldens = {path.name: path for path in GOLDENS.iterdir()}
    assert set(programs.EVERY) == files == set(goldens)
    sizes = {
        name: sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
        for name, folder in goldens.items()
    }
    assert {name: size for name, size in sizes.items() if size > 100_000} == {}


@pytest.mark.parametrize("name", programs.EVERY)
def test_goldens_are_of_a_hundred_steps_that_learn_something(name):
    golden = record.load(GOLDENS / name)
    original = "1.15." if name in programs.CONTRIB else "2.15."
    assert golden.facts["tensorflow"].startswith(original)
    losses = golden.under("losses")["from the start"]
    assert len(losses) == 100
    assert len(set(losses.tolist())) > 90
    if name != "gan":
        assert losses[-20:].mean() < losses[:20].mean()
    first, last = golden.under("start"), golden.under("weights")
    trained = [k for k in first if "moving_" not in k and first[k].dtype.kind == "f"]
    assert any((first[k] != last[k]).any() for k in trained)
