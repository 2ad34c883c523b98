"""Loops, tensor arrays and recurrent networks."""

from __future__ import annotations

from parity.differential.tools import case, config, est, events, np, repeat, tf, variables

X = np.arange(24, dtype=np.float32).reshape(2, 4, 3) / 10


def run(folder, net, steps=3, x=X, opt=None, **kw):
    def model_fn(features, mode):
        loss, extra = net(features), {}
        if isinstance(loss, tuple):
            loss, extra = loss
        step = tf.train.get_global_step()
        ops = []
        for k, v in extra.items():
            keep = tf.get_variable(
                "keep_" + k, v.shape, v.dtype, initializer=tf.zeros_initializer(), trainable=False
            )
            ops.append(tf.assign(keep, v))
        if tf.trainable_variables():
            train = (opt or tf.train.GradientDescentOptimizer(0.01)).minimize(loss)
        else:
            train = tf.no_op()
        with tf.control_dependencies([train, *ops]):
            train = tf.assign_add(step, 1)
        return est.EstimatorSpec(mode, loss=loss, train_op=train)

    e = est.Estimator(model_fn, config=config(folder, save_summary_steps=1))
    e.train(repeat(x), steps=steps)
    return {"v": variables(folder), "e": [r for r in events(folder) if r[0] == "loss"]}


def w(name="w", shape=(3, 3), seed=1):
    return tf.get_variable(
        name, shape, initializer=tf.random_normal_initializer(stddev=0.5, seed=seed)
    )


@case
def while_tensorarray(folder):
    def net(x):
        k = w()
        ta = tf.TensorArray(tf.float32, size=4, element_shape=[2, 3])

        def body(i, ta, h):
            h = tf.tanh(tf.matmul(x[:, i], k) + h)
            return i + 1, ta.write(i, h), h

        _, ta, h = tf.while_loop(
            lambda i, *_: i < 4,
            body,
            [0, ta, tf.zeros([2, 3])],
            parallel_iterations=3,
            swap_memory=True,
        )
        return tf.reduce_sum(ta.stack() ** 2), {"h": h}

    return run(folder, net)


@case
def while_dynamic_ta(folder):
    def net(x):
        k = w()
        ta = tf.TensorArray(
            tf.float32, size=0, dynamic_size=True, clear_after_read=False, infer_shape=False
        )

        def body(i, ta):
            return [i + 1, ta.write(i, tf.matmul(x[0, i : i + 1], k))]

        n = tf.cast(tf.reduce_sum(x[0, 0]) * 10, tf.int32)
        _, ta = tf.while_loop(lambda i, *_: i < n, body, [0, ta], maximum_iterations=4)
        c = ta.concat()
        return tf.reduce_sum(c**2) + tf.cast(ta.size(), tf.float32)

    return run(folder, net)


@case
def ta_unstack_gather_split(folder):
    def net(x):
        k = w()
        ta = tf.TensorArray(tf.float32, 2).unstack(tf.einsum("bij,jk->bik", x, k))
        s = ta.gather([1, 0])
        t2 = tf.TensorArray(tf.float32, 2, infer_shape=False).split(tf.matmul(x[0], k), [1, 3])
        return tf.reduce_sum(s * s) + tf.reduce_sum(t2.read(1))

    return run(folder, net)


@case(races="a side value is assigned beside the update")
def scan_map_fold(folder):
    def net(x):
        k = w()
        s = tf.scan(
            lambda a, b: tf.tanh(tf.matmul(a, k) + b),
            tf.transpose(x, [1, 0, 2]),
            initializer=tf.zeros([2, 3]),
        )
        m = tf.map_fn(
            lambda r: (tf.matmul(r, k), tf.reduce_sum(r)), x, dtype=(tf.float32, tf.float32)
        )
        f = tf.foldl(lambda a, b: a + tf.reduce_sum(tf.matmul(b, k)), x, initializer=0.0)
        g = tf.foldr(lambda a, b: a * 0.5 + tf.reduce_sum(b), x, initializer=1.0)
        s2 = tf.scan(lambda a, b: a + b, tf.reduce_sum(x, 2), reverse=True)
        return tf.reduce_sum(s) + tf.reduce_sum(m[0] ** 2) + tf.reduce_sum(m[1]) + f + g, {"s2": s2}

    return run(folder, net)


def cell(n=4, seed=3, c=None):
    return (c or tf.nn.rnn_cell.LSTMCell)(
        n, initializer=tf.random_uniform_initializer(-0.3, 0.3, seed=seed)
    )


@case
def dynamic_rnn(folder):
    def net(x):
        c = tf.nn.rnn_cell.MultiRNNCell(
            [cell(), tf.nn.rnn_cell.DropoutWrapper(cell(seed=4), output_keep_prob=1.0)]
        )
        out, state = tf.nn.dynamic_rnn(c, x, sequence_length=[2, 4], dtype=tf.float32)
        return tf.reduce_sum(out**2), {"c": state[1].c}

    return run(folder, net)


@case
def bidirectional_gru(folder):
    def net(x):
        f = tf.nn.rnn_cell.GRUCell(
            3, kernel_initializer=tf.random_uniform_initializer(-0.3, 0.3, seed=3)
        )
        b = tf.nn.rnn_cell.GRUCell(
            3, kernel_initializer=tf.random_uniform_initializer(-0.3, 0.3, seed=5)
        )
        out, st = tf.nn.bidirectional_dynamic_rnn(
            f,
            b,
            tf.transpose(x, [1, 0, 2]),
            sequence_length=[3, 4],
            dtype=tf.float32,
            time_major=True,
        )
        return tf.reduce_sum(tf.concat(out, 2) ** 2), {"a": st[0], "b": st[1]}

    return run(folder, net)


@case
def raw_rnn(folder):
    def net(x):
        c = cell()
        ta = tf.TensorArray(tf.float32, 4).unstack(tf.transpose(x, [1, 0, 2]))
        lens = tf.constant([2, 4])

        def loop_fn(time, out, state, loop_state):
            nxt = c.zero_state(2, tf.float32) if out is None else state
            is_done = time >= lens
            inp = tf.cond(tf.reduce_all(is_done), lambda: tf.zeros([2, 3]), lambda: ta.read(time))
            return is_done, inp, nxt, out, None

        outs, state, _ = tf.nn.raw_rnn(c, loop_fn)
        return tf.reduce_sum(outs.stack() ** 2), {"c": state.c}

    return run(folder, net)


@case
def static_rnn(folder):
    def net(x):
        outs, _st = tf.nn.static_rnn(
            tf.nn.rnn_cell.BasicRNNCell(3), tf.unstack(x, axis=1), dtype=tf.float32
        )
        return tf.reduce_sum(outs[-1] ** 2 * 0) + tf.reduce_sum(x)

    r = run(folder, net)
    return sorted(r["v"])


@case
def beam_search(folder):
    def net(x):
        k = w(shape=(5, 5))
        logits = tf.nn.log_softmax(k)

        def body(i, seqs, scores):
            last = seqs[:, i]
            step = tf.gather(logits, last) + scores[:, None]
            top, idx = tf.nn.top_k(tf.reshape(step, [-1]), 3)
            seqs = tf.concat([tf.gather(seqs, idx // 5), (idx % 5)[:, None]], 1)
            return i + 1, seqs, top

        _i, seqs, scores = tf.while_loop(
            lambda i, *_: i < 4,
            body,
            [0, tf.zeros([3, 1], tf.int32), tf.constant([0.0, -1e9, -1e9])],
            shape_invariants=[tf.TensorShape([]), tf.TensorShape([3, None]), tf.TensorShape([3])],
            back_prop=True,
        )
        return -tf.reduce_sum(scores), {"seqs": tf.ensure_shape(seqs, [3, 5])}

    return run(folder, net)


@case
def while_var_read_inside(folder):
    """A loop that reads the variable which it writes."""

    def net(x):
        v = tf.get_variable("v", initializer=1.0, trainable=False)
        k = w()

        def body(i):
            a = tf.assign(v, v.read_value() * 2)
            with tf.control_dependencies([a]):
                return i + 1

        loop = tf.while_loop(lambda i: i < 3, body, [0], parallel_iterations=1)
        with tf.control_dependencies([loop]):
            return tf.reduce_sum(k**2) * v.read_value()

    return run(folder, net)


@case
def tensor_list_and_ragged(folder):
    def net(x):
        k = w()
        r = tf.RaggedTensor.from_row_splits(tf.matmul(x[0], k), [0, 1, 4])
        return tf.reduce_sum(tf.reduce_mean(r, 1)) + tf.reduce_sum(r.to_tensor() ** 2)

    return run(folder, net)
