"""The model_fns of ``programs.py``, each a closure over the estimator module and a list of losses.

The list is no entry of ``params`` because an estimator copies those deeply. Every initializer and
every dropout has an op seed of its own: one that TensorFlow picks counts the ops made so far, and
so depends on who built the graph.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any, Callable

import tensorflow.compat.v1 as tf
from handwritten_optimizer import DecoupledDecayOptimizer

__all__ = ["ModelFn", "conv", "dropout", "handwritten", "mlp", "mlp_tpu"]

ModelFn = Callable[..., Any]


class LossRecorder(tf.train.SessionRunHook):
    """Appends the loss of each step to a list."""

    def __init__(self, loss: tf.Tensor, losses: list[float]):
        self._loss = loss
        self._losses = losses

    def before_run(self, run_context):
        return tf.train.SessionRunArgs(self._loss)

    def after_run(self, run_context, run_values):
        self._losses.append(float(run_values.results))


def _kernel(seed: int):
    return tf.glorot_uniform_initializer(seed=seed)


def _classify(logits: tf.Tensor) -> dict[str, tf.Tensor]:
    return {"class": tf.argmax(logits, axis=-1), "probability": tf.nn.softmax(logits)}


def _accuracy(labels: tf.Tensor, logits: tf.Tensor):
    return tf.metrics.accuracy(labels, tf.argmax(logits, axis=-1))


# 1. A perceptron: Adam, a learning rate that decays with the global step, streaming metrics.


def _mlp(features, labels, training):
    hidden = tf.layers.dense(
        features["x"], 12, activation=tf.nn.relu, kernel_initializer=_kernel(1)
    )
    logits = tf.layers.dense(hidden, 2, kernel_initializer=_kernel(2))
    if labels is None:
        return logits, None, None, None
    loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
    if not training:
        return logits, loss, None, None
    step = tf.train.get_or_create_global_step()
    rate = tf.train.exponential_decay(0.05, step, decay_steps=2, decay_rate=0.9)
    train_op = tf.train.AdamOptimizer(rate).minimize(loss, global_step=step)
    return logits, loss, rate, train_op


def _mlp_metrics(labels, logits):
    return {
        "accuracy": _accuracy(labels, logits),
        "auc": tf.metrics.auc(labels, tf.nn.softmax(logits)[:, 1]),
    }


def mlp(est: ModuleType, losses: list[float]) -> ModelFn:
    def model_fn(features, labels, mode, params):
        training = mode == est.ModeKeys.TRAIN
        logits, loss, rate, train_op = _mlp(features, labels, training)
        if mode == est.ModeKeys.PREDICT:
            return est.EstimatorSpec(mode, predictions=_classify(logits))
        if mode == est.ModeKeys.EVAL:
            metrics = _mlp_metrics(labels, logits)
            return est.EstimatorSpec(mode, loss=loss, eval_metric_ops=metrics)
        tf.summary.scalar("learning_rate", rate)
        hooks = [LossRecorder(loss, losses)]
        return est.EstimatorSpec(mode, loss=loss, train_op=train_op, training_hooks=hooks)

    return model_fn


def mlp_tpu(est: ModuleType, losses: list[float]) -> ModelFn:
    def model_fn(features, labels, mode, params):
        training = mode == est.ModeKeys.TRAIN
        logits, loss, _, train_op = _mlp(features, labels, training)
        spec = est.tpu.TPUEstimatorSpec
        if mode == est.ModeKeys.PREDICT:
            return spec(mode, predictions=_classify(logits))
        if mode == est.ModeKeys.EVAL:
            return spec(mode, loss=loss, eval_metrics=(_mlp_metrics, [labels, logits]))
        hooks = [LossRecorder(loss, losses)]
        return spec(mode, loss=loss, train_op=train_op, training_hooks=hooks)

    return model_fn


# 2. A convolution with batch normalisation, whose moving averages are in UPDATE_OPS.


def conv(est: ModuleType, losses: list[float]) -> ModelFn:
    def model_fn(features, labels, mode, params):
        training = mode == est.ModeKeys.TRAIN
        with tf.variable_scope("trunk"):
            x = tf.layers.conv2d(
                features, 4, 3, padding="same", use_bias=False, kernel_initializer=_kernel(3)
            )
            x = tf.layers.batch_normalization(x, momentum=0.9, training=training)
            x = tf.layers.max_pooling2d(tf.nn.relu(x), 2, 2)
        logits = tf.layers.dense(
            tf.layers.flatten(x), 3, kernel_initializer=_kernel(4), name="head"
        )
        if mode == est.ModeKeys.PREDICT:
            return est.EstimatorSpec(mode, predictions=_classify(logits))
        loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
        if mode == est.ModeKeys.EVAL:
            metrics = {"accuracy": _accuracy(labels, logits)}
            return est.EstimatorSpec(mode, loss=loss, eval_metric_ops=metrics)
        optimizer = tf.train.MomentumOptimizer(0.02, 0.9)
        with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
            train_op = optimizer.minimize(loss, global_step=tf.train.get_global_step())
        hooks = [LossRecorder(loss, losses)]
        return est.EstimatorSpec(mode, loss=loss, train_op=train_op, training_hooks=hooks)

    return model_fn


# 3. A hand-written optimizer that leaves the global step to the model_fn, as BERT's does.


def _handwritten_logits(features):
    table = tf.get_variable("embedding", [11, 6], initializer=_kernel(5))
    x = tf.reduce_mean(tf.nn.embedding_lookup(table, features["ids"]), axis=1)
    x = tf.concat([x, features["x"]], axis=-1)
    with tf.variable_scope("layer_norm"):
        mean, variance = tf.nn.moments(x, axes=[-1], keep_dims=True)
        gamma = tf.get_variable("gamma", [9], initializer=tf.ones_initializer())
        beta = tf.get_variable("beta", [9], initializer=tf.zeros_initializer())
        x = tf.nn.batch_normalization(x, mean, variance, beta, gamma, 1e-6)
    x = tf.layers.dense(x, 7, activation=tf.tanh, kernel_initializer=_kernel(6), name="pooler")
    return tf.layers.dense(x, 3, kernel_initializer=_kernel(7), name="output")


def _handwritten_train_op(loss: tf.Tensor, ordered_step: bool):
    """The update, with global_step assigned beside it.

    Without ``ordered_step`` nothing orders that assignment after the learning rate's read of the
    step: a race in the original. The golden files are made with it; the bridge, which promises
    that the read comes first, has to give the same numbers with and without.
    """
    step = tf.train.get_global_step()
    rate = tf.train.polynomial_decay(0.01, step, decay_steps=20, end_learning_rate=0.0)
    done = tf.cast(step, tf.float32)
    rate = tf.where(done < 5.0, 0.01 * (done + 1.0) / 5.0, rate)  # warm up, then decay
    variables = tf.trainable_variables()
    gradients, _ = tf.clip_by_global_norm(tf.gradients(loss, variables), 1.0)
    update = DecoupledDecayOptimizer(rate, exclude=("layer_norm", "bias")).apply_gradients(
        list(zip(gradients, variables)), global_step=step
    )
    with tf.control_dependencies([update] if ordered_step else []):
        count = step.assign(step + 1)
    return tf.group(update, count)


def handwritten(est: ModuleType, losses: list[float]) -> ModelFn:
    def model_fn(features, labels, mode, params):
        logits = _handwritten_logits(features)
        if mode == est.ModeKeys.PREDICT:
            return est.EstimatorSpec(mode, predictions=_classify(logits))
        with tf.variable_scope("loss"):  # takes the name that the estimator's summary would have
            chosen = tf.one_hot(labels, 3) * tf.nn.log_softmax(logits)
            loss = -tf.reduce_mean(tf.reduce_sum(chosen, axis=-1))
        if mode == est.ModeKeys.EVAL:
            metrics = {"accuracy": _accuracy(labels, logits)}
            return est.EstimatorSpec(mode, loss=loss, eval_metric_ops=metrics)
        train_op = _handwritten_train_op(loss, params["ordered_step"])
        hooks = [LossRecorder(loss, losses)]
        return est.EstimatorSpec(mode, loss=loss, train_op=train_op, training_hooks=hooks)

    return model_fn


# 4. Dropout, twice, each with its own op seed under the graph's seed.


def dropout(est: ModuleType, losses: list[float]) -> ModelFn:
    def model_fn(features, labels, mode, params):
        training = mode == est.ModeKeys.TRAIN
        x = features["x"]
        if training:
            x = tf.nn.dropout(x, rate=0.2, seed=8, name="input_dropout")
        x = tf.layers.dense(
            x, 16, activation=tf.nn.relu, kernel_initializer=_kernel(9), name="hidden"
        )
        if training:
            x = tf.nn.dropout(x, rate=0.5, seed=10, name="hidden_dropout")
        logits = tf.layers.dense(x, 2, kernel_initializer=_kernel(11), name="logits")
        if mode == est.ModeKeys.PREDICT:
            return est.EstimatorSpec(mode, predictions=_classify(logits))
        loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
        if mode == est.ModeKeys.EVAL:
            metrics = {"accuracy": _accuracy(labels, logits)}
            return est.EstimatorSpec(mode, loss=loss, eval_metric_ops=metrics)
        step = tf.train.get_global_step()
        train_op = tf.train.RMSPropOptimizer(0.01, momentum=0.5).minimize(loss, step)
        hooks = [LossRecorder(loss, losses)]
        return est.EstimatorSpec(mode, loss=loss, train_op=train_op, training_hooks=hooks)

    return model_fn
