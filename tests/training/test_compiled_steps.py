"""RunConfig's session_config turns XLA on for the steps, where it can compile them."""

import logging

import numpy as np
import pytest
import tensorflow as tf

import estimator_bridge as eb

v1 = tf.compat.v1


def config(folder, level):
    session_config = v1.ConfigProto()
    session_config.graph_options.optimizer_options.global_jit_level = level
    return {"model_dir": str(folder), "tf_random_seed": 1, "session_config": session_config}


def model_fn(features, labels, mode, params):
    if params["python"]:
        features = tf.ensure_shape(v1.py_func(lambda x: x, [features], tf.float32), [4, 3])
    outputs = v1.layers.dense(features, 1)[:, 0]
    loss = v1.losses.mean_squared_error(labels, outputs)
    v1.summary.histogram("outputs", outputs)
    if mode == eb.ModeKeys.PREDICT:
        return eb.EstimatorSpec(mode, predictions={"y": outputs})
    optimizer = eb.tpu.CrossShardOptimizer(v1.train.AdamOptimizer(0.1))
    train_op = optimizer.minimize(loss, v1.train.get_global_step())
    metrics = {"mean": v1.metrics.mean(outputs)}
    return eb.EstimatorSpec(mode, loss=loss, train_op=train_op, eval_metric_ops=metrics)


def input_fn(params):
    x = np.random.RandomState(0).rand(20, 3).astype(np.float32)
    return tf.data.Dataset.from_tensor_slices((x, x.sum(axis=1))).batch(4, drop_remainder=True)


def results(estimator):
    estimator.train(input_fn)
    return estimator.get_variable_value("dense/kernel"), estimator.evaluate(input_fn)


@pytest.fixture
def built(monkeypatch):
    """Records whether XLA compiles each loop."""
    from estimator_bridge.runtime import StepLoop

    are_compiled = []
    make = StepLoop.__init__

    def watched(self, *args, **named):
        make(self, *args, **named)
        request = args[4] if len(args) > 4 else named.get("request")
        are_compiled.append(request is not None and request.jit_compile)

    monkeypatch.setattr(StepLoop, "__init__", watched)
    return are_compiled


ON = v1.OptimizerOptions.ON_1


@pytest.mark.parametrize("cores", [0, 2])
def test_the_numbers_are_the_same(cores, tmp_path, built):
    outcomes = []
    for level in (v1.OptimizerOptions.DEFAULT, ON):
        options = config(tmp_path / str(level), level)
        if cores:
            tpu = eb.tpu.RunConfig(master=f"emulated:{cores}", **options)
            training = {"train_batch_size": 4, "eval_batch_size": 4}
            params = {"python": False}
            model = tpu_model_fn
            estimator = eb.tpu.TPUEstimator(model, config=tpu, params=params, **training)
        else:
            run = eb.RunConfig(**options)
            estimator = eb.Estimator(model_fn, config=run, params={"python": False})
        outcomes.append(results(estimator))
        assert all(built) == (level == ON)
        built.clear()
    (weights, metrics), (compiled_weights, compiled_metrics) = outcomes
    np.testing.assert_allclose(compiled_weights, weights, atol=1e-5)
    assert compiled_metrics == pytest.approx(metrics, rel=1e-4)


@pytest.mark.parametrize("places", [["/cpu:1"], ["/cpu:1", "/cpu:2"]], ids=["one", "two"])
def test_steps_are_compiled_for_the_device_of_their_variables(places, tmp_path, monkeypatch, built):
    """As on a GPU, which is not the device that TensorFlow compiles for by default."""
    weights = []
    for value in ("off", "on"):
        monkeypatch.setenv("ESTIMATOR_BRIDGE_XLA", value)
        strategy = (
            tf.distribute.OneDeviceStrategy(*places)
            if len(places) == 1
            else tf.distribute.MirroredStrategy(places)
        )
        run = eb.RunConfig(tmp_path / value, tf_random_seed=1, train_distribute=strategy)
        estimator = eb.Estimator(model_fn, config=run, params={"python": False})
        estimator.train(lambda: input_fn({}).repeat(), max_steps=40)
        weights.append(estimator.get_variable_value("dense/kernel"))
        assert built and all(built) == (value == "on")
        built.clear()
    np.testing.assert_allclose(weights[1], weights[0], atol=1e-5)


def tpu_model_fn(features, labels, mode, params):
    spec = model_fn(features, labels, mode, {**params, "python": False})
    outputs = v1.get_default_graph().get_tensor_by_name("dense/BiasAdd:0")
    metrics = (lambda y: {"mean": v1.metrics.mean(y)}, [outputs])
    return eb.tpu.TPUEstimatorSpec(
        mode, loss=spec.loss, train_op=spec.train_op, eval_metrics=metrics
    )


def test_what_cannot_be_compiled_runs_without_and_says_so(tmp_path, built, caplog):
    run = eb.RunConfig(**config(tmp_path, ON))
    with caplog.at_level(logging.WARNING):
        eb.Estimator(model_fn, config=run, params={"python": True}).train(input_fn)
    assert built and not any(built)
    assert "PyFunc (PyFunc), made at" in caplog.text
    assert "test_compiled_steps.py" in caplog.text


def test_a_required_compilation_that_fails_is_an_error(tmp_path, monkeypatch):
    monkeypatch.setenv("ESTIMATOR_BRIDGE_XLA", "on")
    estimator = eb.Estimator(
        model_fn, config=eb.RunConfig(**config(tmp_path, 0)), params={"python": True}
    )
    message = r"(?s)ESTIMATOR_BRIDGE_XLA=on .*PyFunc \(PyFunc\), made at .*use 'auto'"
    with pytest.raises(eb.errors.NotCompilableError, match=message):
        estimator.train(input_fn)


def test_auto_says_once_a_mode_that_a_step_is_not_compiled(tmp_path, monkeypatch, caplog):
    monkeypatch.setenv("ESTIMATOR_BRIDGE_XLA", "auto")
    estimator = eb.Estimator(
        model_fn, config=eb.RunConfig(**config(tmp_path, 0)), params={"python": True}
    )
    losses = v1.train.LoggingTensorHook(["mean_squared_error/value:0"], every_n_iter=3)
    with caplog.at_level(logging.WARNING, logger="tensorflow"):
        estimator.train(lambda: input_fn({}).repeat(), hooks=[losses], max_steps=20)
        for _ in range(2):
            estimator.evaluate(lambda: input_fn({}))
    lines = [r.getMessage() for r in caplog.records if "XLA is asked for" in r.getMessage()]
    for line, mode in zip(lines, ["training", "evaluation"]):
        assert line.startswith(f"XLA is asked for, but a {mode} step runs without it. ")
        assert "PyFunc (PyFunc), made at" in line and "\n" not in line
    assert len(lines) == 2


def test_steps_that_compile_only_alone_are_compiled_alone(tmp_path, monkeypatch, caplog, built):
    from estimator_bridge.errors import NotCompilableError
    from estimator_bridge.runtime import StepLoop

    def refuse(self):
        raise NotCompilableError("a list has no fixed size")

    monkeypatch.setattr(StepLoop, "check_blocks", refuse)
    params = {"python": False}
    estimator = eb.Estimator(model_fn, config=eb.RunConfig(**config(tmp_path, 1)), params=params)
    with caplog.at_level(logging.WARNING, logger="tensorflow"):
        estimator.train(input_fn)
    assert built[:2] == [True, True]
    assert (
        "each training step by itself, not several as one. a list has no fixed size" in caplog.text
    )
    assert estimator.get_variable_value("global_step") == 5


@pytest.fixture
def without_xla(monkeypatch):
    """A TensorFlow like the one of tensorflow-tpu, with that one's message."""
    from estimator_bridge.graph.compilable import lowering_error
    from estimator_bridge.runtime.lowering import StepLowering

    def compile_nothing(self, *args, **named):
        raise lowering_error(
            self.graph,
            ValueError(
                "Failed getting HLO text: 'could not find registered transfer manager for "
                "platform Host -- check target linkage'"
            ),
        )

    monkeypatch.setattr(StepLowering, "_compile", compile_nothing)


def build_on_two_cores(folder):
    tpu = eb.tpu.RunConfig(master="emulated:2", model_dir=str(folder))
    params = {"python": False}
    return eb.tpu.TPUEstimator(tpu_model_fn, config=tpu, params=params, train_batch_size=4)


def test_a_check_without_xla_is_no_fault_of_the_program(tmp_path, monkeypatch, without_xla):
    monkeypatch.setenv("ESTIMATOR_BRIDGE_CHECK_TPU", "1")
    message = r"not the program's fault: .* no XLA for CPUs, as the wheel tensorflow-tpu has none"
    with pytest.raises(eb.errors.XlaMissingError, match=message):
        build_on_two_cores(tmp_path).train(input_fn)
    with pytest.raises(eb.errors.XlaMissingError, match=message):
        eb.testing.check_model_fn(
            tpu_model_fn, input_fn, params={"python": False}, train_batch_size=4, cores=(2,)
        )


def test_auto_trains_without_xla_and_says_why_once(tmp_path, monkeypatch, without_xla, caplog):
    monkeypatch.setenv("ESTIMATOR_BRIDGE_XLA", "auto")
    with caplog.at_level(logging.WARNING, logger="tensorflow"):
        build_on_two_cores(tmp_path).train(lambda params: input_fn(params).repeat(), max_steps=20)
    (line,) = [r.getMessage() for r in caplog.records if "no XLA for CPUs" in r.getMessage()]
    assert "\n" not in line
