"""Errors of the real libtpu, steps that do not fit, and steps that are not compiled."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf
from tpu_compiler import needs_libtpu

import estimator_bridge as eb
from estimator_bridge.compile_for import CompileOnlyEnd, Request, current_job
from estimator_bridge.compile_for import job as jobs
from estimator_bridge.compile_for.compiler import shared_compiler
from estimator_bridge.testing import ModelCheckError, compile_for_tpu

pytestmark = needs_libtpu
v1 = tf.compat.v1
TRAIN = eb.ModeKeys.TRAIN
HERE = "test_compile_limits.py"


@pytest.fixture(scope="module", autouse=True)
def cores():
    eb.runtime.emulate_cores(8)
    yield
    shared_compiler(None, 1800.0).close()


@pytest.fixture
def only(monkeypatch):
    """The job of a program that is only compiled, for one v5e."""
    environ = {}
    Request.make("v5e-1", only=True).write_to(environ)
    for name, value in environ.items():
        monkeypatch.setenv(name, value)
    jobs._job_of_environment.cache_clear()
    yield current_job()
    jobs._job_of_environment.cache_clear()


def input_fn(params):
    data = tf.data.Dataset.from_tensor_slices({"image": np.ones([16, 12], np.float32)})
    return data.repeat().batch(params["batch_size"], drop_remainder=True)


def spec(x, mode=TRAIN):
    loss = tf.reduce_mean(tf.square(v1.layers.dense(x, 4, name="hidden")))
    optimizer = eb.tpu.CrossShardOptimizer(v1.train.GradientDescentOptimizer(0.1))
    train_op = optimizer.minimize(loss, v1.train.get_or_create_global_step())
    return eb.tpu.TPUEstimatorSpec(mode, loss=loss, train_op=train_op)


def good(features, labels, mode):
    return spec(features["image"])


def line_of(function, offset):
    return f"{HERE}:{function.__code__.co_firstlineno + offset}:"


def spectrum(x):
    return tf.cast(tf.abs(tf.signal.fft(tf.cast(x, tf.complex128))), tf.float32)


def long_products(x):
    whole = tf.cast(x, tf.int64)
    return tf.cast(tf.matmul(whole, whole, transpose_b=True), tf.float32)


def masked_roots(x):
    some = tf.boolean_mask(tf.linalg.diag(x), x[:, 0] > 0)
    return x + tf.reduce_sum(tf.linalg.cholesky(some))


@pytest.mark.parametrize(
    ("function", "offset", "mend"),
    [
        (spectrum, 1, "cast before it and back after it"),
        (long_products, 2, "cast to int32, or to float32"),
        (masked_roots, 1, "Give it a fixed shape"),
    ],
)
def test_what_the_tpus_compiler_alone_refuses_names_the_line(function, offset, mend):
    def model_fn(features, labels, mode):
        return spec(function(features["image"]))

    with pytest.raises(ModelCheckError) as caught:
        compile_for_tpu(model_fn, input_fn, "v5e-1", modes=[TRAIN])
    message = str(caught.value)
    assert line_of(function, offset) in message
    assert mend in message
    assert "its verdict counts" in message
    assert "dummy_file" not in message


def test_a_step_that_does_not_fit_says_by_how_much_and_what_takes_it():
    with pytest.raises(ModelCheckError) as caught:
        compile_for_tpu(good, input_fn, "v5e-1", train_batch_size=1 << 30, modes=[TRAIN])
    message = str(caught.value)
    assert "Out of memory by at least" in message
    assert "features['image']" in message


def test_larger_batches_are_compiled_to_find_the_largest(monkeypatch):
    monkeypatch.setattr("estimator_bridge.compile_for.batch_search._MOST_PER_REPLICA", 4)
    report = compile_for_tpu(
        good, input_fn, "v5e-8", train_batch_size=16, modes=[TRAIN], find_batch_size=True
    )
    (batch,) = report.batches
    assert (batch.size, batch.trials) == (32, 2)
    assert batch.why_ended == "larger ones were not tried"
    assert 0 < batch.bytes < batch.available
    assert len(report.compiled) == 1


def test_an_input_fn_that_does_not_heed_the_batch_size_is_said():
    def fixed(params):
        return input_fn({**params, "batch_size": 8})

    report = compile_for_tpu(
        good, fixed, "v5e-1", train_batch_size=8, modes=[TRAIN], find_batch_size=True
    )
    (batch,) = report.batches
    assert (batch.size, batch.trials) == (8, 1)
    assert "the program has no batches of 16" in batch.why_ended


def test_a_model_that_is_split_over_cores_is_not_covered(only, tmp_path):
    config = eb.tpu.RunConfig(
        master="emulated:4",
        model_dir=str(tmp_path),
        tpu_config=eb.tpu.TPUConfig(num_cores_per_replica=2),
    )
    estimator = eb.tpu.TPUEstimator(good, config=config, train_batch_size=8)
    estimator.train(input_fn, max_steps=1)
    (refusal,) = only.report.refused
    assert refusal.why == "it is not covered"
    assert "num_cores_per_replica=2" in refusal.message


def test_python_that_is_left_to_the_host_is_refused_with_its_line():
    def on_the_host(x):
        return v1.py_func(lambda v: v, [x], tf.float32)

    def model_fn(features, labels, mode):
        x = features["image"]
        return spec(tf.ensure_shape(v1.tpu.outside_compilation(on_the_host, x), x.shape))

    with pytest.raises(ModelCheckError) as caught:
        compile_for_tpu(model_fn, input_fn, "v5e-1", modes=[TRAIN])
    assert line_of(on_the_host, 1) in str(caught.value)
    assert "Python cannot run on an accelerator" in str(caught.value)


def program(folder):
    config = eb.tpu.RunConfig(master="emulated:1", model_dir=str(folder))
    return eb.tpu.TPUEstimator(good, config=config, train_batch_size=8)


def test_a_program_that_looks_for_its_checkpoint_ends_there(only, tmp_path, capsys):
    estimator = program(tmp_path / "model")
    estimator.train(input_fn, max_steps=1)
    assert estimator.latest_checkpoint() is None
    with pytest.raises(CompileOnlyEnd) as caught:
        estimator.get_variable_value("hidden/kernel")
    assert caught.value.code == 0
    assert "no step ran, so there is no checkpoint" in capsys.readouterr().out
    assert not (tmp_path / "model").exists()


def test_functions_that_sessions_run_on_a_tpu_are_not_covered(only, capsys):
    with tf.Graph().as_default(), pytest.raises(CompileOnlyEnd) as caught:
        eb.tpu.rewrite(lambda x: x * 2, [tf.constant(1.0)])
    assert caught.value.code == 1
    assert "only the steps of a TPUEstimator" in only.report.refused[0].message
    assert "would run here, and is not compiled" in capsys.readouterr().out


def test_keras_models_on_a_tpu_are_not_covered(only):
    from estimator_bridge.keras.tpu_model import TPUDistributionStrategy, tpu_model

    with tf.Graph().as_default(), v1.Session().as_default():
        import tf_keras

        model = tf_keras.Sequential([tf_keras.layers.Dense(1, input_shape=[2])])
        with pytest.raises(CompileOnlyEnd):
            tpu_model(model, TPUDistributionStrategy())
    assert "Call the model in a model_fn" in only.report.refused[0].message
