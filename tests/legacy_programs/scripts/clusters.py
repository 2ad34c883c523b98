"""Sorts points into groups: a program that tf_upgrade_v2 or its author moved to compat.v1.

Its input comes from a Python generator, and `predict` gives every example back once, in order.
"""

import os

import numpy as np
import tensorflow.compat.v1 as tf
from absl import app, flags, logging
from tensorflow.compat.v1 import estimator as tf_estimator

FLAGS = flags.FLAGS
flags.DEFINE_string("tpu", default=None, help="The TPU's name.")
flags.DEFINE_bool("use_tpu", True, "Use TPUs rather than plain CPUs")
flags.DEFINE_string("model_dir", None, "Estimator model_dir")
flags.DEFINE_integer("examples", 11, "How many examples to predict.")
flags.DEFINE_integer("num_shards", 2, "TPU cores.")
flags.mark_flag_as_required("model_dir")

CENTERS = np.array([[2.0, 0.0], [-2.0, 1.0], [0.0, -3.0]], np.float32)


def examples(count):
    for number in range(count):
        group = number * 7 % 3
        wiggle = np.float32([number % 5 - 2, number % 4 - 1.5]) * 0.2
        yield CENTERS[group] + wiggle, group


def dataset_of(count):
    return tf.data.Dataset.from_generator(
        lambda: examples(count), (tf.float32, tf.int32), ([2], [])
    )


def input_fn(params):
    return dataset_of(60).repeat().batch(params["batch_size"], drop_remainder=True)


def eval_input_fn(params):
    return dataset_of(60).batch(params["batch_size"], drop_remainder=True)


def predict_input_fn(params):
    count = params["count"]
    ids = tf.data.Dataset.range(count)
    points = dataset_of(count).map(lambda point, _: point)

    def as_features(number, point):
        doubled = tf.py_func(lambda value: value * np.float32(2), [point], tf.float32)
        doubled.set_shape([2])
        return {"id": number, "point": doubled / 2}

    return tf.data.Dataset.zip((ids, points)).map(as_features).batch(params["batch_size"])


def model_fn(features, labels, mode, params):
    point = features["point"] if mode == tf_estimator.ModeKeys.PREDICT else features
    logits = tf.layers.Dense(3, kernel_initializer=tf.zeros_initializer(), name="groups")(point)
    if mode == tf_estimator.ModeKeys.PREDICT:
        return tf_estimator.tpu.TPUEstimatorSpec(
            mode,
            predictions={
                "id": features["id"],
                "group": tf.argmax(logits, axis=1),
                "probabilities": tf.nn.softmax(logits),
            },
        )
    loss = tf.losses.sparse_softmax_cross_entropy(labels=labels, logits=logits)
    if mode == tf_estimator.ModeKeys.EVAL:

        def metric_fn(labels, logits):
            return {"accuracy": tf.metrics.accuracy(labels, tf.argmax(logits, 1))}

        return tf_estimator.tpu.TPUEstimatorSpec(
            mode, loss=loss, eval_metrics=(metric_fn, [labels, logits])
        )
    optimizer = tf.train.AdagradOptimizer(0.5)
    if FLAGS.use_tpu:
        optimizer = tf.tpu.CrossShardOptimizer(optimizer)
    train_op = optimizer.minimize(loss, tf.train.get_or_create_global_step())
    return tf_estimator.tpu.TPUEstimatorSpec(mode, loss=loss, train_op=train_op)


def main(argv):
    del argv
    logging.set_verbosity(logging.INFO)
    cluster = tf.distribute.cluster_resolver.TPUClusterResolver(
        FLAGS.tpu if (FLAGS.tpu or FLAGS.use_tpu) else ""
    )
    config = tf_estimator.tpu.RunConfig(
        cluster=cluster,
        model_dir=FLAGS.model_dir,
        tf_random_seed=1,
        tpu_config=tf_estimator.tpu.TPUConfig(5, FLAGS.num_shards),
    )
    estimator = tf_estimator.tpu.TPUEstimator(
        model_fn=model_fn,
        use_tpu=FLAGS.use_tpu,
        train_batch_size=12,
        eval_batch_size=12,
        predict_batch_size=4,
        params={"count": FLAGS.examples},
        config=config,
    )
    estimator.train(input_fn=input_fn, steps=10)
    result = estimator.evaluate(input_fn=eval_input_fn, steps=5)
    logging.info("accuracy %.4f after %d steps", result["accuracy"], result["global_step"])
    path = os.path.join(FLAGS.model_dir, "predictions.tsv")
    with tf.gfile.GFile(path, "w") as writer:
        for prediction in estimator.predict(predict_input_fn, yield_single_examples=True):
            row = [prediction["id"], prediction["group"], *prediction["probabilities"]]
            writer.write("\t".join(str(value) for value in row) + "\n")


if __name__ == "__main__":
    app.run(main)
