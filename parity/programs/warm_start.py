"""WarmStartSettings: an earlier model's checkpoint, another name, another vocabulary."""

from __future__ import annotations

import os

import numpy as np
import tensorflow.compat.v1 as tf

TRAIN_EXAMPLES, TEST_EXAMPLES = 60, 22
OLD_WORDS = ["apple", "bread", "cheese", "dates", "egg"]
WORDS = ["egg", "fig", "apple", "grapes", "cheese", "dates"]


def examples(count, seed):
    random = np.random.RandomState(seed)
    ids = random.randint(0, len(WORDS), size=[count, 3])
    noise = random.normal(size=[count])
    return {"words": np.array(WORDS)[ids]}, (ids.sum(axis=1) + noise > 7).astype(np.int64)


def train_input(params):
    data = tf.data.Dataset.from_tensor_slices(examples(TRAIN_EXAMPLES, seed=1))
    return data.repeat().batch(params["batch_size"])


def eval_input(params):
    data = tf.data.Dataset.from_tensor_slices(examples(TEST_EXAMPLES, seed=2))
    return data.batch(params["batch_size"])


def predict_input(params):
    return eval_input(params).map(lambda features, label: features)


SERVED = {"words": examples(3, seed=3)[0]["words"].astype(object)}


def serving_input():
    words = tf.placeholder(tf.string, [None, 3], name="words")
    return tf.estimator.export.ServingInputReceiver({"words": words}, {"words": words})


def model_fn(features, labels, mode, params):
    lookup = tf.lookup.StaticHashTable(
        tf.lookup.KeyValueTensorInitializer(WORDS, list(range(len(WORDS))), value_dtype=tf.int64),
        default_value=0,
    )
    table = tf.get_variable("embedding", [len(WORDS), 4], initializer=tf.zeros_initializer())
    x = tf.nn.embedding_lookup(table, lookup.lookup(features["words"]))
    x = tf.layers.dense(tf.reduce_mean(x, axis=1), 4, activation=tf.tanh, name="hidden")
    logits = tf.layers.dense(
        x, 2, kernel_initializer=tf.glorot_uniform_initializer(seed=1), name="logits"
    )
    if mode == tf.estimator.ModeKeys.PREDICT:
        predictions = {"probability": tf.nn.softmax(logits)}
        return tf.estimator.EstimatorSpec(mode, predictions=predictions)
    loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
    if mode == tf.estimator.ModeKeys.EVAL:
        metrics = {"accuracy": tf.metrics.accuracy(labels, tf.argmax(logits, axis=-1))}
        return tf.estimator.EstimatorSpec(mode, loss=loss, eval_metric_ops=metrics)
    optimizer = tf.train.ProximalAdagradOptimizer(0.1, l2_regularization_strength=1e-3)
    train_op = optimizer.minimize(loss, global_step=tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


def write_earlier_model(folder):
    """Makes an earlier model's checkpoint and both vocabularies; returns the settings for them."""
    os.makedirs(folder, exist_ok=True)
    random = np.random.RandomState(4)
    with tf.Graph().as_default(), tf.Session() as session:
        for name, shape in (
            ("old_table", [len(OLD_WORDS), 4]),
            ("hidden/kernel", [4, 4]),
            ("hidden/bias", [4]),
        ):
            value = random.normal(size=shape).astype(np.float32)
            tf.get_variable(name, initializer=tf.constant(value))
        session.run(tf.global_variables_initializer())
        tf.train.Saver().save(session, os.path.join(folder, "model.ckpt"))
    for name, words in (("old.txt", OLD_WORDS), ("new.txt", WORDS)):
        with open(os.path.join(folder, name), "w") as file:
            file.write("\n".join(words) + "\n")
    vocabulary = tf.estimator.VocabInfo(
        new_vocab=os.path.join(folder, "new.txt"),
        new_vocab_size=len(WORDS),
        num_oov_buckets=0,
        old_vocab=os.path.join(folder, "old.txt"),
        backup_initializer=tf.random_uniform_initializer(-0.5, 0.5, seed=2),
    )
    return tf.estimator.WarmStartSettings(
        folder,
        vars_to_warm_start="embedding|hidden",
        var_name_to_vocab_info={"embedding": vocabulary},
        var_name_to_prev_var_name={"embedding": "old_table"},
    )


def make_estimator(model_dir, **settings):
    config = tf.estimator.RunConfig(model_dir=model_dir, tf_random_seed=2024, **settings)
    return tf.estimator.Estimator(
        model_fn,
        config=config,
        params={"batch_size": 6},
        warm_start_from=write_earlier_model(f"{model_dir}_earlier"),
    )
