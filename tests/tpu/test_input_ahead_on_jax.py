"""Batches that JAX's steps read ahead of their call: nobody can tell, but for the time."""

import numpy as np
import pytest

import estimator_bridge as eb
from estimator_bridge.runtime.on_jax import blocks

import tensorflow as tf  # isort: skip

pytest.importorskip("jax", reason="jax is not installed: pip install 'estimator-bridge[jax]'")

v1 = tf.compat.v1
X = np.random.RandomState(0).rand(44).astype(np.float32)


def model_fn(features, labels, mode):
    """A sum in which each batch counts by its place in the order."""
    del labels
    total = v1.get_variable("total", [], initializer=v1.zeros_initializer())
    noise = v1.random_uniform([], seed=3)
    step = v1.train.get_global_step()
    batch = tf.reduce_mean(tf.identity(features, name="batch"))
    updates = [v1.assign(total, 0.9 * total + batch + 0.01 * noise), v1.assign_add(step, 1)]
    loss = tf.identity(batch, name="loss")
    return eb.tpu.TPUEstimatorSpec(mode, loss=loss, train_op=tf.group(updates))


def batches(params):
    return tf.data.Dataset.from_tensor_slices(X).batch(params["batch_size"], drop_remainder=True)


def endless(params):
    return batches(params).shuffle(5, seed=1).repeat()


def make(folder, master="jax:cpu:1"):
    config = eb.tpu.RunConfig(
        master=master, model_dir=str(folder), tf_random_seed=1, save_checkpoints_steps=4,
        save_summary_steps=None, tpu_config=eb.tpu.TPUConfig(iterations_per_loop=4),
    )  # fmt: skip
    return eb.tpu.TPUEstimator(model_fn, config=config, train_batch_size=4)


class Drawing(v1.train.SessionRunHook):
    """Draws a batch by a run of the session after each call, and fetches the sum now and then."""

    def __init__(self):
        self.values, self._calls = [], 0

    def before_run(self, run_context):
        del run_context
        self._calls += 1
        return v1.train.SessionRunArgs("total:0") if self._calls % 3 == 0 else None

    def after_run(self, run_context, run_values):
        if run_values.results is not None:
            self.values.append(float(run_values.results))
        self.values += run_context.session.run("batch:0").tolist()


@pytest.fixture
def events(monkeypatch):
    """Notes the calls of the loop, and what it reads and starts."""
    noted = []

    def note(name, kind, of):
        original = getattr(of, name)

        def noting(*arguments):
            noted.append(kind)
            return original(*arguments)

        monkeypatch.setattr(of, name, noting)

    note("__call__", "call", blocks.Blocks)
    note("__call__", "read", blocks.BlockReader)
    note("_start", "start", blocks.Blocks)
    return noted


def test_the_first_steps_of_a_call_have_their_batches(tmp_path, events):
    make(tmp_path).train(endless, max_steps=16)
    assert events[:4] == ["call", "read", "start", "read"]
    first = [events[i + 1] for i, event in enumerate(events) if event == "call"]
    assert first == ["read"] + ["start"] * (len(first) - 1)
    assert events[-1] != "read"  # nothing is read after the last step


@pytest.mark.parametrize("input_fn", [endless, batches])
@pytest.mark.parametrize("hooks", [[], [Drawing]], ids=["alone", "session"])
def test_each_batch_comes_once_in_order(tmp_path, input_fn, hooks):
    """Also those that a session draws between two calls, up to the input's end."""
    results = []
    for master in ("emulated:1", "jax:cpu:1"):
        estimator, own = make(tmp_path / master, master), [hook() for hook in hooks]
        estimator.train(input_fn, hooks=own, max_steps=None if input_fn is batches else 18)
        total = estimator.get_variable_value("total")
        step = estimator.get_variable_value("global_step")
        results.append((step, total, [hook.values for hook in own]))
    assert results[0][0] == results[1][0]
    np.testing.assert_allclose(results[0][1], results[1][1], rtol=1e-6)
    np.testing.assert_allclose(results[0][2], results[1][2], rtol=1e-6)


def test_an_error_of_the_input_comes_after_the_steps_before_it(tmp_path):
    """The call before it is done, with its checkpoint, although its batches were read then."""

    def failing(params):
        def check(x):
            row = tf.where(tf.equal(x, X[33]), np.nan, x)
            return tf.debugging.check_numerics(row, "a broken row")

        return batches(params).map(check)

    estimator = make(tmp_path)
    with pytest.raises(tf.errors.InvalidArgumentError, match="a broken row"):
        estimator.train(failing, max_steps=100)
    assert estimator.latest_checkpoint().endswith("model.ckpt-8")
    expected = make(tmp_path / "before")
    expected.train(batches, max_steps=8)
    assert estimator.get_variable_value("total") == expected.get_variable_value("total")


def test_a_saved_position_is_that_of_the_steps(tmp_path, events):
    """Nothing is read ahead if a hook saves the position; a resumed run misses no batch."""

    def train(folder, *ends):
        for end in ends:
            estimator = make(folder)
            position = eb.experimental.CheckpointInputPipelineHook(estimator)
            estimator.train(endless, hooks=[position], max_steps=end)
        return estimator.get_variable_value("total")

    whole = train(tmp_path / "whole", 14)
    first = [events[i + 1] for i, event in enumerate(events) if event == "call"]
    assert set(first) == {"read"}
    assert train(tmp_path / "parts", 5, 14) == whole


def test_a_monitored_training_has_each_batch_in_order(tmp_path):
    """The monitor draws batches by itself, for steps that do not wait."""
    results = []
    for monitor in (False, True):
        folder = tmp_path / str(monitor)
        estimator = make(folder)
        hooks = [eb.training.Monitor(line=False)] if monitor else []
        estimator.train(endless, hooks=hooks, max_steps=400)
        results.append(estimator.get_variable_value("total"))
    assert results[0] == results[1]
