"""Keeps moving averages of its weights, and evaluates and predicts with them."""

import argparse
import sys

import numpy as np
import tensorflow as tf

DECAY = 0.75


def input_fn(params):
    x = np.linspace(-1, 1, 16, dtype=np.float32)[:, None]
    y = 3 * x - 1
    dataset = tf.data.Dataset.from_tensor_slices((x, y)).repeat()
    dataset = dataset.batch(params["batch_size"], drop_remainder=True)
    return dataset.make_one_shot_iterator().get_next()


def predict_input_fn(params):
    x = np.arange(5, dtype=np.float32)[:, None]
    return tf.data.Dataset.from_tensor_slices(x).batch(params["batch_size"])


def model_fn(features, labels, mode, params):
    prediction = tf.layers.dense(features, 1, name="line", kernel_initializer=tf.ones_initializer())
    global_step = tf.train.get_or_create_global_step()
    ema = tf.train.ExponentialMovingAverage(decay=DECAY, zero_debias=False)
    averaged = tf.trainable_variables()

    scaffold_fn = None
    if mode != tf.estimator.ModeKeys.TRAIN:

        def restore_averages():
            saver = tf.train.Saver(ema.variables_to_restore(averaged))
            return tf.train.Scaffold(saver=saver)

        scaffold_fn = restore_averages
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.contrib.tpu.TPUEstimatorSpec(
            mode, predictions={"y": prediction}, scaffold_fn=scaffold_fn
        )
    loss = tf.losses.mean_squared_error(labels, prediction)
    train_op = None
    if mode == tf.estimator.ModeKeys.TRAIN:
        optimizer = tf.train.GradientDescentOptimizer(0.2)
        if params["use_tpu"]:
            optimizer = tf.contrib.tpu.CrossShardOptimizer(optimizer)
        update_ops = tf.get_collection(tf.GraphKeys.UPDATE_OPS)
        with tf.control_dependencies(update_ops):
            train_op = optimizer.minimize(loss, global_step)
        with tf.control_dependencies([train_op]):
            train_op = ema.apply(averaged)
    metrics = None
    if mode == tf.estimator.ModeKeys.EVAL:
        metrics = (
            lambda labels, prediction: {"mse": tf.metrics.mean_squared_error(labels, prediction)},
            {"labels": labels, "prediction": prediction},
        )
    return tf.contrib.tpu.TPUEstimatorSpec(
        mode, loss=loss, train_op=train_op, eval_metrics=metrics, scaffold_fn=scaffold_fn
    )


def main(argv):
    parser = argparse.ArgumentParser()
    parser.add_argument("--model-dir")
    parser.add_argument("--max-steps", type=int, default=3)
    parser.add_argument("--use-tpu", action="store_true")
    args = parser.parse_args(argv[1:])
    config = tf.contrib.tpu.RunConfig(
        cluster=tf.contrib.cluster_resolver.TPUClusterResolver() if args.use_tpu else None,
        model_dir=args.model_dir,
        save_checkpoints_steps=1,
        tpu_config=tf.contrib.tpu.TPUConfig(iterations_per_loop=1),
    )
    estimator = tf.contrib.tpu.TPUEstimator(
        model_fn=model_fn, config=config, use_tpu=args.use_tpu,
        train_batch_size=16, eval_batch_size=8, predict_batch_size=2,
        params={},
    )  # fmt: skip
    estimator.train(input_fn, max_steps=args.max_steps)
    print("mse %.7f" % estimator.evaluate(input_fn, steps=2)["mse"])
    predicted = list(estimator.predict(predict_input_fn))
    print("y %s" % " ".join("%.6f" % row["y"][0] for row in predicted))


if __name__ == "__main__":
    tf.logging.set_verbosity(tf.logging.INFO)
    tf.app.run(main=main, argv=sys.argv)
