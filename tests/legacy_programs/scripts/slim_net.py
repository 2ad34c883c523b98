"""A small slim net under plain Estimator and TPUEstimator, and names that Python and numpy lost."""

import collections
import sys

import numpy as np
import tensorflow as tf
import tensorflow.contrib.slim as slim
from tensorflow.contrib.framework.python.ops import arg_scope
from tensorflow.python.platform import tf_logging as logging

flags = tf.app.flags
flags.DEFINE_string("train_dir", "", "Where checkpoints go.")
flags.DEFINE_bool("use_tpu", False, "Whether to use a TPU.")
flags.DEFINE_integer("steps", 2, "Steps to train for.")
FLAGS = flags.FLAGS


def net_arg_scope(weight_decay=0.01):
    with slim.arg_scope(
        [slim.conv2d, slim.fully_connected],
        weights_regularizer=slim.l2_regularizer(weight_decay),
        weights_initializer=tf.contrib.layers.variance_scaling_initializer(seed=4),
        normalizer_fn=slim.batch_norm,
        normalizer_params={"decay": 0.5, "epsilon": 0.001, "scale": True},
    ) as scope:
        return scope


def net(images, is_training):
    with slim.arg_scope([slim.batch_norm, slim.dropout], is_training=is_training):
        with tf.variable_scope("Net", values=[images]) as scope:
            end_points_collection = scope.name + "_end_points"
            with arg_scope([slim.conv2d], outputs_collections=end_points_collection):
                x = slim.repeat(images, 2, slim.conv2d, 3, [3, 3], scope="conv")
                x = slim.max_pool2d(x, [2, 2], scope="pool")
            x = slim.flatten(x)
            x = slim.dropout(x, 0.9, scope="dropout")
            logits = slim.fully_connected(
                x, 2, activation_fn=None, normalizer_fn=None, scope="logits"
            )
            return logits, slim.utils.convert_collection_to_dict(end_points_collection)


def input_fn(params):
    images = np.arange(8 * 4 * 4 * 1, dtype=np.float).reshape(8, 4, 4, 1) % 11 / 11.0
    labels = np.arange(8).astype(np.int) % 2
    assert isinstance(params, collections.Mapping)
    dataset = tf.data.Dataset.from_tensor_slices((images.astype(np.float32), np.int32(labels)))
    return dataset.repeat().batch(params["batch_size"], drop_remainder=True)


def model_fn(features, labels, mode, params):
    with slim.arg_scope(net_arg_scope()):
        logits, end_points = net(features, mode == tf.estimator.ModeKeys.TRAIN)
    logging.info("end points: %s", " ".join(end_points))
    tf.losses.sparse_softmax_cross_entropy(labels, logits)
    loss = tf.losses.get_total_loss()
    metrics = None
    train_op = None
    if mode == tf.estimator.ModeKeys.TRAIN:
        optimizer = tf.train.RMSPropOptimizer(0.01, decay=0.9, momentum=0.9, epsilon=1.0)
        if params["use_tpu"]:
            optimizer = tf.contrib.tpu.CrossShardOptimizer(optimizer)
        train_op = tf.contrib.training.create_train_op(loss, optimizer)
    else:
        regularization = tf.add_n(tf.losses.get_regularization_losses())
        metrics = (
            lambda penalty: {"penalty": tf.metrics.mean(penalty)},
            [tf.tile([regularization], [tf.shape(features)[0]])],
        )
    return tf.contrib.tpu.TPUEstimatorSpec(mode, loss=loss, train_op=train_op, eval_metrics=metrics)


def main(argv):
    print("arguments left: %s" % argv[1:])
    estimator = tf.contrib.tpu.TPUEstimator(
        model_fn,
        use_tpu=FLAGS.use_tpu,
        config=tf.contrib.tpu.RunConfig(
            model_dir=FLAGS.train_dir, master="grpc://10.240.1.2:8470" if FLAGS.use_tpu else ""
        ),
        train_batch_size=8,
        eval_batch_size=8,
        params={},
    )
    estimator.train(input_fn, steps=FLAGS.steps)
    result = estimator.evaluate(input_fn, steps=1)
    print("loss %.6f penalty %.6f" % (result["loss"], result["penalty"]))


if __name__ == "__main__":
    logging.set_verbosity(logging.INFO)
    sys.exit(tf.app.run())
