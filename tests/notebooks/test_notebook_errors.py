"""An error in a cell is short and begins at the user's line; `%tb` shows it whole."""

import re

import nbclient
import nbformat
import pytest

CELLS = {
    "import": """
import estimator_bridge as eb
import tensorflow.compat.v1 as tf
tf.logging.set_verbosity(tf.logging.INFO)""",
    "model": """
def dense(x):
    w = tf.get_variable("w", [3, 2])
    return tf.matmul(x, w)

def model_fn(features, labels, mode):
    logits = dense(features)
    loss = tf.losses.mean_squared_error(labels, logits[:, 0])
    train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss, tf.train.get_global_step())
    return eb.EstimatorSpec(mode, loss=loss, train_op=train_op)

def input_fn(width):
    return tf.data.Dataset.from_tensors((tf.ones([4, width]), tf.ones([4]))).repeat()

estimator = eb.Estimator(model_fn, "run")""",
    "wrong": "estimator.train(lambda: input_fn(2), steps=1)",
    "whole": "%tb",
    "other": "1 / 0",
    "constructor": """
config = eb.tpu.RunConfig(model_dir="run", master="emulated:x")
eb.tpu.TPUEstimator(model_fn, config=config, train_batch_size=4)""",
    "right": "_ = estimator.train(lambda: input_fn(3), steps=20_000)",
    "evaluate": "_ = estimator.evaluate(lambda: input_fn(3), steps=2)",
}


@pytest.fixture(scope="module")
def outputs(tmp_path_factory):
    """The outputs of each cell, by its name, with the library's defaults."""
    folder = tmp_path_factory.mktemp("notebook")
    cells = [nbformat.v4.new_code_cell(source.strip()) for source in CELLS.values()]
    book = nbformat.v4.new_notebook(cells=cells)
    patch = pytest.MonkeyPatch()
    with patch.context() as environment:
        environment.delenv("ESTIMATOR_BRIDGE_MONITOR", raising=False)
        environment.delenv("TF_CPP_MIN_LOG_LEVEL", raising=False)
        environment.delenv("PYTEST_CURRENT_TEST")  # with it, a kernel hides what C++ code prints
        client = nbclient.NotebookClient(
            book, timeout=200, kernel_name="python3", allow_errors=True,
            resources={"metadata": {"path": str(folder)}},
        )  # fmt: skip
        client.execute()
    return {name: cell.outputs for name, cell in zip(CELLS, book.cells)}


def error_lines(outputs):
    (error,) = (one for one in outputs if one["output_type"] == "error")
    text = re.sub(r"\x1b\[[0-9;]*m", "", "\n".join(error["traceback"]))
    return text.split("\n")


def test_the_import_says_nothing(outputs):
    assert outputs["import"] == []


def test_an_error_begins_at_the_user_s_line(outputs):
    lines = error_lines(outputs["wrong"])
    assert lines[0] == "ValueError  (%tb shows the whole traceback)"
    assert lines[1] == "Cell In[2], line 3, in dense"
    assert "----> 3     return tf.matmul(x, w)" in lines
    assert any(line.startswith("ValueError: Dimensions must be equal") for line in lines)
    assert lines[-2].startswith("called from Cell In[3], line 1: estimator.train(")
    assert lines[-1] == "called from Cell In[2], line 6: logits = dense(features)"
    assert len(lines) <= 25


def test_tb_shows_the_whole(outputs):
    lines = error_lines(outputs["whole"])
    assert any("estimator_bridge" in line for line in lines)
    assert len(lines) > 25


def test_an_error_of_a_constructor_is_short_too(outputs):
    lines = error_lines(outputs["constructor"])
    assert lines[1] == "Cell In[6], line 2, in <module>"
    assert lines[-1].startswith("ValueError: The number of emulated cores in 'emulated:x' must be")
    assert not any("called from" in line for line in lines)
    assert len(lines) <= 25


def test_other_errors_are_shown_as_ever(outputs):
    lines = error_lines(outputs["other"])
    assert any("Traceback (most recent call last)" in line for line in lines)


def test_a_training_is_one_line_and_few_of_the_log(outputs):
    shown = [one for one in outputs["right"] if one["output_type"] == "display_data"]
    lines = [one["data"]["text/plain"] for one in shown]
    assert lines[0].startswith("step 20,000/20,000  loss ")
    assert lines[-2:] == ["Report: run/report.html", "Curves: tensorboard --logdir run"]
    log = "".join(one.get("text", "") for one in outputs["right"])
    assert "INFO:tensorflow:Calling model_fn." in log
    assert len(re.findall(r"INFO:tensorflow:loss = |INFO:tensorflow:global_step/sec", log)) < 20


def test_an_evaluation_leaves_no_stage_behind(outputs):
    shown = [one["data"] for one in outputs["evaluate"] if one["output_type"] == "display_data"]
    assert shown == [{"text/plain": ""}]
