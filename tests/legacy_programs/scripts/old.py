"""A TPUEstimator program as they were written in 2018: the one that README.md runs."""

import numpy as np
import tensorflow as tf

flags = tf.flags
flags.DEFINE_bool("use_tpu", False, "Whether to use a TPU.")
flags.DEFINE_string("tpu", None, "The TPU's name.")
flags.DEFINE_string("output_dir", "out", "Where checkpoints are written.")
FLAGS = flags.FLAGS


def input_fn(params):
    x = np.random.RandomState(0).rand(1024, 8).astype(np.float32)
    y = (x.sum(axis=1) > 4).astype(np.int32)
    data = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(1024).repeat()
    return data.batch(params["batch_size"], drop_remainder=True)


def model_fn(features, labels, mode, params):
    logits = tf.layers.dense(tf.layers.dense(features, 32, tf.nn.relu), 2)
    loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
    optimizer = tf.train.AdamOptimizer(0.01)
    if FLAGS.use_tpu:
        optimizer = tf.contrib.tpu.CrossShardOptimizer(optimizer)
    train_op = optimizer.minimize(loss, tf.train.get_global_step())
    return tf.contrib.tpu.TPUEstimatorSpec(mode, loss=loss, train_op=train_op)


def main(_):
    resolver = tf.contrib.cluster_resolver.TPUClusterResolver(FLAGS.tpu) if FLAGS.use_tpu else None
    config = tf.contrib.tpu.RunConfig(
        cluster=resolver,
        model_dir=FLAGS.output_dir,
        tpu_config=tf.contrib.tpu.TPUConfig(iterations_per_loop=100),
    )
    estimator = tf.contrib.tpu.TPUEstimator(
        model_fn,
        config=config,
        use_tpu=FLAGS.use_tpu,
        train_batch_size=128,
        eval_batch_size=128,
    )
    estimator.train(input_fn, max_steps=400)
    print(estimator.evaluate(input_fn, steps=8))


if __name__ == "__main__":
    tf.logging.set_verbosity(tf.logging.INFO)
    tf.app.run()
