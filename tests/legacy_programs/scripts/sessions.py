"""An Estimator with hooks of its own beside a plain session: TF1 at the top level."""

import os
import sys

import numpy as np
import tensorflow as tf

MODEL_DIR, MASTER = sys.argv[1], sys.argv[2]
ROWS = np.arange(12, dtype=np.float32).reshape(6, 2) / 10


class Recorder(tf.train.SessionRunHook):
    """Records the loss of each loop, and counts what it was told."""

    def __init__(self):
        self.calls = []
        self.losses = []

    def begin(self):
        self.loss = tf.get_default_graph().get_tensor_by_name("the_loss:0")
        self.step = tf.train.get_global_step()

    def after_create_session(self, session, coord):
        self.calls.append("created at %d" % session.run(self.step))

    def before_run(self, run_context):
        return tf.train.SessionRunArgs({"loss": self.loss})

    def after_run(self, run_context, run_values):
        self.losses.append(float(run_values.results["loss"]))

    def end(self, session):
        self.calls.append("ended at %d" % session.run(self.step))


def input_fn(params):
    x, y = tf.train.slice_input_producer(
        [tf.constant(ROWS), tf.constant(ROWS.sum(1, keepdims=True))], shuffle=False
    )
    x, y = tf.train.batch([x, y], params["batch_size"])
    return x, y


def model_fn(features, labels, mode, params):
    w = tf.get_variable("w", [features.shape[1].value, 1], initializer=tf.zeros_initializer())
    loss = tf.identity(tf.reduce_mean(tf.square(tf.matmul(features, w) - labels)), name="the_loss")
    optimizer = tf.train.GradientDescentOptimizer(0.5)
    if params["use_tpu"]:
        optimizer = tf.contrib.tpu.CrossShardOptimizer(optimizer)
    train_op = optimizer.minimize(loss, tf.train.get_or_create_global_step())
    return tf.contrib.tpu.TPUEstimatorSpec(
        mode, loss=loss, train_op=train_op, training_hooks=[RECORDER]
    )


RECORDER = Recorder()
with tf.Graph().as_default(), tf.Session() as sess:
    a = tf.placeholder(tf.float32, [None, 2], name="a")
    total = tf.Variable(tf.zeros([2]), name="total")
    add = tf.assign_add(total, tf.reduce_sum(a, axis=0))
    sess.run(tf.global_variables_initializer())
    for _ in range(2):
        sess.run(add, feed_dict={a: ROWS})
    print("total %.3f %.3f" % tuple(sess.run(total)))
    print("static %s %r" % (a.shape[1].value * 2, a.get_shape().as_list()))

use_tpu = bool(MASTER)
estimator = tf.contrib.tpu.TPUEstimator(
    model_fn,
    config=tf.contrib.tpu.RunConfig(
        master=MASTER, model_dir=MODEL_DIR, tpu_config=tf.contrib.tpu.TPUConfig(1)
    ),
    use_tpu=use_tpu,
    train_batch_size=6,
)
if not tf.gfile.Exists(os.path.join(MODEL_DIR, "checkpoint")):
    print("first run")
estimator.train(input_fn, steps=3)
print("calls %s" % RECORDER.calls)
print("losses %s" % " ".join("%.6f" % loss for loss in RECORDER.losses))

tf.reset_default_graph()
latest = tf.train.latest_checkpoint(MODEL_DIR)
reader = tf.train.NewCheckpointReader(latest)
print("step %d of %s" % (reader.get_tensor("global_step"), os.path.basename(latest)))
if use_tpu:
    w = tf.get_variable("w", [2, 1])
    saver = tf.train.Saver([w])
else:  # the checkpoint's own graph, which a TPU's session alone could run
    saver = tf.train.import_meta_graph(latest + ".meta", clear_devices=True)
    (w,) = tf.trainable_variables()
with tf.Session() as sess:
    saver.restore(sess, latest)
    print("w %.6f %.6f" % tuple(np.squeeze(sess.run(w), 1)))

tf.reset_default_graph()
tripled = tf.contrib.tpu.rewrite(lambda x: 3 * x, [tf.constant(2.0)])
start, stop = tf.contrib.tpu.initialize_system(), tf.contrib.tpu.shutdown_system()
with tf.Session(tf.contrib.cluster_resolver.TPUClusterResolver(MASTER).get_master()) as sess:
    sess.run(start)
    print("tripled %.1f" % sess.run(tripled)[0])
    sess.run(stop)
