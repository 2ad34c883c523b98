"""Third-party programs on JAX beside emulated cores; the second table of docs/tpu.md."""

from __future__ import annotations

import re

import pytest

from parity import on_jax_fetched, rows
from parity.compiled.data import write_data
from parity.compiled.fetched import FETCHED, Fetched, command
from parity.compiled.further_data import write_further_data
from parity.fetched_further import FURTHER, PACKAGES

pytest.importorskip("jax", reason="jax is not installed: pip install 'estimator-bridge[jax]'")

PROGRAM = """
import sys
import tensorflow as tf
from small.model import model_fn

resolver = tf.contrib.cluster_resolver.TPUClusterResolver("any")
config = tf.contrib.tpu.RunConfig(
    cluster=resolver, model_dir=sys.argv[1], tpu_config=tf.contrib.tpu.TPUConfig(2)
)
estimator = tf.contrib.tpu.TPUEstimator(model_fn, config=config, train_batch_size=int(sys.argv[2]))
if len(sys.argv) > 3:
    raise ValueError("this program ends with an error")

def input_fn(params):
    rows = tf.random.uniform([params["batch_size"], 3])
    return tf.data.Dataset.from_tensors((rows, tf.reduce_sum(rows, 1))).repeat()

estimator.train(input_fn, steps=4)
"""
MODEL = """
import tensorflow as tf

def model_fn(features, labels, mode, params):
    guesses = tf.layers.dense(tf.layers.dropout(features, training=True), 1)[:, 0]
    loss = tf.losses.mean_squared_error(labels, guesses)
    optimizer = tf.contrib.tpu.CrossShardOptimizer(tf.train.AdamOptimizer(0.1))
    train_op = optimizer.minimize(loss, tf.train.get_global_step())
    return tf.contrib.tpu.TPUEstimatorSpec(mode, loss=loss, train_op=train_op)
"""


LACKS = """NotCompilableError: The step cannot be compiled by XLA, because of 3 operation(s):
  Where (a), made at b.py:1: tf.where(x)
    The shape of its result is not static.
  Unique (b), made at b.py:2: tf.unique(x)
    The size of its result depends on the data.
  Where (c)
    The shape of its result is not static."""


def add_program(monkeypatch, folder, name, arguments):
    checkout = folder / "some+small"
    if not checkout.exists():
        checkout.mkdir()
        (checkout / "train.py").write_text(PROGRAM)
        (checkout / "model.py").write_text(MODEL)
    monkeypatch.setitem(
        on_jax_fetched.ALL, name, Fetched("some/small", "main", arguments, package="small")
    )


def test_a_program_that_sets_no_seed_has_the_weights_of_emulated_cores(monkeypatch, tmp_path):
    add_program(monkeypatch, tmp_path, "small", "{code}/train.py {out} {2n}")
    outcome = on_jax_fetched.compare_program("small", 2, tmp_path, tmp_path)
    assert not outcome.errors
    assert outcome.row.holds
    add_program(monkeypatch, tmp_path, "wrong", "{code}/train.py {out} {2n} error")
    outcome = on_jax_fetched.compare_program("wrong", 2, tmp_path, tmp_path)
    assert outcome.row is None
    assert set(outcome.errors) == {"emulated", "jax"}
    assert all("this program ends with an error" in error for error in outcome.errors.values())


def test_the_further_programs_read_data_that_are_written(tmp_path):
    write_data(tmp_path)
    write_further_data(tmp_path)
    assert not FETCHED.keys() & FURTHER.keys()
    assert PACKAGES.keys() <= FURTHER.keys()
    for program in FURTHER.values():
        text = " ".join(command(program, 4, data=str(tmp_path), out="/out", code="/code"))
        assert text.startswith("/code/")
        for left in ("{n}", "n}", "{data}", "{out}", "{code}", "CONFIG"):
            assert left not in text
        below = f'{re.escape(str(tmp_path))}/([^ ",]+)'
        for path in re.findall(below, text):
            assert list(tmp_path.glob(path.rstrip("*") + "*"))


def test_the_table_of_the_docs_has_each_program():
    text = on_jax_fetched.DOCS.read_text(encoding="utf-8")
    part = text.split("<!-- fetched on jax: begin -->")[1].split("<!-- fetched on jax: end -->")[0]
    names = [line.split(" | ")[0] for line in part.splitlines()[3:]]
    assert names == [f"| {name}" for name in on_jax_fetched.PROGRAMS]


def test_the_table_tells_differences_reasons_and_errors():
    close = rows.Row("weights", 1e-7, 1e-5, "w: got 1, wanted 0")
    outcomes = {
        ("a", 2): on_jax_fetched.Outcome(close),
        ("far", 2): on_jax_fetched.Outcome(close._replace(difference=0.1), {}, 0.05),
        ("b", 2): on_jax_fetched.Outcome(None, {"emulated": "x\nlast", "jax": "x\nlast"}),
        ("c", 2): on_jax_fetched.Outcome(None, {"jax": "x\nlast"}),
        ("d", 2): on_jax_fetched.Outcome(None, {"jax": f"errors.{LACKS}"}),
        ("e", 2): on_jax_fetched.Outcome(None, {"jax": "eb.errors.NotOnJaxError: No a. Take b."}),
    }
    assert list(on_jax_fetched.table(outcomes))[2:] == [
        "| a | 1.0e-07 |",
        "| far | 1.0e-01 (by rounding: 5.0e-02) |",
        "| b | ends with the same error on emulated cores: last |",
        "| c | error: last |",
        "| d | refused: XLA cannot compile Where, Unique |",
        "| e | refused: No a |",
    ]
    verdicts = {name: outcome.holds for (name, _), outcome in outcomes.items()}
    assert not verdicts.pop("c")
    assert all(verdicts.values())
    assert not on_jax_fetched.Outcome(close._replace(difference=0.1), {}, 0.01).holds


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["bertt"], "no such program: bertt"),
        (["--replicas=two", "tpu: mnist_tpu"], "no folder"),
        (["tpu: mnist_tpu", "--docs"], "leave out their names"),
    ],
)
def test_wrong_arguments_are_explained(arguments, words, capsys, tmp_path):
    with pytest.raises(SystemExit):
        on_jax_fetched.main([*arguments, "--checkouts", str(tmp_path)])
    assert words in capsys.readouterr().err
