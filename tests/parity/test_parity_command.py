"""The command line of ``python -m parity.compare``."""

from __future__ import annotations

import sys

import pytest

from parity import compare, run


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["mpl"], "no such program: mpl; there are mlp,"),
        (["--report"], "add --original PYTHON"),
        (["--record", "mlp"], "add --original PYTHON"),
        (["--report", "--original", "python", "mlp"], "leave out their names"),
    ],
)
def test_what_cannot_be_done_is_refused_at_once(arguments, message, capsys):
    with pytest.raises(SystemExit) as stopped:
        compare.main(arguments)
    assert stopped.value.code == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    ("version", "program"), [("1.15.5", "keras_model"), ("2.15.1", "contrib_text")]
)
def test_a_program_that_the_original_cannot_run_is_refused(version, program):
    with pytest.raises(SystemExit, match=f"cannot run {program}\\."):
        compare.programs_of([program, "mlp"], version)
    runs = compare.programs_of([], version)
    assert program not in runs and {"mlp", "gan"} <= set(runs)


def test_an_original_without_tensorflow_is_refused(tmp_path):
    with pytest.raises(SystemExit, match="cannot be started"):
        compare.main(["--original", str(tmp_path / "python")])


def test_a_run_of_an_unknown_program_is_refused(tmp_path, capsys):
    with pytest.raises(SystemExit):
        run.main(["--out", str(tmp_path), "mlp", "nothing"])
    assert "no such program: nothing" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_a_side_that_fails_says_why(tmp_path):
    with pytest.raises(RuntimeError, match="no such program: nothing"):
        compare.run_side(sys.executable, ["nothing"], "--out", tmp_path)
