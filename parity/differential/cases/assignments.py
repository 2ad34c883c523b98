"""Assignments within a step, and the order of reads and writes."""

from __future__ import annotations

import tempfile

from parity.differential.cases.variables import spec, steps_of
from parity.differential.tools import case, config, error_of, est, np, repeat, tf, variables


@case
def assign_chain(folder):
    def model_fn(features, mode):
        v = tf.get_variable("v", initializer=1.0)
        a = tf.assign(v, v * 2)
        b = tf.assign_add(a, 1.0)
        c = tf.assign_sub(b, 0.5)
        return spec(mode, tf.reduce_sum(features), c)

    return steps_of(folder, model_fn)


@case
def assign_chain_ref(folder):
    def model_fn(features, mode):
        v = tf.Variable(1.0, use_resource=False, name="v")
        a = tf.assign(v, v * 2)
        b = tf.assign_add(a, 1.0)
        return spec(mode, tf.reduce_sum(features), b)

    return steps_of(folder, model_fn)


@case
def read_after_write(folder):
    def model_fn(features, mode):
        v = tf.get_variable("v", initializer=1.0)
        out = tf.get_variable("out", [8, 4])
        step = tf.train.get_or_create_global_step()
        before = v.read_value() * 1.0
        with tf.control_dependencies([before]):
            w = v.assign_add(10.0)
        with tf.control_dependencies([w]):
            after = v.read_value() * 1.0
            after2 = tf.identity(v) * 1.0
        with tf.control_dependencies([after, after2]):
            w2 = v.assign(after * 2)
        with tf.control_dependencies([w2]):
            last = v.read_value()
        row = tf.stack([before, after, after2, last])
        u = tf.scatter_update(out, step, row)
        return spec(mode, last, u)

    r = steps_of(folder, model_fn)
    r["out"] = r["out"][:3]
    return r


@case
def scatters(folder):
    def model_fn(features, mode):
        a = tf.get_variable("a", initializer=np.zeros([4, 2], np.float32))
        b = tf.get_variable("b", initializer=np.zeros([4], np.float32))
        c = tf.get_variable("c", initializer=np.ones([4], np.float32))
        ops = [tf.scatter_add(a, [0, 0, 2], [[1.0, 1.0], [2.0, 2.0], [3.0, 3.0]])]
        with tf.control_dependencies(ops):
            ops.append(tf.scatter_sub(a, [3], [[1.0, 5.0]]))
        with tf.control_dependencies(ops):
            ops.append(tf.scatter_max(a, [1], [[0.5, -1.0]]))
        ops.append(tf.scatter_nd_add(b, [[1], [1], [3]], [1.0, 2.0, 3.0]))
        with tf.control_dependencies(ops):
            ops.append(tf.scatter_nd_update(b, [[0]], [9.0]))
        ops.append(tf.scatter_mul(c, [0, 2], [2.0, 3.0]))
        with tf.control_dependencies(ops):
            ops.append(tf.scatter_div(c, [2], [2.0]))
        return spec(mode, tf.reduce_sum(features), *ops)

    return steps_of(folder, model_fn)


@case
def scatter_slices(folder):
    def model_fn(features, mode):
        a = tf.get_variable("a", initializer=np.zeros([4, 2], np.float32))
        u = a.scatter_add(tf.IndexedSlices(tf.ones([2, 2]), tf.constant([1, 1])))
        with tf.control_dependencies([u]):
            w = a[2].assign([7.0, 8.0])
        with tf.control_dependencies([w]):
            w2 = a[0:1, 1].assign([3.0])
        return spec(mode, tf.reduce_sum(features), w2)

    return steps_of(folder, model_fn)


@case
def assign_in_cond_and_while(folder):
    def model_fn(features, mode):
        v = tf.get_variable("v", initializer=0.0)
        n = tf.get_variable("n", initializer=0)
        step = tf.train.get_or_create_global_step()
        c = tf.cond(
            tf.equal(step % 2, 0), lambda: tf.assign_add(v, 1.0), lambda: tf.assign_sub(v, 0.25)
        )

        def body(i):
            with tf.control_dependencies([tf.assign_add(n, i)]):
                return i + 1

        with tf.control_dependencies([c]):
            loop = tf.while_loop(lambda i: i < 4, body, [tf.constant(0)])
        return spec(mode, tf.reduce_sum(features), c, loop)

    return steps_of(folder, model_fn, steps=5)


@case
def assign_in_cond_unread(folder):
    def model_fn(features, mode):
        v = tf.get_variable("v", initializer=0.0)
        step = tf.train.get_or_create_global_step()
        c = tf.cond(tf.equal(step % 2, 0), lambda: tf.group(tf.assign_add(v, 1.0)), tf.no_op)
        return spec(mode, tf.reduce_sum(features), c)

    return steps_of(folder, model_fn, steps=5)


@case
def cond_with_outer_assign(folder):
    """An assign made outside of the branch runs whichever branch is taken."""

    def model_fn(features, mode):
        v = tf.get_variable("v", initializer=0.0)
        u = tf.assign_add(v, 1.0)
        c = tf.cond(features[0] > 100, lambda: u + 1, lambda: tf.constant(5.0))
        return spec(mode, c, c)

    return steps_of(folder, model_fn, steps=5)


@case
def count_up_to_ends(folder):
    def model_fn(features, mode):
        n = tf.get_variable("n", initializer=0)
        u = tf.count_up_to(n, 3)
        return spec(mode, tf.reduce_sum(features), u)

    e = est.Estimator(model_fn, config=config(folder))
    r = error_of(lambda: e.train(repeat(np.ones([2], np.float32)), steps=10) and 1)
    return [r[:2], variables(folder)]


@case
def ema_read_by_model(folder):
    def model_fn(features, mode):
        w = tf.get_variable("w", [2], initializer=tf.ones_initializer())
        loss = tf.reduce_sum(tf.square(w * features - 3))
        step = tf.train.get_global_step()
        opt = tf.train.GradientDescentOptimizer(0.05).minimize(loss, step)
        ema = tf.train.ExponentialMovingAverage(0.9, num_updates=step, zero_debias=False)
        with tf.control_dependencies([opt]):
            train = ema.apply([w])
        act = tf.train.ExponentialMovingAverage(0.8, zero_debias=True)
        a_op = act.apply([loss])
        tf.summary.scalar("avg", act.average(loss))
        return est.EstimatorSpec(mode, loss=loss, train_op=tf.group(train, a_op))

    return steps_of(folder, model_fn, steps=4)


@case
def two_optimizers_one_step(folder):
    def model_fn(features, mode):
        a = tf.get_variable("a", [2], initializer=tf.ones_initializer())
        b = tf.get_variable("b", [2], initializer=tf.ones_initializer())
        l1 = tf.reduce_sum(tf.square(a * features - b))
        l2 = tf.reduce_sum(tf.square(b * features - a))
        o1 = tf.train.AdamOptimizer(0.1).minimize(l1, var_list=[a])
        with tf.control_dependencies([o1]):
            l2 = tf.reduce_sum(tf.square(b * features - a.read_value()))
            o2 = tf.train.AdamOptimizer(0.1).minimize(l2, tf.train.get_global_step(), var_list=[b])
        return est.EstimatorSpec(mode, loss=l1, train_op=o2)

    return steps_of(folder, model_fn, steps=4)


@case
def variables_list_ops(folder):
    """tf.variables_initializer run as part of a step: reset every third step."""

    def model_fn(features, mode):
        v = tf.get_variable("v", initializer=1.5)
        step = tf.train.get_or_create_global_step()
        add = tf.assign_add(v, 1.0)
        with tf.control_dependencies([add]):
            reset = tf.cond(tf.equal(step % 3, 2), lambda: tf.group(tf.assign(v, 0.0)), tf.no_op)
        return spec(mode, tf.reduce_sum(features), reset)

    return steps_of(folder, model_fn, steps=4)


@case
def py_func_state(folder):
    calls = []

    def model_fn(features, mode):
        def f(x):
            calls.append(float(x[0]))
            return np.float32(len(calls))

        y = tf.py_func(f, [features], tf.float32, stateful=True)
        y.set_shape([])
        t = tf.get_variable("t", initializer=0.0)
        return spec(mode, y, tf.assign_add(t, y))

    r = steps_of(folder, model_fn, steps=4)
    return [r, len(calls)]


@case
def py_func_errors(folder):
    out = []
    for error in (
        ValueError("boom"),
        StopIteration("x"),
        KeyError("k"),
        tf.errors.OutOfRangeError(None, None, "over"),
    ):

        def model_fn(features, mode):
            def f(x):
                raise error

            y = tf.py_func(f, [features], tf.float32)
            y.set_shape([])
            return spec(mode, y)

        e = est.Estimator(model_fn, config=config(tempfile.mkdtemp()))
        out.append(error_of(lambda: e.train(repeat(np.ones([2], np.float32)), steps=3) is e))
    return out
