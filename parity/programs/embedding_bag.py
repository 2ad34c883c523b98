"""Bags of words: sparse features, embedding_lookup_sparse, sparse gradients, Adagrad."""

from __future__ import annotations

import numpy as np
import tensorflow.compat.v1 as tf

TRAIN_EXAMPLES, TEST_EXAMPLES = 60, 22
WORDS, LONGEST, WIDTH = 20, 6, 4


def examples(count, seed):
    """Returns rows of word ids from 1, padded with 0, and labels for a large sum of values."""
    random = np.random.RandomState(seed)
    ids = random.randint(1, WORDS, size=[count, LONGEST])
    lengths = random.randint(1, LONGEST + 1, size=[count])
    ids[np.arange(LONGEST)[None, :] >= lengths[:, None]] = 0
    values = np.random.RandomState(0).normal(size=[WORDS])
    values[0] = 0.0
    return ids.astype(np.int64), (values[ids].sum(axis=1) > 0).astype(np.float32)[:, None]


def sparse(ids, label):
    return {"words": tf.sparse.from_dense(ids)}, label


def train_input(params):
    data = tf.data.Dataset.from_tensor_slices(examples(TRAIN_EXAMPLES, seed=1))
    return data.repeat().batch(params["batch_size"]).map(sparse)


def eval_input(params):
    data = tf.data.Dataset.from_tensor_slices(examples(TEST_EXAMPLES, seed=2))
    return data.batch(params["batch_size"]).map(sparse)


def predict_input(params):
    return eval_input(params).map(lambda features, label: features)


def serialized(ids):
    values = tf.train.Feature(int64_list=tf.train.Int64List(value=ids[ids > 0]))
    features = tf.train.Features(feature={"words": values})
    return tf.train.Example(features=features).SerializeToString()


SERVED = {"examples": [serialized(ids) for ids in examples(3, seed=3)[0]]}


def serving_input():
    return tf.estimator.export.build_parsing_serving_input_receiver_fn(
        {"words": tf.io.VarLenFeature(tf.int64)}
    )()


def model_fn(features, labels, mode, params):
    words = features["words"]
    table = tf.get_variable(
        "table", [WORDS, WIDTH], initializer=tf.random_uniform_initializer(-0.5, 0.5, seed=1)
    )
    bias = tf.get_variable("word_bias", [WORDS, 1], initializer=tf.zeros_initializer())
    bag = tf.nn.embedding_lookup_sparse(table, words, None, combiner="sqrtn")
    wide = tf.nn.embedding_lookup_sparse(bias, words, None, combiner="sum")
    kernel = tf.glorot_uniform_initializer(seed=2)
    logits = wide + tf.layers.dense(bag, 1, kernel_initializer=kernel, name="deep")
    probability = tf.sigmoid(logits)
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(
            mode,
            predictions={"probability": probability, "bag": bag},
            export_outputs={
                "serving_default": tf.estimator.export.RegressionOutput(probability),
                "bags": tf.estimator.export.PredictOutput({"bag": bag}),
            },
        )
    loss = tf.losses.sigmoid_cross_entropy(labels, logits)
    if mode == tf.estimator.ModeKeys.EVAL:
        metrics = {"auc_pr": tf.metrics.auc(labels, probability, curve="PR")}
        return tf.estimator.EstimatorSpec(mode, loss=loss, eval_metric_ops=metrics)
    optimizer = tf.train.AdagradOptimizer(0.2)
    train_op = optimizer.minimize(loss, global_step=tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


def make_estimator(model_dir, **settings):
    config = tf.estimator.RunConfig(model_dir=model_dir, tf_random_seed=2024, **settings)
    return tf.estimator.Estimator(model_fn, config=config, params={"batch_size": 6})
