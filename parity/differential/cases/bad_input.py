"""Mistakes of programs, and the types of errors that refuse them."""

from __future__ import annotations

from parity.differential.cases.small_models import X, linear, linear_estimator, rows
from parity.differential.tools import case, config, error_of, est, np, outside_placeholder, tf


def attempts(*functions):
    """The types of the errors of calls; where there was none, that."""
    return [error_of(lambda: function() and 0)[:2] for function in functions]


@case
def train_arguments(folder):
    estimator = linear_estimator(folder)
    return attempts(
        lambda: estimator.train(None, steps=1),
        lambda: estimator.train(5, steps=1),
        lambda: estimator.train(rows(), steps="3"),
        lambda: estimator.train(rows(), steps=1.5),
        lambda: estimator.train(rows(), steps=0),
        lambda: estimator.train(rows(), max_steps=0),
        lambda: estimator.train(rows(), steps=1, max_steps=1),
        lambda: estimator.train(rows(), steps=1, hooks=5),
        lambda: estimator.train(rows(), steps=1, hooks=[None]),
        lambda: estimator.train(rows(), steps=1, saving_listeners=[None]),
        lambda: estimator.train(rows(), nothing=1),
    )


@case
def evaluate_arguments(folder):
    estimator = linear_estimator(folder)
    estimator.train(rows(), steps=1)
    return attempts(
        lambda: estimator.evaluate(None),
        lambda: estimator.evaluate(rows(repeat=1), steps="1"),
        lambda: estimator.evaluate(rows(repeat=1), steps=-1),
        lambda: estimator.evaluate(rows(repeat=1), hooks=[5]),
        lambda: estimator.evaluate(rows(repeat=1), checkpoint_path=5),
        lambda: estimator.evaluate(rows(repeat=1), name=5),
    )


@case
def predict_arguments(folder):
    estimator = linear_estimator(folder)
    estimator.train(rows(), steps=1)
    data = rows(repeat=1, labels=False)
    return attempts(
        lambda: list(estimator.predict(None)),
        lambda: list(estimator.predict(data, predict_keys=["none"])),
        lambda: list(estimator.predict(data, hooks=[5])),
        lambda: list(estimator.predict(data, checkpoint_path=folder + "/none")),
    )


@case
def predict_is_lazy(folder):
    """predict() returns a generator; mistakes show at the first next()."""
    estimator = linear_estimator(folder)
    lazy = error_of(lambda: estimator.predict(None) and 0)
    return [lazy[:2], error_of(lambda: list(estimator.predict(rows(repeat=1, labels=False))))[0]]


@case
def model_fn_errors_arrive_unchanged(folder):
    class Own(Exception):
        pass

    out = []
    for error in (
        Own("mine"),
        KeyError("k"),
        StopIteration(),
        SystemExit(3),
        NotImplementedError(),
    ):

        def model_fn(features, labels, mode):
            raise error

        estimator = linear_estimator(folder + "/%d" % len(out), model_fn)
        out.append(error_of(lambda: estimator.train(rows(), steps=1) and 0)[:2])
    return out


@case
def input_fn_errors_arrive_unchanged(folder):
    out = []
    for error in (
        KeyError("k"),
        StopIteration(),
        OSError("disk"),
        tf.errors.DataLossError(None, None, "x"),
    ):

        def input_fn():
            raise error

        estimator = linear_estimator(folder + "/%d" % len(out))
        out.append(error_of(lambda: estimator.train(input_fn, steps=1) and 0)[:2])
    return out


@case
def spec_arguments(folder):
    spec = est.EstimatorSpec
    with tf.Graph().as_default():
        loss = tf.constant(1.0)
        step = tf.no_op()
        return attempts(
            lambda: spec("train", loss=loss),
            lambda: spec("train", train_op=step),
            lambda: spec("eval"),
            lambda: spec("infer"),
            lambda: spec("train", loss="loss", train_op=step),
            lambda: spec("train", loss=loss, train_op="step"),
            lambda: spec("train", loss=tf.constant([1.0, 2.0]), train_op=step),
            lambda: spec("eval", loss=loss, eval_metric_ops={"a": loss}),
            lambda: spec("eval", loss=loss, eval_metric_ops=[loss]),
            lambda: spec("infer", predictions={"a": 5}),
            lambda: spec("infer", predictions={"a": loss}, export_outputs={"x": loss}),
            lambda: spec("infer", predictions={"a": loss}, export_outputs=5),
            lambda: spec("train", loss=loss, train_op=step, scaffold=5),
            lambda: spec("train", loss=loss, train_op=step, training_hooks=[5]),
            lambda: spec("train", loss=loss, train_op=step, training_hooks=5),
            lambda: spec("eval", loss=loss, evaluation_hooks=[5]),
            lambda: spec("infer", predictions={"a": loss}, prediction_hooks=[5]),
        )


@case
def spec_fields_and_replace(folder):
    with tf.Graph().as_default():
        loss = tf.constant(1.0)
        spec = est.EstimatorSpec("train", loss=loss, train_op=tf.no_op())
        replaced = spec._replace(loss=tf.constant(2.0))
        return [
            list(spec._fields),
            [spec.mode, spec.predictions, spec.eval_metric_ops, spec.training_hooks],
            replaced.loss is not loss,
            attempts(lambda: spec._replace(mode="eval"), lambda: spec._replace(nothing=1)),
            isinstance(spec, tuple),
        ]


@case
def tensors_of_another_graph(folder):
    outside = outside_placeholder([2])

    def model_fn(features, labels, mode):
        return linear(features + outside, labels, mode)

    estimator = linear_estimator(folder, model_fn)
    other = tf.Graph()
    with other.as_default():
        tensors = (tf.constant(X), tf.constant([1.0] * 6))
    return attempts(
        lambda: estimator.train(rows(), steps=1),
        lambda: linear_estimator(folder + "/b").train(lambda: tensors, steps=1),
    )


@case
def features_of_wrong_shape_or_key(folder):
    def model_fn(features, labels, mode):
        return linear({"x": features["wanted"]}, labels, mode)

    return attempts(
        lambda: linear_estimator(folder + "/a", model_fn).train(rows(key="given"), steps=1),
        lambda: linear_estimator(folder + "/b").train(rows(x=np.ones([6, 3], "f")), steps=1),
        lambda: linear_estimator(folder + "/c").train(rows(x=np.ones([6], "f")), steps=1),
        lambda: linear_estimator(folder + "/d").train(rows(x=np.ones([6, 2], "i8")), steps=1),
    )


@case
def export_arguments(folder):
    estimator = linear_estimator(folder + "/m")
    receiver = est.export.build_raw_serving_input_receiver_fn({"x": outside_placeholder([None, 2])})
    before = attempts(lambda: estimator.export_saved_model(folder + "/e", receiver))
    estimator.train(rows(), steps=1)
    return before + attempts(
        lambda: estimator.export_saved_model(folder + "/e", lambda: {"x": 1}),
        lambda: estimator.export_saved_model(folder + "/e", receiver, checkpoint_path="/none"),
        lambda: estimator.export_saved_model(folder + "/e", receiver, assets_extra={"a": "/none"}),
        lambda: estimator.export_saved_model(folder + "/e", receiver, experimental_mode="other"),
        lambda: estimator.experimental_export_all_saved_models(folder + "/e", {}),
        lambda: est.export.ServingInputReceiver({"x": 5}, {"x": 5}),
        lambda: est.export.ServingInputReceiver(None, None),
        lambda: est.export.PredictOutput({"a": 5}),
        est.export.ClassificationOutput,
        lambda: est.export.RegressionOutput("a"),
    )


@case
def config_arguments(folder):
    return attempts(
        lambda: est.RunConfig(keep_checkpoint_max=-1),
        lambda: est.RunConfig(keep_checkpoint_max="3"),
        lambda: est.RunConfig(save_summary_steps="3"),
        lambda: est.RunConfig(model_dir=5),
        lambda: est.RunConfig(session_creation_timeout_secs=0),
        lambda: est.Estimator(linear, model_dir=5),
        lambda: est.Estimator(linear, config=config(folder), model_dir=folder + "/other"),
        lambda: est.Estimator(linear, params=5),
        lambda: est.Estimator(None),
    )
