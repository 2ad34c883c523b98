"""Variables: how they are made, named, shared, initialized and drawn."""

from __future__ import annotations

from parity.differential.tools import case, config, est, np, repeat, tf, tf2, variables


def steps_of(folder, model_fn, steps=3, input_fn=None, params=None, **kw):
    e = est.Estimator(model_fn, config=config(folder, **kw), params=params)
    e.train(input_fn or repeat(np.array([1.0, 2.0], np.float32)), steps=steps)
    return variables(folder)


def spec(mode, loss, *ops):
    step = tf.train.get_or_create_global_step()
    with tf.control_dependencies([o for o in ops if o is not None]):
        train_op = tf.assign_add(step, 1)
    return est.EstimatorSpec(mode, loss=loss, train_op=train_op)


@case
def validate_shape_false(folder):
    def model_fn(features, mode):
        v = tf.Variable(np.zeros([1], np.float32), validate_shape=False, name="v")
        new = tf.concat([tf.reshape(v.read_value(), [-1]), features[:1]], 0)
        u = tf.assign(v, new, validate_shape=False)
        return spec(mode, tf.reduce_sum(features), u)

    return steps_of(folder, model_fn)


@case
def shape_none_variable(folder):
    def model_fn(features, mode):
        v = tf.Variable(
            np.zeros([1], np.float32), shape=tf.TensorShape([None]), name="v", use_resource=True
        )
        u = v.assign(tf.concat([v.read_value(), features[:1]], 0))
        return spec(mode, tf.reduce_sum(features), u)

    return steps_of(folder, model_fn)


@case
def local_variables(folder):
    def model_fn(features, mode):
        local = tf.get_local_variable("local", shape=[], initializer=tf.zeros_initializer())
        total = tf.get_variable("total", initializer=0.0)
        u = tf.assign_add(local, 1.0)
        with tf.control_dependencies([u]):
            t = tf.assign_add(total, local.read_value())
        return spec(mode, tf.reduce_sum(features), t)

    e = est.Estimator(model_fn, config=config(folder))
    e.train(repeat(np.ones([2], np.float32)), steps=3)
    a = variables(folder)
    e.train(repeat(np.ones([2], np.float32)), steps=2)
    return [a, variables(folder)]


@case
def variable_in_cond(folder):
    def model_fn(features, mode):
        def yes():
            v = tf.get_variable("inner", [2], initializer=tf.ones_initializer())
            return tf.reduce_sum(v * features)

        def no():
            v = tf.get_variable("other", [2], initializer=tf.ones_initializer())
            return tf.reduce_sum(v) * 3

        loss = tf.cond(features[0] > 0, yes, no)
        train = tf.train.GradientDescentOptimizer(0.1).minimize(loss, tf.train.get_global_step())
        return est.EstimatorSpec(mode, loss=loss, train_op=train)

    return steps_of(folder, model_fn)


@case
def reuse_and_getter(folder):
    def model_fn(features, mode):
        def getter(getter, name, *a, **kw):
            v = getter(name + "_x", *a, **kw)
            return v * 2.0 if name.endswith("w") else v

        with tf.variable_scope(
            "s",
            custom_getter=getter,
            reuse=tf.AUTO_REUSE,
            regularizer=lambda w: 0.1 * tf.reduce_sum(w),
            initializer=tf.ones_initializer(),
        ):
            a = tf.get_variable("w", [2])
            b = tf.get_variable("w", [2])
            c = tf.get_variable("c", [2], constraint=lambda v: tf.clip_by_value(v, 0.0, 0.8))
        with tf.variable_scope("s", reuse=True):
            pass
        loss = tf.reduce_sum((a + b + c) * features) + tf.losses.get_regularization_loss()
        train = tf.train.GradientDescentOptimizer(0.1).minimize(loss, tf.train.get_global_step())
        return est.EstimatorSpec(mode, loss=loss, train_op=train)

    return steps_of(folder, model_fn)


@case
def reuse_error(folder):
    def model_fn(features, mode):
        tf.get_variable("w", [2])
        tf.get_variable("w", [2])

    return steps_of(folder, model_fn)


@case
def partitioned_embedding(folder):
    def model_fn(features, mode):
        with tf.variable_scope("emb", partitioner=tf.fixed_size_partitioner(3)):
            table = tf.get_variable("t", [7, 2], initializer=tf.ones_initializer())
            t2 = tf.get_variable("t2", [7, 2], initializer=tf.truncated_normal_initializer(seed=3))
        ids = tf.constant([0, 3, 6, 6])
        x = tf.nn.embedding_lookup(table, ids, partition_strategy="div")
        sp = tf.SparseTensor([[0, 0], [0, 1], [1, 0]], tf.constant([1, 5, 2], tf.int64), [2, 2])
        w = tf.SparseTensor([[0, 0], [0, 1], [1, 0]], tf.constant([1.0, 0.5, 2.0]), [2, 2])
        y = tf.nn.embedding_lookup_sparse(
            t2, sp, w, combiner="sqrtn", partition_strategy="mod", max_norm=1.0
        )
        loss = (
            tf.reduce_sum(tf.square(x))
            + tf.reduce_sum(y * y)
            + tf.reduce_sum(tf.convert_to_tensor(table) ** 2)
        )
        train = tf.train.AdagradOptimizer(0.1).minimize(loss, tf.train.get_global_step())
        return est.EstimatorSpec(mode, loss=loss, train_op=train)

    return steps_of(folder, model_fn)


@case
def dtypes(folder):
    def model_fn(features, mode):
        ops = [
            tf.assign(tf.get_variable("b", initializer=False), tf.constant(True)),
            tf.assign_add(tf.get_variable("i", initializer=np.int64(3)), 4),
            tf.assign_add(tf.get_variable("h", initializer=np.float16(0.5)), 0.25),
            tf.assign_add(tf.get_variable("d", initializer=np.float64(0.1)), 0.1),
            tf.assign_add(tf.get_variable("z", initializer=np.complex64(1j)), 1),
            tf.assign(tf.get_variable("s", initializer="x"), tf.constant("yes")),
            tf.assign_add(tf.get_variable("u", initializer=np.int32(1)), 3),
        ]
        return spec(mode, tf.reduce_sum(features), *ops)

    return steps_of(folder, model_fn)


@case
def initial_value_of_other(folder):
    def model_fn(features, mode):
        a = tf.get_variable("a", [3], initializer=tf.random_normal_initializer(seed=5))
        b = tf.Variable(a.initialized_value() * 2, name="b")
        tf.Variable(lambda: tf.ones([2]) * 3, name="c")
        return spec(mode, tf.reduce_sum(features), tf.assign_add(b, a))

    return steps_of(folder, model_fn, steps=1)


@case
def unseeded_random_init(folder):
    def model_fn(features, mode):
        tf.get_variable("a", [3])
        tf.get_variable("b", [3], initializer=tf.random_uniform_initializer())
        x = tf.nn.dropout(tf.matmul(features[None], tf.get_variable("l", [2, 3])), keep_prob=0.5)
        noise = tf.random_normal([3])
        seeded = tf.random_uniform([2], seed=4)
        n = tf.get_variable("n", [3], initializer=tf.zeros_initializer())
        m = tf.get_variable("m", [2], initializer=tf.zeros_initializer())
        dr = tf.get_variable("dr", [1, 3], initializer=tf.zeros_initializer())
        return spec(
            mode,
            tf.reduce_sum(x),
            tf.assign_add(n, noise),
            tf.assign_add(m, seeded),
            tf.assign_add(dr, x),
        )

    return steps_of(folder, model_fn)


@case
def random_in_while_and_shuffle(folder):
    def model_fn(features, mode):
        n = tf.get_variable("n", [5], initializer=tf.zeros_initializer())
        m = tf.get_variable("m", [], initializer=tf.zeros_initializer())
        g = tf.get_variable("g", [2], initializer=tf.zeros_initializer())
        mu = tf.get_variable("mu", [1, 4], tf.int64, initializer=tf.zeros_initializer())
        s = tf.random_shuffle(tf.range(5.0), seed=1)
        loop = tf.while_loop(
            lambda i, x: i < 3, lambda i, x: (i + 1, x + tf.random_uniform([], seed=2)), [0, 0.0]
        )
        gam = tf.random_gamma([2], 1.5, seed=3)
        mult = tf.random.multinomial([[0.1, 0.2, 0.7]], 4, seed=9)
        return spec(
            mode,
            tf.reduce_sum(features),
            tf.assign_add(n, s),
            tf.assign_add(m, loop[1]),
            tf.assign_add(g, gam),
            tf.assign_add(mu, mult),
        )

    return steps_of(folder, model_fn)


@case
def uninitialized_other_collection(folder):
    def model_fn(features, mode):
        v = tf.Variable(5.0, name="hidden", collections=["mine"], trainable=False)
        w = tf.get_variable("w", initializer=1.0)
        return spec(mode, tf.reduce_sum(features), tf.assign_add(w, v))

    return steps_of(folder, model_fn)


@case
def is_initialized_in_step(folder):
    def model_fn(features, mode):
        v = tf.get_variable("v", initializer=1.5)
        ok = tf.is_variable_initialized(v)
        n = tf.get_variable("n", initializer=0)
        return spec(mode, tf.reduce_sum(features), tf.assign_add(n, tf.cast(ok, tf.int32)))

    return steps_of(folder, model_fn, steps=4)


@case
def non_global_step_collections(folder):
    """A trainable variable made in a name scope; get_collection; model variables."""

    def model_fn(features, mode):
        with tf.name_scope("scope"):
            tf.Variable([1.0, 2.0])
            w = tf.Variable(3.0, trainable=False)
        with tf.variable_scope("vs", use_resource=True) as s:
            tf.get_variable("u", [], initializer=tf.ones_initializer())
            with tf.variable_scope(s, auxiliary_name_scope=False):
                tf.Variable(3.0, name="t")
        names = [x.name for x in tf.global_variables()] + [
            x.op.type for x in tf.global_variables()
        ][:0]
        tf.get_collection_ref("names").append(1)
        spec_ = spec(mode, tf.reduce_sum(features), tf.assign_add(w, float(len(names))))
        return spec_

    return steps_of(folder, model_fn, steps=1)


@case
def state_in_tf_function(folder):
    @tf2.function
    def f(x):
        return x * 2 + tf2.cast(tf2.shape(x)[0], tf2.float32)

    def model_fn(features, mode):
        w = tf.get_variable("w", [2], initializer=tf.ones_initializer())
        loss = tf.reduce_sum(f(w * features))
        train = tf.train.GradientDescentOptimizer(0.1).minimize(loss, tf.train.get_global_step())
        return est.EstimatorSpec(mode, loss=loss, train_op=train)

    return steps_of(folder, model_fn)
