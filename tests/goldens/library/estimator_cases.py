"""Methods of Estimator, the executor, constants and decorators."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow.compat.v1 as tf
from goldens.library.registry import attempts, case, module


@case
def overridden_members() -> Any:
    """Checks the allowed subclasses of an Estimator."""
    estimator = module("estimator")
    tpu = module("tpu.tpu_estimator")

    def model_fn(features):
        return None

    def kind(base: Any, allows: bool = False, **members: Any) -> type:
        if allows:
            members["_assert_members_are_not_overridden"] = staticmethod(lambda self: None)
        return type("Made", (base,), members)

    def evaluate(self, *args):
        return "replaced"

    def attempt(cls: type) -> Callable[[], Any]:
        return lambda: bool(cls(model_fn))

    base = estimator.Estimator
    middle = kind(base, evaluate=evaluate)
    config = module("tpu.tpu_config").RunConfig(model_dir=tempfile.mkdtemp())
    return attempts(
        attempt(kind(base, evaluate=evaluate)),
        attempt(kind(base, True, evaluate=evaluate)),
        lambda: kind(base, True, evaluate=evaluate)(model_fn).evaluate(1),
        attempt(kind(base, train=evaluate)),
        attempt(kind(estimator.EstimatorV2, config=1)),
        attempt(kind(base, own=1, _own=2)),
        attempt(kind(base, latest_checkpoint=evaluate)),
        attempt(kind(base, model_fn=property(lambda self: 1))),
        attempt(kind(base, _call_model_fn=evaluate)),
        attempt(kind(base, _train_model=evaluate)),
        attempt(type("Below", (middle,), {})),
        attempt(type("TPUEstimator", (base,), {"evaluate": evaluate})),
        lambda: estimator._assert_members_are_not_overridden(base, base(model_fn)),
        lambda: bool(tpu.TPUEstimator(model_fn, config=config, use_tpu=False, train_batch_size=0)),
        lambda: bool(tpu.TPUEstimator(model_fn, config=config, use_tpu=False, eval_batch_size="a")),
        lambda: bool(kind(tpu.TPUEstimator, evaluate=evaluate)(model_fn, config=config)),
    )


@case
def estimator_methods() -> Any:
    """Private methods by which libraries build graphs of their own."""
    estimator = module("estimator")

    def model_fn(features, labels, mode, params):
        weight = tf.get_variable("w", [], initializer=tf.ones_initializer())
        loss = tf.reduce_sum(weight * features["x"]) * params["scale"]
        return module("model_fn").EstimatorSpec(
            mode, predictions={"x": features["x"]}, loss=loss, train_op=tf.no_op()
        )

    def input_fn(params):
        data = {"x": np.full([2, 1], params["scale"], np.float32)}
        return tf.data.Dataset.from_tensors((data, [1]))

    subject = estimator.Estimator(model_fn, params={"scale": 3.0})
    with tf.Graph().as_default() as graph, tf.Session() as session:
        step = subject._create_and_assert_global_step(graph)
        features, labels, hooks = subject._get_features_and_labels_from_input_fn(input_fn, "train")
        spec = subject._call_model_fn(features, labels, "train", subject.config)
        for hook in hooks:
            hook.begin()
            hook.after_create_session(session, None)
        session.run(tf.global_variables_initializer())
        values = [session.run(spec.loss), session.run(step), spec.mode]
    settings = estimator._get_default_warm_start_settings
    config = estimator.maybe_overwrite_model_dir_and_session_config(None, "/tmp/model")
    return [
        *values,
        subject._extract_batch_length({"a": np.zeros([3, 2]), "b": np.zeros([3])}),
        subject._extract_keys({"a": 1, "b": 2}, ["b"]),
        type(subject._session_config).__name__,
        config.model_dir,
        config.session_config.allow_soft_placement,
        *attempts(
            lambda: subject._extract_batch_length({"a": np.zeros([3]), "b": np.zeros([2])}),
            lambda: subject._extract_keys([1], ["b"]),
            lambda: settings(None),
            lambda: settings("/tmp/none").ckpt_to_initialize_from,
            lambda: settings(3),
            lambda: estimator._check_hooks_type([1]),
            lambda: estimator._check_listeners_type(None),
            lambda: estimator._verify_model_fn_args(lambda labels: 1, None),
            lambda: estimator._check_checkpoint_available("/tmp/nothing_here"),
            lambda: estimator._load_global_step_from_checkpoint_dir("/tmp/nothing_here"),
            lambda: estimator.maybe_overwrite_model_dir_and_session_config(3, None),
        ),
    ]


@case
def executor() -> Any:
    """An executor and its listeners, as libraries run them."""
    training, estimator = module("training"), module("estimator")
    calls: list[Any] = []

    class Listener(training._ContinuousEvalListener):
        def before_eval(self):
            calls.append("before")
            return True

        def after_eval(self, eval_result):
            calls.append([eval_result.status == training._EvalStatus.EVALUATED,
                         int(eval_result.metrics["global_step"])])  # fmt: skip
            return True

    def model_fn(features, labels, mode):
        weight = tf.get_variable("w", [], initializer=tf.ones_initializer())
        loss = tf.reduce_mean(tf.square(weight * features - 2.0))
        step = tf.train.get_or_create_global_step()
        train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss, step)
        return module("model_fn").EstimatorSpec(mode, loss=loss, train_op=train_op)

    def input_fn():
        return tf.data.Dataset.from_tensors(np.float32([1.0])).repeat(100)

    with tempfile.TemporaryDirectory() as folder:
        config = module("run_config").RunConfig(save_checkpoints_steps=2)
        subject = estimator.Estimator(model_fn, folder, config)
        train_spec = training.TrainSpec(input_fn, max_steps=4)
        eval_spec = training.EvalSpec(input_fn, steps=1, throttle_secs=0)
        training._assert_eval_spec(eval_spec)
        loop = training._TrainingExecutor(
            subject, train_spec, eval_spec, continuous_eval_listener=Listener()
        )
        metrics, exports = loop.run()
    result = training._EvalResult(training._EvalStatus.MISSING_CHECKPOINT)
    return {
        "metrics": metrics,
        "exports": exports,
        "told": calls,
        "result": [result.metrics, result.checkpoint_path],
        "same": loop.estimator is subject,
        "errors": attempts(
            lambda: training._assert_eval_spec(3),
            lambda: training._TrainingExecutor(3, train_spec, eval_spec),
            lambda: training._TrainingExecutor(subject, train_spec, 3),
            lambda: training._EvalResult(training._EvalStatus.EVALUATED),
            lambda: training._validate_hooks([1]),
            lambda: training._validate_exporters(3),
            training._is_google_env,
        ),
    }


@case
def small_things() -> Any:
    """Constants, decorators, enumerations."""
    tpu, model_fn = module("tpu.tpu_estimator"), module("model_fn")
    exporter, export = module("exporter"), module("export.export_lib")
    api = tpu.ExportSavedModelApiVersion
    public = module("estimator_export").estimator_export

    @public("estimator.Own", v1=["estimator.Own"])
    class Own:
        value = 3

    spec = model_fn._TPUEstimatorSpec(mode="infer", predictions={"a": tf.constant(1.0)})
    return {
        "versions": [api.V1.value, api.V2.value, api["V2"] is api.V2],
        "batch": list(tpu.BatchConfig(1, 2, 3, [2])),
        "keys": [model_fn.LOSS_METRIC_KEY, model_fn.AVERAGE_LOSS_METRIC_KEY],
        "smaller": exporter._loss_smaller({"loss": 2.0}, {"loss": 1.0}),
        "tags": [str(export.EXPORT_TAG_MAP["train"]), str(export.SIGNATURE_KEY_MAP["eval"])],
        "own": Own().value,
        "spec": [spec.mode, spec.as_estimator_spec().mode],
        "config": module("run_config").get_default_session_config().allow_soft_placement,
        "errors": attempts(
            lambda: exporter._loss_smaller({}, {"loss": 1.0}),
            lambda: exporter._verify_compare_fn_args(lambda best_eval_result: 1),
            lambda: exporter._SavedModelExporter("name", None).name,
            lambda: module("early_stopping")._StopOnPredicateHook(3),
        ),
        "delays": [module("training")._DELAY_SECS_PER_WORKER, module("training")._MAX_DELAY_SECS],
        "task types": module("run_config").TaskType.CHIEF,
    }
