"""Results of an evaluation print as numbers, and are NumPy's scalars in all other ways."""

import copy
import json
import pickle

import numpy as np
import pytest
import tensorflow as tf

import estimator_bridge as eb
from estimator_bridge.training.printed_scalars import printed_as_number

v1 = tf.compat.v1

SCALARS = [np.float32(0.796), np.float64(0.1), np.float16(0.5), np.int64(7), np.int32(-3)]
SCALARS += [np.float32("nan"), np.float32(1e-8)]


@pytest.mark.parametrize("scalar", SCALARS, ids=lambda s: f"{s.dtype}-{s}")
def test_a_scalar_changes_in_its_repr_only(scalar):
    value = printed_as_number(scalar)
    assert repr({"a": value}) == f"{{'a': {scalar!s}}}"
    assert isinstance(value, type(scalar)) and value.dtype == scalar.dtype
    assert str(value) == str(scalar) and f"{value:.3f}" == f"{scalar:.3f}"
    assert type(value.item()) is type(scalar.item())
    assert type(value + scalar) is type(scalar) and type(-value) is type(scalar)
    assert type(pickle.loads(pickle.dumps(value))) is type(scalar)
    for other in (
        copy.deepcopy(value),
        np.asarray(value),
        np.array([value])[0],
        tf.constant(value),
    ):
        np.testing.assert_array_equal(other, scalar)
        assert other.dtype == scalar.dtype
    if not np.isnan(scalar):
        assert value == scalar and hash(value) == hash(scalar)


def test_other_values_stay():
    for value in (b"summary", np.zeros(2), None, 1.5, np.True_):
        assert printed_as_number(value) is value


def test_the_results_of_an_evaluation_print_as_numbers(tmp_path):
    def model_fn(features, labels, mode):
        loss = v1.losses.mean_squared_error(labels, features[:, 0])
        metrics = {"mean": v1.metrics.mean(features)}
        step = v1.assign_add(v1.train.get_global_step(), 1)
        return eb.EstimatorSpec(mode, loss=loss, train_op=step, eval_metric_ops=metrics)

    def input_fn():
        return tf.data.Dataset.from_tensors((tf.fill([4, 1], 0.5), tf.zeros([4])))

    estimator = eb.Estimator(model_fn, tmp_path)
    estimator.train(input_fn, steps=1)
    results = estimator.evaluate(input_fn)
    assert str(results) == "{'loss': 0.25, 'mean': 0.5, 'global_step': 1}"
    assert isinstance(results["loss"], np.float32) and results["loss"].item() == 0.25
    assert json.dumps(float(results["mean"])) == "0.5"
