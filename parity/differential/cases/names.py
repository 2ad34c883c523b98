"""Variables by their TF1 tensor names, and writes without an order."""

from __future__ import annotations

import tempfile

from parity.differential.tools import case, config, error_of, est, events, np, repeat, tf, variables

# variables by name, in a model_fn
X = np.array([1.0, 2.0], np.float32)


def go(mf, **kw):
    folder = tempfile.mkdtemp()

    def f():
        est.Estimator(mf, config=config(folder, save_summary_steps=1)).train(
            kw.get("data") or repeat(X), steps=2, hooks=kw.get("hooks")
        )
        return [variables(folder), events(folder)]

    return error_of(f)


def by_name(features, mode):
    x = tf.layers.dense(features[None], 1, name="d", kernel_initializer=tf.ones_initializer())
    k = tf.get_default_graph().get_tensor_by_name("d/kernel:0")
    loss = tf.reduce_sum(x) + tf.nn.l2_loss(k)
    return est.EstimatorSpec(
        mode,
        loss=loss,
        train_op=tf.train.GradientDescentOptimizer(0.1).minimize(loss, tf.train.get_global_step()),
    )


@case
def tensor_by_variable_name(folder):
    return go(by_name)


def is_ref(features, mode):
    w = tf.get_variable("w", [2], initializer=tf.ones_initializer())
    loss = tf.reduce_sum(w * features)
    return est.EstimatorSpec(
        mode,
        loss=loss,
        train_op=tf.train.GradientDescentOptimizer(0.1).minimize(loss, tf.train.get_global_step()),
    )


def after(features, mode):
    w = tf.get_variable("w", [2], initializer=tf.ones_initializer())
    loss = tf.reduce_sum(tf.square(w * features))
    t = tf.train.GradientDescentOptimizer(0.1).minimize(loss, tf.train.get_global_step())
    tf.summary.scalar("w_sum", tf.reduce_sum(w))
    return est.EstimatorSpec(mode, loss=loss, train_op=t)


@case(races="the weight is read beside its update")
def summary_behind_minimize(folder):
    return go(after)


def gan(features, mode):
    g = tf.get_variable("g", [2], initializer=tf.ones_initializer())
    dd = tf.get_variable("dd", [2], initializer=tf.ones_initializer())
    dl = tf.reduce_sum(tf.square(dd * g - features))
    dt = tf.train.GradientDescentOptimizer(0.1).minimize(dl, var_list=[dd])
    gl = tf.reduce_sum(tf.square(dd * g + features))
    gt = tf.train.GradientDescentOptimizer(0.1).minimize(
        gl, tf.train.get_global_step(), var_list=[g]
    )
    return est.EstimatorSpec(mode, loss=gl, train_op=tf.group(dt, gt))


@case(races="each network's weights are read beside the update of the other's")
def gan_two_minimizes(folder):
    return go(gan)


def assign_vs(features, mode):
    w = tf.get_variable("w", [2], initializer=tf.ones_initializer())
    loss = tf.reduce_sum(tf.square(w * features))
    t = tf.train.GradientDescentOptimizer(0.1).minimize(loss, tf.train.get_global_step())
    with tf.control_dependencies([t]):
        a = tf.assign(w, tf.zeros([2]) + features, validate_shape=False)
    return est.EstimatorSpec(mode, loss=loss, train_op=a)


@case
def assign_validate_shape_false(folder):
    return go(assign_vs)
