"""docs/architecture.md names what exists, and a run passes through it in the page's order."""

import ast
import contextlib
import re
import sys
import threading
from pathlib import Path

import pytest

import estimator_bridge as eb

import tensorflow as tf  # isort: skip

v1 = tf.compat.v1

ROOT = Path(__file__).resolve().parents[1]
LIBRARY = ROOT / "estimator_bridge"
STEP = re.compile(r"^\d+\. `([\w/]+\.py)`, ((?:`[\w.]+`(?:,\s+)?)+):", re.M)
TO_AN_UPDATE, TO_A_METRIC = "A batch's way to a variable's update", "A batch's way to a metric"


def way(title):
    """Returns the steps of a way: a file of the library, and the functions and classes named."""
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    section = page.partition(f"\n## {title}\n")[2].partition("\n## ")[0]
    return [(step[1], re.findall(r"`([\w.]+)`", step[2])) for step in STEP.finditer(section)]


def definitions(file):
    """Returns the functions, classes and methods of a file: their first lines, by their names."""
    lines = {}

    def visit(nodes, prefix):
        for node in nodes:
            if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
                first = [node.lineno, *(one.lineno for one in node.decorator_list)]
                lines[prefix + node.name] = min(first)
            if isinstance(node, ast.ClassDef):
                visit(node.body, f"{prefix}{node.name}.")

    visit(ast.parse((LIBRARY / file).read_text(encoding="utf-8")).body, "")
    return lines


STEPS = [(file, name) for title in (TO_AN_UPDATE, TO_A_METRIC)
         for file, names in way(title) for name in names]  # fmt: skip


@pytest.mark.parametrize("file, name", STEPS)
def test_what_the_ways_name_is_defined_there(file, name):
    assert name in definitions(file)


def test_the_ways_are_read_from_the_page():
    assert [file for file, _ in way(TO_AN_UPDATE)][::18] == [
        "training/estimator.py",
        "graph/resources.py",
    ]
    assert [file for file, _ in way(TO_A_METRIC)][-1] == "training/metrics.py"


@contextlib.contextmanager
def calls(steps):
    """Within this context, appends the calls of the steps' functions to the list: file and name."""
    places = {}
    for file, names in steps:
        for name, line in definitions(file).items():
            for one in names:
                if name == one or name.startswith(one + "."):
                    places[str(LIBRARY / file), line] = file, one
    entered = []

    def note(frame, event, argument):
        place = frame.f_code.co_filename, frame.f_code.co_firstlineno
        if event == "call" and place in places:
            entered.append(places[place])

    threading.setprofile(note)  # a strategy's replicas are traced in threads
    sys.setprofile(note)
    try:
        yield entered
    finally:
        sys.setprofile(None)
        threading.setprofile(None)


def check_order(steps, entered):
    """Checks that the run entered everything named, and can be followed file by file."""
    assert {(file, name) for file, names in steps for name in names} - set(entered) == set()
    files = iter(file for file, _ in entered)
    for file, _ in steps:
        assert file in files, f"after the step before it, {file} is not entered again"


def spec(features, labels, mode):
    logits = v1.layers.dense(features, 1)
    loss = v1.losses.mean_squared_error(labels, logits)
    optimizer = v1.train.GradientDescentOptimizer(0.1)
    train_op = optimizer.minimize(loss, v1.train.get_or_create_global_step())
    metrics = {"error": v1.metrics.mean_absolute_error(labels, logits)}
    return eb.EstimatorSpec(mode, loss=loss, train_op=train_op, eval_metric_ops=metrics)


def examples(count):
    values = tf.reshape(tf.range(count, dtype=tf.float32), [count, 1])
    return tf.data.Dataset.from_tensor_slices((values, values)).batch(4)


def test_a_training_follows_the_way_to_an_update(tmp_path):
    strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
    config = eb.RunConfig(model_dir=str(tmp_path), train_distribute=strategy)
    estimator = eb.Estimator(spec, config=config)
    with calls(way(TO_AN_UPDATE)) as entered:
        estimator.train(lambda: examples(16), steps=2)
    check_order(way(TO_AN_UPDATE), entered)


def test_an_evaluation_follows_the_way_to_a_metric(tmp_path):
    config = eb.tpu.RunConfig(model_dir=str(tmp_path), master="emulated:2")
    estimator = eb.tpu.TPUEstimator(
        lambda features, labels, mode, params: spec(features, labels, mode),
        config=config,
        train_batch_size=4,
        eval_batch_size=4,
    )
    with calls(way(TO_A_METRIC)) as entered:
        estimator.evaluate(lambda params: examples(6))
    check_order(way(TO_A_METRIC), entered)
