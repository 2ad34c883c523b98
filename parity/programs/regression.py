"""A regression: numpy_input_fn, mean squared error, many metrics, and one of nested results."""

from __future__ import annotations

import numpy as np
import tensorflow.compat.v1 as tf

TRAIN_EXAMPLES, TEST_EXAMPLES = 60, 22


def examples(count, seed):
    random = np.random.RandomState(seed)
    x = random.normal(size=[count, 4]).astype(np.float32)
    noise = random.normal(size=[count])
    y = x[:, 0] + 0.5 * x[:, 1] * x[:, 2] + 0.3 * noise
    return {"x": x, "weight": np.float32(1 + np.arange(count) % 3)}, y.astype(np.float32)


def train_input():
    features, labels = examples(TRAIN_EXAMPLES, seed=1)
    return tf.estimator.inputs.numpy_input_fn(
        features, labels, batch_size=6, num_epochs=None, shuffle=False
    )()


def eval_input():
    features, labels = examples(TEST_EXAMPLES, seed=2)
    return tf.estimator.inputs.numpy_input_fn(
        features, labels, batch_size=6, num_epochs=1, shuffle=False
    )()


def predict_input():
    return eval_input()[0]


SERVED = {"x": examples(3, seed=3)[0]["x"]}


def serving_input():
    x = tf.placeholder(tf.float32, [None, 4], name="x")
    return tf.estimator.export.ServingInputReceiver({"x": x}, {"x": x})


def streaming_concat(values, name):
    """A metric whose value is all inputs so far: a local variable that grows."""
    with tf.variable_scope(name):
        values_so_far = tf.get_variable(
            "seen",
            initializer=lambda: tf.zeros([0], tf.float32),
            validate_shape=False,
            shape=tf.TensorShape([None]),
            trainable=False,
            use_resource=True,
            collections=[tf.GraphKeys.LOCAL_VARIABLES, tf.GraphKeys.METRIC_VARIABLES],
        )
        return values_so_far.read_value(), tf.assign(
            values_so_far, tf.concat([values_so_far, values], axis=0), validate_shape=False
        )


def eval_metrics(labels, guesses, weights):
    high, guessed_high = labels > 0.0, guesses > 0.0
    thirds = [tf.cast(v > -0.5, tf.int64) + tf.cast(v > 0.5, tf.int64) for v in (labels, guesses)]
    all_labels, see = streaming_concat(labels, "labels")
    errors, add_error = streaming_concat(labels - guesses, "errors")
    return {
        "rmse": tf.metrics.root_mean_squared_error(labels, guesses),
        "weighted_error": tf.metrics.mean_absolute_error(labels, guesses, weights),
        "auc": tf.metrics.auc(high, tf.sigmoid(guesses)),
        "precision": tf.metrics.precision(high, guessed_high),
        "recall": tf.metrics.recall(high, guessed_high),
        "per_class": tf.metrics.mean_per_class_accuracy(thirds[0], thirds[1], 3),
        "cosine": tf.metrics.mean_cosine_distance(labels, guesses, dim=0),
        "all": (
            {"labels": all_labels, "errors": (errors, tf.size(errors))},
            tf.group(see, add_error),
        ),
    }


def model_fn(features, labels, mode):
    hidden = tf.layers.dense(
        features["x"],
        6,
        activation=tf.tanh,
        kernel_initializer=tf.initializers.he_normal(seed=1),
        kernel_regularizer=tf.keras.regularizers.l2(1e-3),
    )
    predictions = tf.layers.dense(hidden, 1, kernel_initializer=tf.initializers.he_normal(seed=2))[
        :, 0
    ]
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, predictions=predictions)
    loss = tf.losses.mean_squared_error(labels, predictions, weights=features["weight"])
    loss += tf.losses.get_regularization_loss()
    if mode == tf.estimator.ModeKeys.EVAL:
        metrics = eval_metrics(labels, predictions, features["weight"])
        return tf.estimator.EstimatorSpec(mode, loss=loss, eval_metric_ops=metrics)
    optimizer = tf.train.AdadeltaOptimizer(0.5, epsilon=1e-3)
    train_op = optimizer.minimize(loss, global_step=tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


def make_estimator(model_dir, **settings):
    config = tf.estimator.RunConfig(model_dir=model_dir, tf_random_seed=2024, **settings)
    return tf.estimator.Estimator(model_fn, config=config)
