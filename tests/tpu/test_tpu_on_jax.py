"""TPUEstimator on JAX's CPU devices, beside emulated cores: the same numbers and files."""

import numpy as np
import pytest
import tensorflow as tf

import estimator_bridge as eb
from estimator_bridge.errors import NotCompilableError

pytest.importorskip("jax", reason="jax is not installed: pip install 'estimator-bridge[jax]'")

v1 = tf.compat.v1

_random = np.random.RandomState(0)
FEATURES = _random.randn(96, 6).astype(np.float32)
LABELS = (FEATURES.sum(1) > 0).astype(np.int32)


def read(params):
    rows = tf.data.Dataset.from_tensor_slices((FEATURES, LABELS)).repeat()
    return rows.batch(params["batch_size"], drop_remainder=True)


def read_once(params):
    rows = tf.data.Dataset.from_tensor_slices((FEATURES[:21], LABELS[:21]))
    return rows.batch(params["batch_size"])


def metric_fn(labels, logits):
    return {
        "accuracy": v1.metrics.accuracy(labels, tf.argmax(logits, 1)),
        "largest": v1.metrics.mean(tf.reduce_max(logits, 1)),
    }


def model_fn(features, labels, mode, params):
    """Dropout, batch normalization over each replica's examples, Adam and summaries."""
    is_training = mode == eb.ModeKeys.TRAIN
    hidden = tf.nn.relu(features @ v1.get_variable("w", [6, 8]))
    hidden = v1.layers.batch_normalization(hidden, training=is_training)
    hidden = v1.nn.dropout(hidden, rate=0.25 if is_training else 0.0, seed=7)
    logits = hidden @ v1.get_variable("v", [8, 2])
    if mode == eb.ModeKeys.PREDICT:
        return eb.tpu.TPUEstimatorSpec(mode, predictions={"probabilities": tf.nn.softmax(logits)})
    loss = v1.losses.sparse_softmax_cross_entropy(labels, logits) * params.get("scale", 1.0)
    if mode == eb.ModeKeys.EVAL:
        return eb.tpu.TPUEstimatorSpec(mode, loss=loss, eval_metrics=(metric_fn, [labels, logits]))
    optimizer = eb.tpu.CrossShardOptimizer(v1.train.AdamOptimizer(0.01))
    with tf.control_dependencies(v1.get_collection(v1.GraphKeys.UPDATE_OPS)):
        train_op = optimizer.minimize(loss, v1.train.get_global_step())
    return eb.tpu.TPUEstimatorSpec(mode, loss=loss, train_op=train_op)


class Steps(v1.train.SessionRunHook):
    """Notes what a session sees at the end of each loop, and what the last step computed."""

    def __init__(self):
        self.steps, self.weights, self.fetched = [], [], []

    def before_run(self, run_context):
        return v1.train.SessionRunArgs(run_context.session.graph.get_tensor_by_name("w:0"))

    def after_run(self, run_context, run_values):
        step = v1.train.get_global_step(run_context.session.graph)
        self.steps.append(int(run_context.session.run(step)))
        self.weights.append(run_context.session.run("w:0"))
        self.fetched.append(run_values.results)


def estimator(master, model_dir, **options):
    config = eb.tpu.RunConfig(
        master=master,
        model_dir=str(model_dir),
        tf_random_seed=1,
        save_checkpoints_steps=8,
        tpu_config=eb.tpu.TPUConfig(iterations_per_loop=4),
    )
    return eb.tpu.TPUEstimator(
        options.pop("model_fn", model_fn), config=config, use_tpu=True, train_batch_size=8,
        eval_batch_size=8, predict_batch_size=8, **options,
    )  # fmt: skip


def weights(trained):
    return {name: trained.get_variable_value(name) for name in trained.get_variable_names()}


def check_same(first, second, tolerance=1e-5):
    assert first.keys() == second.keys()
    for name, value in first.items():
        np.testing.assert_allclose(second[name], value, atol=tolerance, err_msg=name)


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """Returns estimators that trained 16 steps, on cores and on JAX, and their hooks."""
    result = {}
    for master in ("emulated:2", "jax:cpu:2"):
        hook, one = Steps(), estimator(master, tmp_path_factory.mktemp("model"))
        one.train(read, max_steps=16, hooks=[hook])
        result[master] = one, hook
    return result


def test_weights_and_hooks_are_those_of_emulated_cores(trained):
    (cores, there), (jax, here) = trained["emulated:2"], trained["jax:cpu:2"]
    assert here.steps == there.steps
    assert here.steps[-1] == 16
    np.testing.assert_allclose(here.weights, there.weights, atol=1e-5)
    np.testing.assert_allclose(here.fetched, there.fetched, atol=1e-5)
    check_same(weights(cores), weights(jax))


def test_evaluation_counts_each_example_once(trained):
    results = [one.evaluate(read_once) for one, _ in trained.values()]
    check_same(*results, tolerance=1e-5)
    assert abs(results[0]["accuracy"] * 21 - round(results[0]["accuracy"] * 21)) < 1e-4


def test_predictions_leave_padding_out(trained):
    each = [list(one.predict(read_once)) for one, _ in trained.values()]
    assert [len(rows) for rows in each] == [21, 21]
    for cores, jax in zip(*each):
        np.testing.assert_allclose(jax["probabilities"], cores["probabilities"], atol=1e-5)


@pytest.mark.parametrize(
    ("first", "second"), [("jax:cpu:2", "emulated:2"), ("emulated:2", "jax:cpu:2")]
)
def test_each_runtime_continues_the_other_at_any_step(trained, tmp_path, first, second):
    estimator(first, tmp_path).train(read, max_steps=5)
    half = estimator(second, tmp_path)
    half.train(read_from(5), max_steps=16)
    check_same(weights(trained["emulated:2"][0]), weights(half))


def read_from(step):
    return lambda params: read(params).skip(step)


def test_a_nan_loss_ends_training(tmp_path):
    one = estimator("jax:cpu:2", tmp_path, params={"scale": float("nan")})
    with pytest.raises(v1.train.NanLossDuringTrainingError, match="global step 1"):
        one.train(read, max_steps=16)


def test_nothing_is_written_for_a_refused_program(tmp_path):
    def sized_by_data(features, labels, mode, params):
        spec = model_fn(features, labels, mode, params)
        loss = spec.loss + tf.cast(tf.size(tf.unique(labels)[0]), tf.float32)
        update = v1.train.GradientDescentOptimizer(0.1).minimize(loss, v1.train.get_global_step())
        return eb.tpu.TPUEstimatorSpec(mode, loss=loss, train_op=update)

    one = estimator("jax:cpu:2", tmp_path / "model", model_fn=sized_by_data)
    with pytest.raises(NotCompilableError, match=r"test_tpu_on_jax\.py"):
        one.train(read, max_steps=16)
    assert not list((tmp_path / "model").glob("*.ckpt*"))
