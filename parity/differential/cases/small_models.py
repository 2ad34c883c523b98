"""Models that several themes share: small enough that a case takes a fraction of a second."""

from __future__ import annotations

from parity.differential.tools import config, est, np, tf

__all__ = ["ModeKeys", "X", "Y", "linear", "linear_estimator", "rows"]

ModeKeys = est.ModeKeys
X = np.arange(12, dtype=np.float32).reshape(6, 2) / 10
Y = np.array([0, 1, 0, 1, 1, 0], np.float32)


def linear(features, labels, mode, params=None):
    """A model of two weights: y = x w + b, and squares to be minimized."""
    x = features["x"] if isinstance(features, dict) else features
    w = tf.get_variable("w", [2, 1], initializer=tf.constant_initializer([[0.5], [-0.25]]))
    b = tf.get_variable("b", [1], initializer=tf.zeros_initializer())
    y = tf.matmul(x, w) + b
    if mode == ModeKeys.PREDICT:
        outputs = {"serving_default": est.export.PredictOutput({"y": y})}
        return est.EstimatorSpec(mode, predictions={"y": y}, export_outputs=outputs)
    target = tf.ones_like(y) if labels is None else tf.reshape(tf.cast(labels, tf.float32), [-1, 1])
    loss = tf.reduce_mean(tf.square(y - target), name="mse")
    if mode == ModeKeys.EVAL:
        metrics = {"mae": tf.metrics.mean_absolute_error(target, y)}
        return est.EstimatorSpec(mode, loss=loss, eval_metric_ops=metrics)
    train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss, tf.train.get_global_step())
    return est.EstimatorSpec(mode, loss=loss, train_op=train_op)


def linear_estimator(folder, model_fn=linear, warm_start_from=None, params=None, **settings):
    """Returns an estimator of it; the settings are a RunConfig's."""
    return est.Estimator(
        model_fn, config=config(folder, **settings), params=params, warm_start_from=warm_start_from
    )


def rows(batch=3, repeat=None, labels=True, key=None, x=X):
    """Returns an input function of the rows in batches."""

    def input_fn():
        features = {key: x} if key else x
        data = tf.data.Dataset.from_tensor_slices((features, Y[: len(x)]) if labels else features)
        data = data.batch(batch)
        return data.repeat() if repeat is None else data.repeat(repeat)

    return input_fn
