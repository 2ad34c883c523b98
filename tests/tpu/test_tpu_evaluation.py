"""Evaluation in TPU mode: the values in its hooks, and a short last batch."""

from __future__ import annotations

import numpy as np
import pytest

import estimator_bridge as eb

import tensorflow as tf  # isort: skip

v1 = tf.compat.v1
Pipeline = eb.tpu.InputPipelineConfig


def model_fn(features, labels, mode, params):
    scale = v1.get_variable("scale", [], initializer=v1.ones_initializer())
    total = tf.reduce_sum(features * scale, name="total")
    metrics = (lambda x: {"mean": v1.metrics.mean(x)}, [features])
    return eb.tpu.TPUEstimatorSpec(mode, loss=total, eval_metrics=metrics)


def examples(count):
    def input_fn(params):
        data = tf.data.Dataset.from_tensor_slices(np.arange(count, dtype=np.float32))
        return data.batch(params["batch_size"])

    return input_fn


def make(cores=2, size=16, model=model_fn, **tpu_config):
    config = eb.tpu.RunConfig(master=f"emulated:{cores}", tpu_config=eb.tpu.TPUConfig(**tpu_config))
    return eb.tpu.TPUEstimator(model, config=config, eval_batch_size=size, predict_batch_size=size)


class Watch(v1.train.SessionRunHook):
    """Fetches a tensor of the model by its name, and counts its calls."""

    def __init__(self, name="total:0"):
        self.name, self.before, self.values = name, 0, []

    def before_run(self, run_context):
        self.before += 1
        return v1.train.SessionRunArgs(run_context.session.graph.get_tensor_by_name(self.name))

    def after_run(self, run_context, run_values):
        self.values.append(float(run_values.results))


@pytest.mark.parametrize("cores", [1, 2])
@pytest.mark.parametrize(
    ("count", "steps", "last"),
    [
        (48, 3, 1),  # the last step's first replica has the examples from 32 on
        (43, 3, 1),  # the last batch is short
        (11, 1, 1),  # there is none but a short one
    ],
)
def test_hooks_are_called_once_for_all_steps(cores, count, steps, last):
    hook = Watch()
    results = make(cores).evaluate(examples(count), steps=steps, hooks=[hook])
    assert results["mean"] == pytest.approx((count - 1) / 2)
    first = 16 * (steps - 1)
    rest = count - first
    seen = rest // cores if rest % cores == 0 else rest  # of all, where they cannot be divided
    assert (hook.before, len(hook.values)) == (last, last)
    assert hook.values == [sum(range(first, first + seen))]


def test_hooks_are_called_once_a_batch_where_nobody_knows_how_many_there_are():
    hook = Watch()
    make(1).evaluate(examples(43), hooks=[hook])
    sums = [sum(range(16)), sum(range(16, 32)), sum(range(32, 43))]
    assert hook.values == sums
    assert hook.before == 4  # once more to find the input's end, as ever


def test_a_hook_that_asks_for_a_stop_ends_the_evaluation_after_its_loop():
    class Stop(v1.train.SessionRunHook):
        def after_run(self, run_context, run_values):
            run_context.request_stop()

    assert make().evaluate(examples(160), hooks=[Stop()])["mean"] == 7.5
    assert make().evaluate(examples(160), steps=3, hooks=[Stop()])["mean"] == 23.5


class Doubling(Watch):
    """Fetches a tensor that it has made itself."""

    def __init__(self, of):
        super().__init__()
        self._of = of

    def begin(self):
        graph = v1.get_default_graph()
        self.name = (2 * graph.get_tensor_by_name(self._of)).name


def test_what_a_hook_made_of_variables_is_known_of_a_short_batch():
    hook = Doubling("scale/Read/ReadVariableOp:0")
    make().evaluate(examples(43), steps=3, hooks=[hook])
    assert hook.values == [2.0]


def test_what_a_hook_made_of_the_batch_is_not_known_of_a_short_one(caplog):
    hook = Doubling("total:0")
    assert make().evaluate(examples(43), steps=3, hooks=[hook])["mean"] == 21
    assert hook.values == []
    assert "a hook fetches" in caplog.text
    assert make().evaluate(examples(48), steps=3, hooks=[hook])["mean"] == 23.5
    assert len(hook.values) == 1


@pytest.mark.parametrize("cores", [1, 2, 4])
@pytest.mark.parametrize("count", [19, 20, 3])
def test_a_short_batch_of_broadcast_input_counts_once(cores, count):
    estimator = make(cores, size=8, per_host_input_for_training=Pipeline.BROADCAST)
    results = estimator.evaluate(examples(count))
    assert results["mean"] == pytest.approx((count - 1) / 2)
    sums = [sum(range(count)[i : i + 8]) for i in range(0, count, 8)]
    assert results["loss"] == pytest.approx(np.mean(sums))


def test_examples_in_another_dimension_are_not_padded():
    def transposed(params):
        return examples(19)(params).map(lambda x: tf.stack([x, x]))

    config = eb.tpu.RunConfig(master="emulated:2")
    estimator = eb.tpu.TPUEstimator(model_fn, config=config, eval_batch_size=8, batch_axis=[1])
    with pytest.raises(ValueError, match=r"must have static shape.*\(2, None\).*drop_remainder"):
        estimator.evaluate(transposed)
    with pytest.raises(ValueError, match=r"must have static shape.*\(None, 2\).*set_shape"):
        estimator.evaluate(lambda params: transposed(params).map(tf.transpose))


@pytest.mark.parametrize("pipeline", [Pipeline.PER_HOST_V1, Pipeline.PER_HOST_V2])
def test_metrics_know_the_sizes_of_what_the_replicas_gathered(pipeline):
    """As on a TPU, though the last batch is short: some functions take nothing else."""

    def counted(x):
        assert x.shape.is_fully_defined()
        return {
            "size": v1.metrics.mean(tf.size(x, out_type=tf.float32)),
            "mean": v1.metrics.mean(x),
        }

    def model(features, labels, mode, params):
        spec = model_fn(features, labels, mode, params)
        return spec._replace(eval_metrics=(counted, [features]))

    estimator = make(2, 16, model, per_host_input_for_training=pipeline)
    results = estimator.evaluate(examples(42))
    assert results["size"] == pytest.approx((16 + 16 + 10) / 3)
    assert results["mean"] == pytest.approx(41 / 2)
