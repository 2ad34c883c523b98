"""`rewrite --to eb-model`: a plain model_fn becomes an eb.Model that gives its numbers."""

from __future__ import annotations

import importlib
import sys
from textwrap import dedent

import pytest

import estimator_bridge as eb
from estimator_bridge.commands.cli import main

PROGRAM = '''\
"""A network with batch norm, a setting, summaries and weights."""

import estimator_bridge as eb
import numpy as np
import tensorflow.compat.v1 as tf


def train_input(params):
    x = np.random.RandomState(1).normal(size=[24, 4]).astype(np.float32)
    data = ({"x": x, "weight": np.abs(x[:, 0])}, (x[:, 0] > 0).astype(np.int32))
    return tf.data.Dataset.from_tensor_slices(data).repeat().batch(params["batch_size"], True)


def eval_input(params):
    return train_input(params).take(4)


def metric_fn(labels, classes, weights):
    return {"accuracy": tf.metrics.accuracy(labels, classes, weights)}


def model_fn(features, labels, mode, params):
    """Builds the model."""
    training = mode == eb.ModeKeys.TRAIN
    scale = params["scale"]
    net = tf.layers.dense(
        features["x"], 6, kernel_initializer=tf.glorot_uniform_initializer(seed=1)
    )  # hidden
    net = tf.layers.batch_normalization(net, momentum=0.9, training=training)
    if training:
        net = tf.nn.dropout(net, rate=0.2, seed=5)
    logits = tf.layers.dense(net, 2, kernel_initializer=tf.glorot_uniform_initializer(seed=2))
    classes = tf.argmax(logits, -1)
    if mode == eb.ModeKeys.PREDICT:
        return eb.SPEC(mode, predictions={"class": classes, "logits": logits})
    weights = features["weight"] * scale
    loss = tf.losses.sparse_softmax_cross_entropy(labels, logits, weights)
    tf.summary.scalar("mean_logit", tf.reduce_mean(logits))
    if mode == eb.ModeKeys.EVAL:
        METRICS
    rate = tf.train.exponential_decay(0.1, tf.train.get_global_step(), 2, 0.5)
    tf.summary.scalar("rate", rate)
    optimizer = tf.train.MomentumOptimizer(rate, 0.9)
    if params.get("use_tpu"):
        optimizer = eb.tpu.CrossShardOptimizer(optimizer)
    with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
        train_op = optimizer.minimize(loss, global_step=tf.train.get_global_step())
    return eb.SPEC(mode=mode, loss=loss, train_op=train_op)
'''
PLAIN = PROGRAM.replace("SPEC", "EstimatorSpec").replace(
    "METRICS",
    "metrics = metric_fn(labels, classes, weights)\n"
    "        return eb.EstimatorSpec(mode, loss=loss, eval_metric_ops=metrics)",
)
TPU = PROGRAM.replace("SPEC", "tpu.TPUEstimatorSpec").replace(
    "METRICS",
    "given = (metric_fn, [labels, classes, weights])\n"
    "        return eb.tpu.TPUEstimatorSpec(mode, loss=loss, eval_metrics=given)",
)
PARAMS = '{"batch_size": 6, "scale": 2.0}'


def to_eb_model(tmp_path, name, source, *more):
    path = tmp_path / f"{name}.py"
    path.write_text(source)
    return main(["rewrite", "--to", "eb-model", str(path), "--params", PARAMS, *more])


@pytest.mark.parametrize(("name", "source"), [("plain_net", PLAIN), ("tpu_net", TPU)])
def test_the_generated_test_passes(name, source, tmp_path, monkeypatch):
    assert to_eb_model(tmp_path, name, source) == 0
    text = (tmp_path / f"{name}_eb_model.py").read_text()
    assert "# hidden" in text and "def inference(features, mode):" in text
    assert "CrossShardOptimizer" not in text
    assert text.count('tf.summary.scalar("rate", rate)') == 1
    monkeypatch.syspath_prepend(str(tmp_path))
    generated = importlib.import_module(f"test_{name}_eb_model")
    generated.test_the_model_gives_the_numbers_of_the_model_fn()


SHORT = '''\
"""One spec for all modes; the rate is a flag."""

import estimator_bridge as eb
import numpy as np
import tensorflow.compat.v1 as tf

tf.flags.DEFINE_float("rate_of_short_net", 0.1, "The first learning rate.")
FLAGS = tf.flags.FLAGS


def train_input():
    x = np.random.RandomState(1).normal(size=[24, 4]).astype(np.float32)
    return tf.data.Dataset.from_tensor_slices((x, (x[:, 0] > 0).astype(np.int32))).repeat().batch(6)


def eval_input():
    return train_input().take(4)


def model_fn(features, labels, mode, config):
    """Builds the model."""
    del config
    logits = tf.layers.dense(features, 2, kernel_initializer=tf.glorot_uniform_initializer(seed=1))
    loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
    rate = tf.train.exponential_decay(FLAGS.rate_of_short_net, tf.train.get_global_step(), 2, 0.5)
    rates = tf.fill([3], rate)
    if config_is_large():
        optimizer = tf.train.MomentumOptimizer(rate, 0.9)
    else:
        optimizer = tf.train.GradientDescentOptimizer(rate)
    train_op = optimizer.minimize(loss, tf.train.get_global_step())
    metrics = {"rate": tf.metrics.mean(rates)}
    return eb.EstimatorSpec(mode, tf.argmax(logits, -1), loss, train_op, metrics)


def config_is_large():
    return True
'''


def test_a_short_model_fn_that_makes_its_optimizer_in_all_modes(tmp_path, monkeypatch):
    path = tmp_path / "short_net.py"
    path.write_text(SHORT)
    assert main(["rewrite", "--to", "eb-model", str(path)]) == 0
    text = (tmp_path / "short_net_eb_model.py").read_text()
    assert "del config" not in text
    assert text.count("exponential_decay") == 2  # for the optimizer, and for the metric
    assert text.index("def inference(features):") < text.index("exponential_decay")
    test = (tmp_path / "test_short_net_eb_model.py").read_text()
    assert "predict=False" in test and "mark_as_parsed()" in test
    monkeypatch.syspath_prepend(str(tmp_path))
    generated = importlib.import_module("test_short_net_eb_model")
    generated.test_the_model_gives_the_numbers_of_the_model_fn()


def test_the_check_sees_another_number(tmp_path, monkeypatch):
    assert to_eb_model(tmp_path, "other_net", PLAIN) == 0
    monkeypatch.syspath_prepend(str(tmp_path))
    path = tmp_path / "other_net_eb_model.py"
    path.write_text(path.read_text().replace("0.1, tf.train", "0.2, tf.train"))
    generated = importlib.import_module("test_other_net_eb_model")
    with pytest.raises(eb.testing.ModelCheckError, match="loss of a step 1 differs"):
        generated.test_the_model_gives_the_numbers_of_the_model_fn()
    assert "other_net_eb_model" in sys.modules


REFUSED = {
    "train_op is not the result of one optimizer's minimize": (
        "train_op = optimizer.minimize(loss, global_step=tf.train.get_global_step())",
        "train_op = optimizer.apply_gradients(optimizer.compute_gradients(loss))",
    ),
    "eb.Model has no hooks": (
        "return eb.EstimatorSpec(mode=mode, loss=loss, train_op=train_op)",
        "return eb.EstimatorSpec(mode=mode, loss=loss, train_op=train_op, training_hooks=[h])",
    ),
    "the predictions need the labels": (
        'predictions={"class": classes, "logits": logits}',
        'predictions={"class": classes, "labels": labels}',
    ),
    "nothing runs UPDATE_OPS": ("tf.GraphKeys.UPDATE_OPS", '"none"'),
    "the loss lacks the regularization losses": (
        'features["x"], 6,',
        'features["x"], 6, kernel_regularizer=tf.nn.l2_loss,',
    ),
    "a return is below a condition": (
        "if mode == eb.ModeKeys.EVAL:",
        "if mode == eb.ModeKeys.EVAL and scale:",
    ),
    "minimize gets var_list": ("minimize(loss,", "minimize(loss, var_list=[],"),
    "the optimizer does not minimize the": ("minimize(loss,", "minimize(2 * loss,"),
    "--train-input": ("def train_input", "def train_batches"),
    "no function takes features, labels and mode": ("labels, mode, params", "labels, m, params"),
    "rewrite it first": ("import tensorflow.compat.v1 as tf", "import tensorflow as tf"),
    "export_outputs": (
        'predictions={"class": classes, "logits": logits}',
        'predictions={"class": classes}, export_outputs={"x": classes}',
    ),
}


@pytest.mark.parametrize("reason", REFUSED)
def test_what_it_cannot_take_apart_is_refused(reason, tmp_path, capsys):
    before, after = REFUSED[reason]
    assert before in PLAIN
    assert to_eb_model(tmp_path, "refused", PLAIN.replace(before, after)) == 1
    assert reason in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["refused.py"]


def test_a_regularizer_in_a_function_that_is_called_is_refused(tmp_path, capsys):
    source = PLAIN.replace(
        "def metric_fn",
        """def layer(x):
    return tf.layers.dense(x, 4, kernel_regularizer=tf.nn.l2_loss)


def metric_fn""",
    ).replace('features["x"], 6,', 'layer(features["x"]), 6,')
    line = source.split("kernel_regularizer")[0].count("\n") + 1
    assert to_eb_model(tmp_path, "refused", source) == 1
    assert f"refused.py:{line}: not taken apart: the loss lacks" in capsys.readouterr().err


def test_a_refusal_names_the_line(tmp_path, capsys):
    source = PLAIN.replace("optimizer.minimize(loss,", "make(optimizer, loss,")
    line = source.split("make(optimizer")[0].count("\n") + 1
    assert to_eb_model(tmp_path, "refused", source) == 1
    assert f"refused.py:{line}: not taken apart: " in capsys.readouterr().err


def test_nothing_is_written_over(tmp_path, capsys):
    assert to_eb_model(tmp_path, "twice", PLAIN) == 0
    assert to_eb_model(tmp_path, "twice", PLAIN) == 1
    assert "already exists" in capsys.readouterr().err


def test_wrong_params_are_an_error_of_usage(tmp_path, capsys):
    path = tmp_path / "net.py"
    path.write_text(dedent(PLAIN))
    for wrong in ("[1]", "{"):
        assert main(["rewrite", "--to", "eb-model", str(path), "--params", wrong]) == 2
    assert "--params is not JSON" in capsys.readouterr().err
