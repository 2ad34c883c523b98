"""Optimizers, learning rates, gradients, slots and moving averages."""

from __future__ import annotations

import tempfile

from parity.differential.tools import case, config, error_of, est, events, np, repeat, tf, variables

X = np.array([[1.0, 2.0], [3.0, -1.0], [0.5, 0.25]], np.float32)

T = tf.train


def run(folder, optimizer, steps=4, how=None, loss_fn=None, sparse=True, dtype=tf.float32, **kw):
    def model_fn(features, mode):
        w = tf.get_variable("w", [2], dtype, initializer=tf.constant_initializer([0.5, -0.5]))
        e = tf.get_variable("e", [4, 2], dtype, initializer=tf.ones_initializer())
        loss = tf.reduce_sum(tf.square(tf.cast(features, dtype) * w - 3))
        if sparse:
            loss += tf.reduce_sum(tf.square(tf.nn.embedding_lookup(e, [0, 2, 2])))
        opt = optimizer()
        step = tf.train.get_global_step()
        train = how(opt, loss, step) if how else opt.minimize(loss, step)
        return est.EstimatorSpec(mode, loss=tf.cast(loss, tf.float32), train_op=train)

    e = est.Estimator(model_fn, config=config(folder, save_summary_steps=1))
    e.train(repeat(X), steps=steps)
    return [variables(folder), events(folder)]


OPTS = {
    "adadelta": lambda: T.AdadeltaOptimizer(0.5, epsilon=1e-4),
    "adagrad": lambda: T.AdagradOptimizer(0.1, 0.2),
    "adagrad_da": lambda: T.AdagradDAOptimizer(
        0.1, T.get_global_step(), l1_regularization_strength=0.01
    ),
    "adam": lambda: T.AdamOptimizer(0.01, 0.8, 0.9, 1e-3),
    "ftrl": lambda: T.FtrlOptimizer(
        0.1,
        l1_regularization_strength=0.01,
        l2_regularization_strength=0.1,
        l2_shrinkage_regularization_strength=0.01,
    ),
    "ftrl_beta": lambda: T.FtrlOptimizer(0.1, beta=0.2, learning_rate_power=-0.3),
    "sgd": lambda: T.GradientDescentOptimizer(0.01),
    "momentum": lambda: T.MomentumOptimizer(0.01, 0.9),
    "nesterov": lambda: T.MomentumOptimizer(0.01, 0.9, use_nesterov=True),
    "prox_adagrad": lambda: T.ProximalAdagradOptimizer(
        0.1, l1_regularization_strength=0.01, l2_regularization_strength=0.1
    ),
    "prox_sgd": lambda: T.ProximalGradientDescentOptimizer(0.01, 0.01, 0.1),
    "rmsprop": lambda: T.RMSPropOptimizer(0.01, 0.8, 0.5),
    "rmsprop_centered": lambda: T.RMSPropOptimizer(0.01, 0.8, 0.5, centered=True),
}


@case
def all_optimizers(folder):
    return {k: error_of(run, tempfile.mkdtemp(), o) for k, o in OPTS.items()}


@case
def tensor_learning_rate(folder):
    lr = lambda: T.piecewise_constant(T.get_global_step(), [1, 3], [0.1, 0.01, 0.001])
    ex = lambda: T.exponential_decay(0.1, T.get_global_step(), 2, 0.5, staircase=True)
    cs = lambda: T.cosine_decay_restarts(0.1, T.get_global_step(), 2)
    lambda: T.noisy_linear_cosine_decay(0.1, T.get_global_step(), 10, initial_variance=0.0)
    return [
        run(tempfile.mkdtemp(), lambda: o(f()))
        for f in (lr, ex, cs)
        for o in (T.GradientDescentOptimizer, T.AdamOptimizer)
    ] + [
        run(
            tempfile.mkdtemp(),
            lambda: T.MomentumOptimizer(
                lambda: T.polynomial_decay(0.1, T.get_global_step(), 4), lambda: 0.5
            ),
        )
    ]


@case
def clipping(folder):
    def glob(opt, loss, step):
        g, v = zip(*opt.compute_gradients(loss))
        g, n = tf.clip_by_global_norm(g, 1.0)
        tf.summary.scalar("norm", n)
        return opt.apply_gradients(zip(g, v), step)

    def each(opt, loss, step):
        gv = [(tf.clip_by_norm(g, 0.5), v) for g, v in opt.compute_gradients(loss) if g is not None]
        return opt.apply_gradients(gv, global_step=step)

    return [
        run(tempfile.mkdtemp(), OPTS["adam"], how=glob),
        run(tempfile.mkdtemp(), OPTS["adagrad"], how=each),
    ]


@case
def compute_gradients_args(folder):
    out = []
    O = T.Optimizer
    for kw in (
        dict(gate_gradients=O.GATE_NONE),
        dict(gate_gradients=O.GATE_GRAPH),
        dict(aggregation_method=tf.AggregationMethod.EXPERIMENTAL_ACCUMULATE_N),
        dict(aggregation_method=tf.AggregationMethod.EXPERIMENTAL_TREE),
        dict(colocate_gradients_with_ops=True),
        dict(grad_loss=None),
    ):
        out.append(run(tempfile.mkdtemp(), OPTS["sgd"], how=lambda o, l, s: o.minimize(l, s, **kw)))
    out.append(
        run(
            tempfile.mkdtemp(),
            OPTS["adam"],
            how=lambda o, l, s: o.minimize(
                l, s, var_list=[tf.trainable_variables()[0]], name="named"
            ),
        )
    )
    out.append(
        error_of(
            run,
            tempfile.mkdtemp(),
            OPTS["adam"],
            how=lambda o, l, s: o.minimize(tf.constant(1.0), s),
        )[:2]
    )
    out.append(
        error_of(
            run, tempfile.mkdtemp(), OPTS["adam"], how=lambda o, l, s: o.minimize(l, s, var_list=[])
        )[:2]
    )
    out.append(
        error_of(run, tempfile.mkdtemp(), OPTS["adam"], how=lambda o, l, s: o.minimize(None, s))[:2]
    )
    return out


@case
def loss_scale(folder):
    out = []
    out.append(
        run(
            tempfile.mkdtemp(),
            lambda: tf.mixed_precision.MixedPrecisionLossScaleOptimizer(OPTS["sgd"](), 128.0),
        )
    )
    out.append(
        run(
            tempfile.mkdtemp(),
            lambda: tf.mixed_precision.MixedPrecisionLossScaleOptimizer(
                OPTS["adam"](),
                tf.mixed_precision.DynamicLossScale(initial_loss_scale=64.0, increment_period=2),
            ),
        )
    )
    return out


@case
def mixed_graph_rewrite(folder):
    return run(
        folder,
        lambda: tf.train.experimental.enable_mixed_precision_graph_rewrite(
            OPTS["sgd"](), "dynamic"
        ),
    )[0].keys()


@case
def doubles_and_halves(folder):
    return [
        run(tempfile.mkdtemp(), OPTS["adam"], dtype=tf.float64),
        run(tempfile.mkdtemp(), OPTS["momentum"], dtype=tf.float64),
        run(tempfile.mkdtemp(), OPTS["sgd"], dtype=tf.float16),
    ]


@case
def slots(folder):
    out = []

    def how(opt, loss, step):
        t = opt.minimize(loss, step)
        out.append([opt.get_slot_names(), opt.get_name(), sorted(v.name for v in opt.variables())])
        return t

    run(tempfile.mkdtemp(), OPTS["adam"], how=how)
    run(tempfile.mkdtemp(), OPTS["rmsprop_centered"], how=how)
    return out


@case
def accumulation_cond(folder):
    def how(opt, loss, step):
        gvs = opt.compute_gradients(
            loss, [v for v in tf.trainable_variables() if v.name.startswith("w")]
        )
        acc = [
            tf.get_variable("acc", v.shape, initializer=tf.zeros_initializer(), trainable=False)
            for g, v in gvs
        ]
        adds = [tf.assign_add(a, g) for a, (g, v) in zip(acc, gvs)]

        def apply():
            t = opt.apply_gradients([(a.read_value() / 2, v) for a, (g, v) in zip(acc, gvs)])
            with tf.control_dependencies([t]):
                return tf.group(*[tf.assign(a, tf.zeros_like(a)) for a in acc])

        with tf.control_dependencies(adds):
            c = tf.cond(tf.equal(step % 2, 1), apply, tf.no_op)
        with tf.control_dependencies([c]):
            return tf.assign_add(step, 1)

    return [
        run(tempfile.mkdtemp(), OPTS[k], how=how, sparse=False, steps=5)
        for k in ("sgd", "momentum")
    ]


@case
def adam_in_cond(folder):
    def how(opt, loss, step):
        gvs = opt.compute_gradients(loss)
        return tf.cond(
            tf.equal(step % 2, 0),
            lambda: opt.apply_gradients(gvs, step),
            lambda: tf.group(tf.assign_add(step, 1)),
        )

    return error_of(run, folder, OPTS["adam"], how=how, sparse=False)


@case
def own_optimizer(folder):
    class Mine(T.Optimizer):
        def __init__(self):
            super().__init__(False, "Mine")

        def _create_slots(self, vs):
            for v in vs:
                self._zeros_slot(v, "sum", self._name)

        def _apply_dense(self, g, v):
            s = self.get_slot(v, "sum")
            u = tf.assign_add(s, g)
            return tf.assign_sub(v, 0.01 * u)

        def _resource_apply_dense(self, g, v):
            s = self.get_slot(v, "sum")
            u = s.assign_add(g)
            with tf.control_dependencies([u]):
                return v.assign_sub(0.01 * s.read_value())

        def _resource_apply_sparse(self, g, v, i):
            return v.scatter_sub(tf.IndexedSlices(0.01 * g, i))

        def _apply_sparse(self, g, v):
            return v.scatter_sub(tf.IndexedSlices(0.01 * g.values, g.indices))

        def _finish(self, ops, name):
            with tf.control_dependencies(ops):
                return tf.group(
                    tf.assign_add(tf.get_variable("fin", initializer=0, trainable=False), 1),
                    name=name,
                )

    return run(folder, Mine)


@case
def hand_written_adamw(folder):
    """BERT's optimizer."""

    def how(opt, loss, step):
        tv = tf.trainable_variables()
        g = tf.gradients(loss, tv)
        (g, _) = tf.clip_by_global_norm(g, clip_norm=1.0)
        ass = []
        for gg, p in zip(g, tv):
            n = p.name[:-2]
            m = tf.get_variable(
                name=n + "/adam_m",
                shape=p.shape.as_list(),
                dtype=tf.float32,
                trainable=False,
                initializer=tf.zeros_initializer(),
            )
            v = tf.get_variable(
                name=n + "/adam_v",
                shape=p.shape.as_list(),
                dtype=tf.float32,
                trainable=False,
                initializer=tf.zeros_initializer(),
            )
            nm = tf.multiply(0.9, m) + tf.multiply(0.1, tf.convert_to_tensor(gg))
            nv = tf.multiply(0.999, v) + tf.multiply(0.001, tf.square(tf.convert_to_tensor(gg)))
            up = nm / (tf.sqrt(nv) + 1e-6) + 0.01 * p
            ass.extend([p.assign(p - 0.1 * up), m.assign(nm), v.assign(nv)])
        return tf.group(tf.group(*ass), [step.assign(step + 1)])

    return run(folder, OPTS["sgd"], how=how)


@case
def keras_optimizers(folder):

    def how(opt, loss, step):
        opt.iterations = step
        vs = tf.trainable_variables()
        return tf.group(*opt.get_updates(loss, vs))

    out = []
    L = tf.keras.optimizers.legacy
    for o in (
        lambda: L.Adam(0.1),
        lambda: L.SGD(0.01, momentum=0.9, nesterov=True),
        lambda: L.RMSprop(0.01),
        lambda: L.Ftrl(0.01),
        lambda: L.Nadam(0.01),
        lambda: L.Adamax(0.01),
    ):
        out.append(error_of(run, tempfile.mkdtemp(), o, how=how))
    return out


@case
def moving_average_swap(folder):
    """variables_to_restore of an EMA in the Scaffold of EVAL."""

    def model_fn(features, mode):
        w = tf.get_variable("w", [2], initializer=tf.ones_initializer())
        loss = tf.reduce_sum(tf.square(features * w - 3))
        ema = tf.train.ExponentialMovingAverage(0.5)
        if mode == est.ModeKeys.TRAIN:
            t = OPTS["sgd"]().minimize(loss, tf.train.get_global_step())
            with tf.control_dependencies([t]):
                t = ema.apply(tf.trainable_variables())
            return est.EstimatorSpec(mode, loss=loss, train_op=t)
        saver = tf.train.Saver(ema.variables_to_restore())
        return est.EstimatorSpec(
            mode,
            loss=loss,
            predictions={"w": w + 0 * features},
            scaffold=tf.train.Scaffold(saver=saver),
        )

    e = est.Estimator(model_fn, config=config(folder))
    e.train(repeat(X), steps=4)
    return [variables(folder), e.evaluate(repeat(X, n=1)), list(e.predict(repeat(X, n=1)))]


@case
def grad_summaries_and_names(folder):
    """Names of ops that programs look up by name."""
    out = []

    def model_fn(features, mode):
        w = tf.get_variable("w", [2], initializer=tf.ones_initializer())
        loss = tf.reduce_sum(tf.square(features * w - 3))
        opt = OPTS["adam"]()
        gv = opt.compute_gradients(loss)
        for g, v in gv:
            tf.summary.histogram(v.op.name + "/grad", g)
        t = opt.apply_gradients(gv, tf.train.get_global_step(), name="trainer")
        g = tf.get_default_graph()
        out.append(
            [
                t.name,
                g.get_operation_by_name("trainer").name,
                w.name,
                w.op.name,
                g.get_tensor_by_name("beta1_power:0").dtype.base_dtype.name,
                g.seed,
            ]
        )
        return est.EstimatorSpec(mode, loss=loss, train_op=t)

    e = est.Estimator(model_fn, config=config(folder, save_summary_steps=2))
    e.train(repeat(X), steps=4)
    return [out, events(folder)]
