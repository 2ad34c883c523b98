"""Fits a plane through points: imports of contrib's insides, tensors of a one-shot iterator.

What it trains is known in closed form for each step, from weights of zero.
"""

import argparse

import numpy as np
import tensorflow as tf
from tensorflow.contrib import tpu
from tensorflow.contrib.cluster_resolver.python.training import tpu_cluster_resolver
from tensorflow.contrib.tpu.python.tpu import (
    async_checkpoint,
    bfloat16,
    tpu_config,
    tpu_estimator,
    tpu_optimizer,
)
from tensorflow.python.estimator import estimator as estimator_lib
from tensorflow.python.estimator import model_fn as model_fn_lib
from tensorflow.python.training import training_util

ROWS = 24


def points():
    x = np.arange(ROWS * 3, dtype=np.float32).reshape(ROWS, 3) % 7 / 7.0
    return x, (x @ np.array([[1.0], [-2.0], [3.0]]) + 0.5).astype(np.float32)


def input_fn(params):
    dataset = tf.data.Dataset.from_tensor_slices(points()).repeat()
    dataset = dataset.apply(tf.contrib.data.batch_and_drop_remainder(params["batch_size"]))
    features, labels = dataset.make_one_shot_iterator().get_next()
    return {"x": features}, labels


def model_fn(features, labels, mode, params):
    with tf.variable_scope("plane"), bfloat16.bfloat16_scope():
        w = tf.get_variable("w", [3, 1], initializer=tf.zeros_initializer())
        b = tf.get_variable("b", [1], initializer=tf.zeros_initializer())
    prediction = tf.nn.xw_plus_b(features["x"], w, b)
    loss = tf.losses.mean_squared_error(labels, prediction)
    if mode == model_fn_lib.ModeKeys.EVAL:

        def metric_fn(labels, prediction):
            return {"mae": tf.metrics.mean_absolute_error(labels, prediction)}

        return tpu_estimator.TPUEstimatorSpec(
            mode, loss=loss, eval_metrics=(metric_fn, [labels, prediction])
        )
    optimizer = tf.train.MomentumOptimizer(params["learning_rate"], params["momentum"])
    optimizer = tpu_optimizer.CrossShardOptimizer(optimizer)
    grads_and_vars = optimizer.compute_gradients(loss)
    train_op = optimizer.apply_gradients(grads_and_vars, training_util.get_global_step())
    return tpu.TPUEstimatorSpec(mode=mode, loss=loss, train_op=train_op)


def main(args):
    tf.logging.set_verbosity(tf.logging.INFO)
    cluster = None
    if args.use_tpu:
        cluster = tpu_cluster_resolver.TPUClusterResolver(args.tpu)
    config = tpu_config.RunConfig(
        cluster=cluster,
        model_dir=args.model_dir,
        save_checkpoints_steps=None,
        save_checkpoints_secs=None,
        tpu_config=tpu_config.TPUConfig(
            args.steps_per_loop, 2, None, tpu_config.InputPipelineConfig.PER_HOST_V1
        ),
    )
    estimator = tpu_estimator.TPUEstimator(
        model_fn,
        args.model_dir,
        config,
        {"learning_rate": 0.1, "momentum": 0.5},
        use_tpu=args.use_tpu,
        train_batch_size=8,
        eval_batch_size=6,
    )
    print("from", estimator_lib._load_global_step_from_checkpoint_dir(args.model_dir))
    saver = async_checkpoint.AsyncCheckpointSaverHook(args.model_dir, save_steps=2)
    estimator.train(input_fn, max_steps=args.max_steps, hooks=[saver])
    result = estimator.evaluate(input_fn, steps=ROWS // 6)
    print("steps %d loss %.7f mae %.7f" % (result["global_step"], result["loss"], result["mae"]))


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--model_dir", required=True)
    parser.add_argument("--max_steps", type=int, default=4)
    parser.add_argument("--steps_per_loop", type=int, default=2)
    parser.add_argument("--use_tpu", action="store_true")
    parser.add_argument("--tpu", default="grpc://10.1.2.3:8470")
    main(parser.parse_args())
