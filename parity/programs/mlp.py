"""A perceptron: Adam, a learning rate that decays with the global step, streaming metrics."""

from __future__ import annotations

import numpy as np
import tensorflow.compat.v1 as tf

TRAIN_EXAMPLES, TEST_EXAMPLES = 60, 22  # 22 is not a multiple of 6: the last batch is short


def examples(count, seed):
    random = np.random.RandomState(seed)
    x = random.normal(size=[count, 8]).astype(np.float32)
    noise = random.normal(size=[count])
    return {"x": x}, (x[:, 0] - x[:, 1] + 0.5 * noise > 0).astype(np.int64)


def train_input(params):
    data = tf.data.Dataset.from_tensor_slices(examples(TRAIN_EXAMPLES, seed=1))
    return data.repeat().batch(params["batch_size"], drop_remainder=True)


def eval_input(params):
    data = tf.data.Dataset.from_tensor_slices(examples(TEST_EXAMPLES, seed=2))
    return data.batch(params["batch_size"])


def predict_input(params):
    return eval_input(params).map(lambda features, label: features)


def serialized(x):
    values = tf.train.Feature(float_list=tf.train.FloatList(value=x))
    features = tf.train.Features(feature={"x": values})
    return tf.train.Example(features=features).SerializeToString()


SERVED = {"examples": [serialized(x) for x in examples(3, seed=3)[0]["x"]]}


def serving_input():
    """Receives serialized examples, or in other signatures the tensor itself."""
    text = tf.placeholder(tf.string, [None], name="examples")
    features = tf.io.parse_example(text, {"x": tf.io.FixedLenFeature([8], tf.float32)})
    return tf.estimator.export.ServingInputReceiver(
        features, {"examples": text}, receiver_tensors_alternatives={"raw": features}
    )


def model_fn(features, labels, mode, params):
    hidden = tf.layers.dense(
        features["x"],
        12,
        activation=tf.nn.relu,
        kernel_initializer=tf.glorot_uniform_initializer(seed=1),
    )
    logits = tf.layers.dense(hidden, 2, kernel_initializer=tf.glorot_uniform_initializer(seed=2))
    probabilities = tf.nn.softmax(logits)
    if mode == tf.estimator.ModeKeys.PREDICT:
        predictions = {"class": tf.argmax(logits, axis=-1), "probability": probabilities}
        return tf.estimator.EstimatorSpec(
            mode,
            predictions=predictions,
            export_outputs={
                "classes": tf.estimator.export.ClassificationOutput(scores=probabilities),
                tf.saved_model.signature_constants.DEFAULT_SERVING_SIGNATURE_DEF_KEY: (
                    tf.estimator.export.PredictOutput(predictions)
                ),
            },
        )
    loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
    if mode == tf.estimator.ModeKeys.EVAL:
        metrics = {
            "accuracy": tf.metrics.accuracy(labels, tf.argmax(logits, axis=-1)),
            "auc": tf.metrics.auc(labels, probabilities[:, 1]),
        }
        return tf.estimator.EstimatorSpec(mode, loss=loss, eval_metric_ops=metrics)
    step = tf.train.get_or_create_global_step()
    rate = tf.train.exponential_decay(0.05, step, decay_steps=5, decay_rate=0.9)
    tf.summary.scalar("learning_rate", rate)
    train_op = tf.train.AdamOptimizer(rate).minimize(loss, global_step=step)
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


def make_estimator(model_dir, **settings):
    config = tf.estimator.RunConfig(model_dir=model_dir, tf_random_seed=2024, **settings)
    return tf.estimator.Estimator(model_fn, config=config, params={"batch_size": 6})


def train_and_evaluate(model_dir):
    """Runs the outer loop: checkpoints, an evaluation and two kinds of export for each."""
    estimator = make_estimator(model_dir, save_checkpoints_steps=8, save_summary_steps=8)
    exporters = [
        tf.estimator.LatestExporter("latest", serving_input, exports_to_keep=2),
        tf.estimator.BestExporter("best", serving_input),
        tf.estimator.FinalExporter("final", serving_input),
    ]
    return tf.estimator.train_and_evaluate(
        estimator,
        tf.estimator.TrainSpec(lambda: train_input({"batch_size": 6}), max_steps=20),
        tf.estimator.EvalSpec(
            lambda: eval_input({"batch_size": 6}),
            steps=None,
            name="test",
            exporters=exporters,
            start_delay_secs=0,
            throttle_secs=0,
        ),
    )
