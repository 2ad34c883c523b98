"""Prediction in TPU mode: host calls, hooks, and a short last batch."""

from __future__ import annotations

import numpy as np
import pytest

import estimator_bridge as eb

import tensorflow as tf  # isort: skip

v1 = tf.compat.v1


def examples(count, drop_remainder=False):
    def input_fn(params):
        data = tf.data.Dataset.from_tensor_slices(np.arange(count, dtype=np.float32))
        return data.batch(params["batch_size"], drop_remainder)

    return input_fn


def make(model, cores=2, use_tpu=True, **tpu_config):
    config = eb.tpu.RunConfig(master=f"emulated:{cores}", tpu_config=eb.tpu.TPUConfig(**tpu_config))
    return eb.tpu.TPUEstimator(model, config=config, use_tpu=use_tpu, predict_batch_size=8)


@pytest.mark.parametrize("cores", [0, 1, 2])
def test_a_host_call_runs_with_each_batch(cores):
    seen = []

    def model_fn(features, labels, mode, params):
        host_call = (lambda x: v1.py_func(lambda x: seen.append(x.tolist()), [x], []), [features])
        return eb.tpu.TPUEstimatorSpec(mode, predictions={"x": features}, host_call=host_call)

    estimator = make(model_fn, cores or 1, use_tpu=bool(cores))
    assert [p["x"] for p in estimator.predict(examples(16))] == list(range(16))
    assert seen == [list(range(8)), list(range(8, 16))]


def test_a_hook_is_called_once_a_batch():
    counts = {"before": 0, "after": 0}

    class Count(v1.train.SessionRunHook):
        def before_run(self, run_context):
            counts["before"] += 1

        def after_run(self, run_context, run_values):
            counts["after"] += 1

    def model_fn(features, labels, mode, params):
        spec = eb.tpu.TPUEstimatorSpec(mode, predictions={"x": features})
        return spec._replace(prediction_hooks=(Count(),))

    assert len(list(make(model_fn).predict(examples(19)))) == 19
    assert counts == {"before": 4, "after": 3}  # the fourth finds the input's end, as ever


def test_every_example_of_broadcast_input_comes_once():
    def model_fn(features, labels, mode, params):
        assert features.shape == [8]
        return eb.tpu.TPUEstimatorSpec(mode, predictions={"x": features})

    broadcast = eb.tpu.InputPipelineConfig.BROADCAST
    estimator = make(model_fn, per_host_input_for_training=broadcast)
    assert [p["x"] for p in estimator.predict(examples(19))] == list(range(19))


def test_predictions_that_padding_could_not_be_stripped_from():
    def model_fn(features, labels, mode, params):
        return eb.tpu.TPUEstimatorSpec(mode, predictions={"least": features[:1]})

    with pytest.raises(ValueError, match=r"predictions\['least'\].*first dimension is 1.*has 4 ex"):
        list(make(model_fn).predict(examples(19)))
    batches = make(model_fn).predict(examples(19, True), yield_single_examples=False)
    assert [batch["least"].tolist() for batch in batches] == [[0, 4], [8, 12]]
