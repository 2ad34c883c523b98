"""Estimators beside threads, eager code, Keras layers, and a program's own graph."""

from __future__ import annotations

import tempfile
import threading

from parity.differential.cases.outer_loop import X, make, model_fn
from parity.differential.tools import case, error_of, est, np, repeat, tf, tf2, variables


@case
def in_threads(folder):
    out = [None] * 3

    def run(i):
        def go():
            e = make(folder + "/%d" % i)
            e.train(repeat(X * (i + 1)), steps=3)
            return [variables(folder + "/%d" % i), e.evaluate(repeat(X, n=2))["m"]]

        out[i] = error_of(go)

    ts = [threading.Thread(target=run, args=(i,)) for i in range(3)]
    [t.start() for t in ts]
    [t.join(200) for t in ts]
    return out


@case
def one_estimator_in_threads(folder):
    """Evaluations of one estimator at once."""
    e = make(folder)
    e.train(repeat(X), steps=3)
    out = [None] * 3

    def run(i):
        out[i] = error_of(
            lambda: [
                e.evaluate(repeat(X * (i + 1), n=2), name=str(i))["m"],
                next(iter(e.predict(repeat(X * (i + 1), n=1))))["w"],
            ]
        )

    ts = [threading.Thread(target=run, args=(i,)) for i in range(3)]
    [t.start() for t in ts]
    [t.join(200) for t in ts]
    return out


@case
def tensors_from_outside(folder):
    """input_fn that returns tensors of another graph; a model that closes over an eager tensor."""
    c = tf.constant([1.0, 2.0])
    out = [error_of(make(tempfile.mkdtemp()).train, lambda: c, steps=1)[:2]]

    def mf(features, labels, mode):
        s = model_fn(features, labels, mode)
        return s._replace(loss=s.loss * tf.reduce_sum(c))

    out.append(error_of(lambda: make(folder, mf).train(repeat(X), steps=1) and 1)[:2])

    def mf2(features, labels, mode):
        s = model_fn(features, labels, mode)
        return s._replace(
            loss=s.loss * tf.reduce_sum(tf.constant(c.numpy() if hasattr(c, "numpy") else 1.0))
        )

    out.append(error_of(lambda: make(tempfile.mkdtemp(), mf2).train(repeat(X), steps=1) and 1)[:2])
    ds = tf.data.Dataset.from_tensors(X).repeat()
    out.append(error_of(lambda: make(tempfile.mkdtemp()).train(lambda: ds, steps=1) and 1)[:2])
    return out


@case(only="v2on")
def eager_between(folder):
    e = make(folder)
    v = tf2.Variable(1.0)
    f = tf2.function(v.assign_add)
    e.train(repeat(X), steps=2)
    f(tf2.constant(2.0))
    model = tf.keras.Sequential([tf.keras.layers.Dense(1, kernel_initializer="ones")])
    y = model(tf2.ones([1, 2]))
    e.train(repeat(X), steps=2)
    y2 = error_of(lambda: model(tf2.ones([1, 2])).numpy())
    model.compile("sgd", "mse")
    h = error_of(lambda: model.fit(np.ones([4, 2]), np.ones([4, 1]), verbose=0).history["loss"])
    e.evaluate(repeat(X, n=1))
    return [variables(folder), f(tf2.constant(1.0)).numpy(), y.numpy(), y2, h]


@case(only="v2on")
def keras_layer_before(folder):
    """A Keras layer made eagerly, built, used again after a train()."""
    a = tf.keras.layers.Dense(2, kernel_initializer="ones")
    b = tf.keras.layers.LSTM(2, kernel_initializer="ones", recurrent_initializer="ones")
    a(tf2.ones([1, 2])), b(tf2.ones([1, 2, 2]))
    m = tf.keras.metrics.Mean()
    m.update_state(2.0)
    o = tf.keras.optimizers.legacy.Adam(0.1)
    make(folder).train(repeat(X), steps=1)

    def more():
        v = a.trainable_variables[0]
        with tf2.GradientTape() as t:
            l = tf2.reduce_sum(a(tf2.ones([1, 2])))
        o.apply_gradients([(t.gradient(l, v), v)])
        return v.numpy()

    return [
        error_of(lambda: a(tf2.ones([1, 2])).numpy()),
        error_of(lambda: b(tf2.ones([1, 2, 2])).numpy()),
        error_of(lambda: m.result().numpy()),
        error_of(more),
        error_of(
            lambda: tf.keras.layers.Dense(2, kernel_initializer="ones")(tf2.ones([1, 2])).numpy()
        ),
        error_of(tf.keras.layers.Dropout(0.5)(tf2.ones([1, 2])).shape.as_list),
    ]


@case
def keras_layer_in_closure(folder):
    """A Keras layer made outside and called in model_fn."""
    layer = tf.keras.layers.Dense(1, kernel_initializer="ones")

    def mf(features, labels, mode):
        s = model_fn(features, labels, mode)
        return s._replace(loss=s.loss + tf.reduce_sum(layer(features[None])))

    return error_of(lambda: make(folder, mf).train(repeat(X), steps=1) and 1)


@case(only="v2on")
def check_numerics_enabled(folder):
    tf2.debugging.enable_check_numerics()
    try:

        def mf(features, labels, mode):
            w = tf.get_variable("w", [2], initializer=tf.ones_initializer())
            loss = tf.reduce_sum(tf.log(w * features - 3.0))
            return est.EstimatorSpec(
                mode, loss=loss, train_op=tf.assign_add(tf.train.get_global_step(), 1)
            )

        return error_of(lambda: make(folder, mf).train(repeat(X), steps=1) and 1)[:2]
    finally:
        tf2.debugging.disable_check_numerics()


@case(only="v2on")
def run_functions_eagerly(folder):
    tf2.config.run_functions_eagerly(True)
    try:
        e = make(folder)
        e.train(repeat(X), steps=3)
        return [variables(folder), e.evaluate(repeat(X, n=2)), list(e.predict(repeat(X, n=1)))]
    finally:
        tf2.config.run_functions_eagerly(False)


@case
def inside_graph_and_session(folder):
    """Within a program's own graph and session."""
    with tf.Graph().as_default() as g, tf.Session() as s:
        a = tf.get_variable("w", [5], initializer=tf.ones_initializer())
        s.run(tf.global_variables_initializer())
        e = make(folder)
        e.train(repeat(X), steps=2)
        r = [
            variables(folder),
            s.run(a),
            [v.name for v in tf.global_variables()],
            tf.get_default_graph() is g,
            tf.get_default_session() is s,
        ]
        r.append(e.evaluate(repeat(X, n=1))["m"])
        b = tf.constant(2.0) * a
        r.append(s.run(b))
        p = e.predict(repeat(X, n=2))
        next(p)
        r.append(tf.get_default_graph() is g)
    return r
