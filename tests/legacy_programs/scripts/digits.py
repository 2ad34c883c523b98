"""Tells digits apart: a program in the way of the TPU tutorials of 2018.

`tf.contrib` by attributes, TFRecords read with contrib's dataset functions, batch normalization,
and a `host_call` that writes contrib summaries.
"""

from __future__ import absolute_import, division, print_function

import os

import tensorflow as tf

flags = tf.app.flags
FLAGS = flags.FLAGS

flags.DEFINE_bool("use_tpu", True, "Whether to train on a TPU.")
flags.DEFINE_string("tpu_name", None, "The TPU's name.")
flags.DEFINE_string("tpu_zone", None, "Its zone.")
flags.DEFINE_string("gcp_project", None, "Its project.")
flags.DEFINE_string("data_dir", None, "Where train-*.tfrecords and eval.tfrecords are.")
flags.DEFINE_string("model_dir", None, "Where checkpoints go.")
flags.DEFINE_integer("train_steps", 6, "Steps to train up to.")
flags.DEFINE_integer("batch_size", 16, "The global batch.")
flags.DEFINE_integer("iterations", 3, "Steps a loop.")
flags.DEFINE_integer("num_shards", 2, "TPU cores.")
flags.DEFINE_float("base_learning_rate", 0.1, "Before decay.")

SIDE = 6
CLASSES = 3


def parse(record):
    parsed = tf.parse_single_example(
        record,
        {
            "image_raw": tf.FixedLenFeature([], tf.string),
            "label": tf.FixedLenFeature([], tf.int64),
        },
    )
    image = tf.cast(tf.decode_raw(parsed["image_raw"], tf.uint8), tf.float32) / 255.0
    return tf.reshape(image, [SIDE, SIDE, 1]), tf.cast(parsed["label"], tf.int32)


def train_input_fn(params):
    files = tf.data.Dataset.list_files(os.path.join(FLAGS.data_dir, "train-*"), shuffle=False)
    dataset = files.apply(
        tf.contrib.data.parallel_interleave(tf.data.TFRecordDataset, cycle_length=2, sloppy=False)
    )
    dataset = dataset.apply(tf.contrib.data.shuffle_and_repeat(64, seed=5))
    dataset = dataset.apply(
        tf.contrib.data.map_and_batch(
            parse, params["batch_size"], num_parallel_batches=2, drop_remainder=True
        )
    )
    return dataset.prefetch(tf.contrib.data.AUTOTUNE)


def eval_input_fn(params):
    dataset = tf.data.TFRecordDataset(os.path.join(FLAGS.data_dir, "eval.tfrecords")).map(parse)
    return dataset.apply(tf.contrib.data.batch_and_drop_remainder(params["batch_size"]))


def predict_input_fn(params):
    dataset = tf.data.TFRecordDataset(os.path.join(FLAGS.data_dir, "eval.tfrecords")).map(parse)
    return dataset.map(lambda image, _: image).batch(params["batch_size"])


def network(images, is_training):
    net = tf.layers.conv2d(
        images, 4, 3, padding="same", kernel_initializer=tf.variance_scaling_initializer(seed=1)
    )
    net = tf.layers.batch_normalization(net, training=is_training, momentum=0.5, fused=True)
    net = tf.nn.relu(net)
    net = tf.layers.max_pooling2d(net, 2, 2)
    net = tf.reshape(net, [-1, net.shape[1].value * net.shape[2].value * net.shape[3].value])
    return tf.layers.dense(net, CLASSES, kernel_initializer=tf.glorot_uniform_initializer(seed=2))


def metric_fn(labels, logits):
    return {"accuracy": tf.metrics.accuracy(labels, tf.argmax(logits, axis=1))}


def model_fn(features, labels, mode, params):
    logits = network(features, mode == tf.estimator.ModeKeys.TRAIN)
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.contrib.tpu.TPUEstimatorSpec(
            mode, predictions={"class": tf.argmax(logits, axis=1), "logits": logits}
        )
    loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
    if mode == tf.estimator.ModeKeys.EVAL:
        return tf.contrib.tpu.TPUEstimatorSpec(
            mode, loss=loss, eval_metrics=(metric_fn, [labels, logits])
        )
    global_step = tf.train.get_global_step()
    learning_rate = tf.train.exponential_decay(
        FLAGS.base_learning_rate, global_step, decay_steps=2, decay_rate=0.5, staircase=True
    )
    optimizer = tf.train.MomentumOptimizer(learning_rate, 0.9, use_nesterov=True)
    if FLAGS.use_tpu:
        optimizer = tf.contrib.tpu.CrossShardOptimizer(optimizer)
    with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
        train_op = optimizer.minimize(loss, global_step)

    def host_call_fn(gs, lr, losses):
        gs = gs[0]
        with tf.contrib.summary.create_file_writer(params["summary_dir"]).as_default():
            with tf.contrib.summary.always_record_summaries():
                tf.contrib.summary.scalar("learning_rate", lr[0], step=gs)
                tf.contrib.summary.scalar("mean_loss", tf.reduce_mean(losses), step=gs)
                return tf.contrib.summary.all_summary_ops()

    host_call = (
        host_call_fn,
        [
            tf.reshape(global_step, [1]),
            tf.reshape(learning_rate, [1]),
            tf.reshape(loss, [1]),
        ],
    )
    return tf.contrib.tpu.TPUEstimatorSpec(mode, loss=loss, train_op=train_op, host_call=host_call)


def main(unused_argv):
    tf.logging.set_verbosity(tf.logging.INFO)
    cluster = None
    if FLAGS.use_tpu:
        cluster = tf.contrib.cluster_resolver.TPUClusterResolver(
            FLAGS.tpu_name, zone=FLAGS.tpu_zone, project=FLAGS.gcp_project
        )
    config = tf.contrib.tpu.RunConfig(
        cluster=cluster,
        model_dir=FLAGS.model_dir,
        save_checkpoints_steps=FLAGS.iterations,
        session_config=tf.ConfigProto(allow_soft_placement=True),
        tpu_config=tf.contrib.tpu.TPUConfig(
            iterations_per_loop=FLAGS.iterations,
            num_shards=FLAGS.num_shards,
            per_host_input_for_training=tf.contrib.tpu.InputPipelineConfig.PER_HOST_V2,
        ),
    )
    estimator = tf.contrib.tpu.TPUEstimator(
        model_fn=model_fn,
        config=config,
        use_tpu=FLAGS.use_tpu,
        train_batch_size=FLAGS.batch_size,
        eval_batch_size=4,
        predict_batch_size=8,
        params={"summary_dir": FLAGS.model_dir},
    )
    estimator.train(train_input_fn, max_steps=FLAGS.train_steps)
    result = estimator.evaluate(eval_input_fn, steps=5)
    for key in sorted(result):
        print("eval %s = %s" % (key, result[key]))
    for prediction in estimator.predict(predict_input_fn):
        print("class %d" % prediction["class"])


if __name__ == "__main__":
    tf.app.run()
