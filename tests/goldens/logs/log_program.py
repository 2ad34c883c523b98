"""A small program whose log is compared: python log_program.py KIND MODE FOLDER.

KIND is "estimator" or "tpu", a TPUEstimator with use_tpu=False. MODE is "v1", v2 behavior off, or
"v2".
"""

import itertools
import sys

import numpy as np
import tensorflow.compat.v1 as tf

KIND, MODE, FOLDER = sys.argv[1:]
if MODE == "v1":
    tf.disable_v2_behavior()
tf.logging.set_verbosity(tf.logging.INFO)
X = np.arange(16, dtype=np.float32).reshape(8, 2) / 7
Y = X.sum(1) * 0.7


def model_fn(features, labels, mode, params):
    """A line through 0."""
    del params
    tf.logging.info("in model_fn")
    w = tf.get_variable("w", [2], initializer=tf.constant_initializer(0.3))
    y = tf.reduce_sum(features["x"] * w, 1)
    if mode == "infer":
        outputs = {"serving_default": tf.estimator.export.PredictOutput({"y": y})}
        return spec(mode, predictions={"y": y}, export_outputs=outputs)
    loss = tf.reduce_mean(tf.square(y - labels))
    if mode == "eval":
        return spec(mode, loss=loss, **metrics(y, labels))
    step = tf.train.get_global_step()
    return spec(mode, loss=loss, train_op=tf.train.AdamOptimizer(0.01).minimize(loss, step))


def metrics(y, labels):
    """Of several kinds."""

    def metric_fn(y, labels):
        return {
            "mae": tf.metrics.mean(abs(y - labels)),
            "vector": (tf.constant([1.0, 2.0]), tf.no_op()),
            "whole": (tf.constant(3), tf.no_op()),
            "double": (tf.constant(1.1, tf.float64), tf.no_op()),
        }

    if KIND == "tpu":
        return {"eval_metrics": (metric_fn, [y, labels])}
    return {"eval_metric_ops": metric_fn(y, labels)}


def input_fn(params=None):
    """Goes on without an end."""
    del params
    data = tf.data.Dataset.from_tensor_slices(({"x": X}, Y)).repeat()
    return data.batch(4, drop_remainder=True)


def receiver_fn():
    """Takes rows."""
    x = tf.placeholder(tf.float32, [None, 2])
    return tf.estimator.export.ServingInputReceiver({"x": x}, {"x": x})


def phase(name):
    """Marks where the lines of a call begin."""
    tf.logging.info("== %s", name)


face, common = tf.estimator, {"log_step_count_steps": 2, "save_checkpoints_steps": 4}
common["tf_random_seed"] = 1
phase("construct")
if KIND == "tpu":
    spec = face.tpu.TPUEstimatorSpec
    estimator = face.tpu.TPUEstimator(
        model_fn, FOLDER + "/m", face.tpu.RunConfig(**common), {}, use_tpu=False,
        train_batch_size=4, eval_batch_size=4, predict_batch_size=4,
    )  # fmt: skip
else:
    spec = face.EstimatorSpec
    estimator = face.Estimator(model_fn, FOLDER + "/m", face.RunConfig(**common), {})
phase("train")
estimator.train(input_fn, steps=7)
phase("train that is over")
estimator.train(input_fn, max_steps=7)
phase("evaluate")
estimator.evaluate(input_fn, steps=3)
phase("evaluate again")
estimator.evaluate(input_fn, steps=25, name="n")
phase("predict")
list(itertools.islice(estimator.predict(input_fn), 4))
phase("train_and_evaluate")
face.train_and_evaluate(
    estimator,
    face.TrainSpec(input_fn, max_steps=11),
    face.EvalSpec(input_fn, steps=2, throttle_secs=0, start_delay_secs=0),
)
phase("export")
estimator.export_saved_model(FOLDER + "/e", receiver_fn)
phase("end")
