"""Programs with their steps on JAX beside emulated cores; the table in docs/tpu.md."""

from __future__ import annotations

import pytest

from parity import on_jax, rows
from parity.programs import PROGRAMS

pytest.importorskip("jax", reason="jax is not installed: pip install 'estimator-bridge[jax]'")


@pytest.mark.parametrize("name", ["conv", "dropout"])
def test_batch_norm_and_random_numbers_are_those_of_emulated_cores(name):
    outcome = on_jax.compare_program(name, 2)
    assert [row.measure for row in outcome.rows] == list(on_jax.TOLERANCES)
    assert outcome.holds(name), outcome


def test_a_program_that_no_tpu_runs_is_refused_with_its_line():
    outcome = on_jax.compare_program("warm_start", 1)
    assert outcome.holds("warm_start")
    assert not outcome.elsewhere
    assert "parity/programs/warm_start.py:" in outcome.refusal


def test_the_table_of_the_docs_has_each_program():
    text = on_jax.DOCS.read_text(encoding="utf-8")
    lines = text.split("<!-- on jax: begin -->")[1].split("<!-- on jax: end -->")[0].splitlines()
    assert [line.split(" | ")[0] for line in lines[3:]] == [f"| {name}" for name in PROGRAMS]


def test_large_differences_and_unknown_refusals_do_not_hold():
    far = rows.Row("weights", 1.0, 1e-5, "w: got 1, wanted 0")
    assert not on_jax.Outcome([far]).holds("mlp")
    assert not on_jax.Outcome([], "its replicas would drift apart").holds("mlp")
    assert not on_jax.Outcome([], "something else").holds("warm_start")
    close = far._replace(difference=1e-7)
    evaluation = close._replace(measure="evaluation")
    outcomes = {("mlp", 2): on_jax.Outcome([close, evaluation])}
    assert list(on_jax.table(outcomes))[-1] == "| mlp | 1.0e-07 | 1.0e-07 |"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["mlpp"], "no such program: mlpp"),
        (["--replicas=two"], "numbers, by commas"),
        (["mlp", "--docs"], "leave out their names"),
        (["--models", "mlp"], "there are mnist"),
    ],
)
def test_wrong_arguments_are_explained(arguments, words, capsys):
    with pytest.raises(SystemExit):
        on_jax.main(arguments)
    assert words in capsys.readouterr().err
