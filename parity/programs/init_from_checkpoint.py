"""Fine-tuning: init_from_checkpoint by names, as in BERT's programs; TPUEstimator."""

from __future__ import annotations

import os

import numpy as np
import tensorflow.compat.v1 as tf

TRAIN_EXAMPLES, TEST_EXAMPLES = 60, 22


def examples(count, seed):
    random = np.random.RandomState(seed)
    x = random.normal(size=[count, 5]).astype(np.float32)
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


SERVED = {"x": examples(3, seed=3)[0]["x"]}


def serving_input():
    x = tf.placeholder(tf.float32, [None, 5], name="x")
    return tf.estimator.export.ServingInputReceiver({"x": x}, {"x": x})


def write_pretrained_model(folder):
    """Makes a checkpoint whose optimizer slots and step the fine-tuned model does not use."""
    os.makedirs(folder, exist_ok=True)
    random = np.random.RandomState(4)
    with tf.Graph().as_default(), tf.Session() as session:
        for name, shape in (
            ("bert/layer_0/kernel", [5, 8]),
            ("bert/layer_0/bias", [8]),
            ("bert/layer_1/kernel", [8, 8]),
            ("bert/layer_1/bias", [8]),
            ("bert/layer_1/bias/adam_m", [8]),
        ):
            value = random.normal(size=shape).astype(np.float32)
            tf.get_variable(name, initializer=tf.constant(0.5 * value))
        tf.train.create_global_step()
        session.run(tf.global_variables_initializer())
        tf.train.Saver().save(session, os.path.join(folder, "bert.ckpt"))
    return os.path.join(folder, "bert.ckpt")


def assignment_map(variables, checkpoint):
    """Returns the variables that the checkpoint has too, by their names without `:0`."""
    names = {variable.op.name for variable in variables}
    return {name: name for name, _ in tf.train.list_variables(checkpoint) if name in names}


def model_fn(features, labels, mode, params):
    x = features["x"]
    with tf.variable_scope("bert"):
        for layer in range(2):
            x = tf.layers.dense(x, 8, activation=tf.tanh, name=f"layer_{layer}")
    logits = tf.layers.dense(
        x, 2, kernel_initializer=tf.truncated_normal_initializer(stddev=0.02, seed=1), name="output"
    )
    scaffold_fn = None
    name_map = assignment_map(tf.trainable_variables(), params["init_checkpoint"])
    if params["use_tpu"]:

        def scaffold_fn():
            tf.train.init_from_checkpoint(params["init_checkpoint"], name_map)
            return tf.train.Scaffold()
    else:
        tf.train.init_from_checkpoint(params["init_checkpoint"], name_map)
    if mode == tf.estimator.ModeKeys.PREDICT:
        predictions = {"probability": tf.nn.softmax(logits)}
        return tf.estimator.tpu.TPUEstimatorSpec(
            mode, predictions=predictions, scaffold_fn=scaffold_fn
        )
    loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
    if mode == tf.estimator.ModeKeys.EVAL:

        def metric_fn(labels, logits):
            return {"accuracy": tf.metrics.accuracy(labels, tf.argmax(logits, axis=-1))}

        return tf.estimator.tpu.TPUEstimatorSpec(
            mode, loss=loss, eval_metrics=(metric_fn, [labels, logits]), scaffold_fn=scaffold_fn
        )
    optimizer = tf.train.AdamOptimizer(0.002)
    if params["use_tpu"]:
        optimizer = tf.tpu.CrossShardOptimizer(optimizer)
    train_op = optimizer.minimize(loss, global_step=tf.train.get_global_step())
    return tf.estimator.tpu.TPUEstimatorSpec(
        mode, loss=loss, train_op=train_op, scaffold_fn=scaffold_fn
    )


def make_estimator(model_dir, **settings):
    config = tf.estimator.tpu.RunConfig(
        tpu_config=tf.estimator.tpu.TPUConfig(iterations_per_loop=4),
        model_dir=model_dir,
        tf_random_seed=2024,
        **settings,
    )
    return tf.estimator.tpu.TPUEstimator(
        model_fn,
        config=config,
        params={"init_checkpoint": write_pretrained_model(f"{model_dir}_pretrained")},
        use_tpu=False,
        train_batch_size=6,
        eval_batch_size=8,
        predict_batch_size=8,
        export_to_tpu=False,
    )
