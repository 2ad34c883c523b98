"""Branches, gradients, assertions and stateful operations of a model's graph."""

from __future__ import annotations

import contextlib
import os
import tempfile

from parity.differential.cases.loops import run, w
from parity.differential.tools import V2_OFF, case, error_of, tf, variables


@case
def nested_cond_case(folder):
    def net(x):
        k = w()
        step = tf.train.get_global_step()
        v = tf.get_variable("v", initializer=0.0, trainable=False)
        y = tf.case(
            [
                (tf.equal(step % 3, 0), lambda: tf.reduce_sum(tf.matmul(x[0], k) ** 2)),
                (
                    tf.equal(step % 3, 1),
                    lambda: tf.cond(
                        step > 2, lambda: tf.reduce_sum(k**2), lambda: tf.reduce_sum(k**4) * 2
                    ),
                ),
            ],
            default=lambda: tf.reduce_max(k**2) + tf.assign_add(v, 1.0),
            exclusive=True,
        )
        return y

    return run(folder, net, steps=6)


@case
def switch_merge(folder):
    """Raw v1 control flow."""
    from tensorflow.python.ops import control_flow_ops as c

    def net(x):
        k = w()
        f, t = c.switch(tf.reduce_sum(tf.matmul(x[0], k) ** 2), x[0, 0, 1] > 0)
        y, _ = c.merge([f * 2, t * 3])
        return y

    return run(folder, net)


@case
def custom_gradient(folder):
    @tf.custom_gradient
    def clip(x):
        def grad(dy):
            return tf.clip_by_value(dy, -0.1, 0.1)

        return tf.identity(x), grad

    @tf.custom_gradient
    def with_vars(x):
        k = tf.get_variable("inside", [3, 3], initializer=tf.ones_initializer(), use_resource=True)
        y = tf.matmul(x, k)

        def grad(dy, variables=None):
            return tf.matmul(dy, k, transpose_b=True), [tf.ones([3, 3]) * 5.0]

        return y, grad

    def net(x):
        k = w()
        return tf.reduce_sum(clip(tf.matmul(with_vars(x[0]), k)) ** 2)

    return run(folder, net)


@case
def gradient_override(folder):
    with contextlib.suppress(KeyError):  # in its second mode or run
        tf.RegisterGradient("Weird")(lambda op, g: g * 7)

    def net(x):
        k = w()
        with tf.get_default_graph().gradient_override_map({"Identity": "Weird"}):
            y = tf.identity(tf.matmul(x[0], k))
        return tf.reduce_sum(y**2)

    return run(folder, net)


@case
def second_order(folder):
    def net(x):
        k = w()
        y = tf.reduce_sum(tf.tanh(tf.matmul(x[0], k)) ** 2)
        g = tf.gradients(y, k)[0]
        h = tf.hessians(tf.reduce_sum(tf.sin(k[0])), k)[0]
        p = tf.gradients(y, x, stop_gradients=[k])[0]
        gl = (
            tf.zeros([])
            if V2_OFF
            else tf.gradients(
                tf.while_loop(lambda i, a: i < 2, lambda i, a: (i + 1, tf.matmul(a, k)), [0, x[0]])[
                    1
                ],
                k,
            )[0]
        )
        return (
            y
            + 0.1 * tf.reduce_sum(g**2)
            + tf.reduce_sum(p**2)
            + tf.reduce_sum(h)
            + 0.01 * tf.reduce_sum(gl)
        )

    return run(folder, net)


@case(races="the weight's read by stop_gradient stands beside its update")
def gradients_unconnected(folder):
    def net(x):
        k = w()
        k2 = w("k2")
        y = tf.reduce_sum(k**2)
        g = tf.gradients(y, [k, k2])
        z = tf.gradients(y, [k2], unconnected_gradients="zero")
        s = tf.stop_gradient(k) * k2
        return y + tf.reduce_sum(z[0]) + float(g[1] is None) + tf.reduce_sum(s)

    return run(folder, net)


@case
def assert_fails(folder):
    def net(x):
        k = w()
        step = tf.train.get_global_step()
        with tf.control_dependencies(
            [tf.Assert(step < 2, ["too far", step, x[0, 0]], name="my_assert")]
        ):
            return tf.reduce_sum(k)

    try:
        run(folder, net, steps=5)
    except Exception as e:
        return [type(e).__name__, "too far" in str(e), variables(folder)]


@case
def assert_ops(folder):
    out = []
    for make in (
        lambda x: tf.assert_equal(tf.shape(x)[0], 3, message="hello"),
        lambda x: tf.debugging.assert_less(x, 1.0, message="small"),
        lambda x: tf.debugging.check_numerics(x / 0.0, "bad numbers"),
        lambda x: tf.assert_rank(x, 4, message="rank"),
    ):

        def net(x):
            with tf.control_dependencies([make(x)]):
                return tf.reduce_sum(w() ** 2)

        r = error_of(run, tempfile.mkdtemp(), net)
        out.append(r if r[0] == "error" else r[0])
    return out


@case(races="the printed step is read beside its update")
def print_ops(folder):
    def net(x):
        y = tf.Print(
            tf.reduce_sum(w() ** 2),
            [tf.constant("PRINTED"), tf.train.get_global_step()],
            message="msg ",
            first_n=2,
        )
        with tf.control_dependencies(
            [
                tf.print(
                    "TFPRINT",
                    tf.train.get_global_step(),
                    output_stream="file://" + folder + "/printed",
                )
            ]
        ):
            return tf.identity(y)

    r = run(folder, net, steps=4)
    return [
        r,
        sorted(open(folder + "/printed").read().split("\n"))
        if os.path.exists(folder + "/printed")
        else None,
    ]


@case
def dropout_seeded(folder):
    def net(x):
        y = tf.nn.dropout(tf.matmul(x[0], w()) + 1, keep_prob=0.5, seed=11)
        z = tf.layers.dropout(x[0], rate=0.3, seed=12, training=True)
        tf.nn.rnn_cell.DropoutWrapper(
            tf.nn.rnn_cell.BasicRNNCell(3),
            input_keep_prob=0.5,
            variational_recurrent=True,
            dtype=tf.float32,
            input_size=3,
            seed=3,
        )
        return tf.reduce_sum(y), {"y": y, "z": z}

    return run(folder, net, steps=4)


@case
def batch_norm_layers(folder):
    def net(x):
        y = tf.layers.batch_normalization(
            tf.matmul(x[0], w()), training=True, momentum=0.7, renorm=False
        )
        y2 = tf.layers.batch_normalization(
            tf.layers.conv2d(x[None], 2, 2, kernel_initializer=tf.ones_initializer()),
            training=True,
            fused=True,
        )
        with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
            return tf.reduce_sum(y**2 * tf.range(3.0)) + tf.reduce_sum(y2 * tf.range(2.0))

    return run(folder, net)


@case
def switch_case_map(folder):
    def net(x):
        k = w()
        i = tf.cast(tf.train.get_global_step() % 3, tf.int32)
        y = tf.switch_case(
            i,
            [
                lambda: tf.reduce_sum(k**3),
                lambda: tf.reduce_sum(k**2),
                lambda: tf.reduce_sum(tf.exp(k)),
            ],
        )
        v = tf.vectorized_map(lambda r: tf.reduce_sum(tf.matmul(r, k) ** 2), x)
        return y + tf.reduce_sum(v)

    return run(folder, net)


@case
def stage_and_queue_in_model(folder):
    def net(x):
        q = tf.FIFOQueue(10, [tf.float32], shapes=[[]])
        enq = q.enqueue(tf.cast(tf.train.get_global_step(), tf.float32) + 5)
        with tf.control_dependencies([enq]):
            out = q.dequeue()
            with tf.control_dependencies([out]):
                n = q.size()
        return tf.reduce_sum(w() ** 2) + out, {"out": out, "n": n}

    return run(folder, net)


@case
def accumulators(folder):
    def net(x):
        k = w()
        acc = tf.ConditionalAccumulator(
            tf.float32, shape=[3, 3], shared_name="acc_" + os.path.basename(folder)
        )
        g = tf.gradients(tf.reduce_sum(tf.matmul(x[0], k)), k)[0]
        a = acc.apply_grad(g, local_step=tf.train.get_global_step())
        with tf.control_dependencies([a]):
            t = acc.take_grad(1)
        return tf.reduce_sum(k**2), {"t": tf.ensure_shape(t, [3, 3])}

    return run(folder, net)


@case
def mutable_table(folder):
    def net(x):
        t = tf.lookup.experimental.DenseHashTable(
            tf.int64, tf.float32, 0.0, empty_key=-1, deleted_key=-2
        )
        step = tf.train.get_global_step()
        ins = t.insert([step, step + 100], [1.0, 2.0])
        with tf.control_dependencies([ins]):
            s = tf.cast(t.size(), tf.float32)
        return tf.reduce_sum(w() ** 2) + s, {"s": s}

    return run(folder, net)
