"""Summaries, losses, and when event files are written."""

from __future__ import annotations

import tempfile

from parity.differential.cases.metrics import data
from parity.differential.tools import (
    case,
    config,
    error_of,
    est,
    event_kinds,
    events,
    files,
    tf,
    tf2,
    variables,
)


@case
def eval_summaries(folder):
    """tf.summary in EVAL mode."""

    def model_fn(features, labels, mode):
        step = tf.train.get_global_step()
        loss = tf.reduce_mean(features["s"])
        tf.summary.scalar("x/y", loss)
        tf.summary.scalar("fam", loss, family="family")
        with tf.name_scope("scope"):
            tf.summary.histogram("h", features["p"])
        tf.summary.image("img", tf.ones([2, 3, 3, 1]), max_outputs=2)
        tf.summary.audio("aud", tf.zeros([1, 20]), 100)
        tf.summary.text("txt", tf.constant(["a", "b"]))
        tf.summary.tensor_summary("ten", features["p"][0])
        return est.EstimatorSpec(mode, loss=loss, train_op=tf.assign_add(step, 1))

    e = est.Estimator(model_fn, config=config(folder, save_summary_steps=2))
    e.train(data(12, True), steps=5)
    e.evaluate(data())
    return [
        events(folder),
        event_kinds(folder),
        events(folder + "/eval"),
        event_kinds(folder + "/eval"),
    ]


@case
def summary_cadence(folder):
    out = []

    def model_fn(features, labels, mode):
        step = tf.train.get_global_step()
        loss = tf.cast(step, tf.float32)
        tf.summary.scalar("s", loss)
        return est.EstimatorSpec(
            mode, loss=loss + 0 * tf.reduce_sum(features["s"]), train_op=tf.assign_add(step, 1)
        )

    for kw in (
        dict(save_summary_steps=3),
        dict(save_summary_steps=0),
        dict(save_summary_steps=None),
        dict(save_summary_steps=2, log_step_count_steps=None),
        dict(save_summary_steps=5, log_step_count_steps=2),
        dict(save_checkpoints_steps=2, save_summary_steps=3),
        dict(save_checkpoints_steps=None, save_checkpoints_secs=None),
    ):
        m = tempfile.mkdtemp()

        def go():
            e = est.Estimator(model_fn, config=config(m, **kw))
            e.train(data(12, True), steps=7)
            e.train(data(12, True), steps=4)
            return 1

        out.append(
            [
                str(kw),
                error_of(go)[:2],
                [r[:4] for r in events(m, skip=()) if "sec" not in r[0]],
                [r[1] for r in events(m, skip=()) if "sec" in r[0]],
                [f for f in files(m) if "index" in f],
                event_kinds(m),
            ]
        )
    return out


@case
def summary_v2_in_model(folder):
    def model_fn(features, labels, mode):
        step = tf.train.get_global_step()
        loss = tf.reduce_mean(features["s"])
        w = tf2.summary.create_file_writer(folder + "/v2")
        with w.as_default(), tf2.summary.record_if(lambda: tf.equal(step % 2, 0)):
            tf2.summary.write("v2s", tf.cast(step, tf.float32), step=step)
        ops = tf.summary.all_v2_summary_ops()
        with tf.control_dependencies(ops):
            t = tf.assign_add(step, 1)

        class Init(tf.train.SessionRunHook):
            def after_create_session(self, s, c):
                s.run(w.init())

            def end(self, s):
                s.run(w.flush())

        return est.EstimatorSpec(mode, loss=loss, train_op=t, training_hooks=[Init()])

    e = est.Estimator(model_fn, config=config(folder))
    e.train(data(12, True), steps=5)
    return events(folder + "/v2")


@case
def regression_losses(folder):
    def model_fn(features, labels, mode):
        reg = tf.keras.regularizers.l2(0.1)
        x = tf.layers.dense(
            features["p"], 2, kernel_initializer=tf.ones_initializer(), kernel_regularizer=reg
        )
        with tf.variable_scope("v", regularizer=lambda w: 0.01 * tf.reduce_sum(w * w)):
            w = tf.get_variable("w", [2], initializer=tf.ones_initializer())
        b = labels["b"][:, None]
        tf.losses.hinge_loss(b, x[:, :1])
        tf.losses.huber_loss(b, x[:, :1], weights=features["w"][:, None], delta=0.5)
        tf.losses.log_loss(b, tf.sigmoid(x[:, :1]))
        tf.losses.cosine_distance(
            tf.nn.l2_normalize(features["p"], 1),
            tf.nn.l2_normalize(features["p"] + x[:, :1], 1),
            axis=1,
        )
        tf.losses.softmax_cross_entropy(
            tf.one_hot(labels["y"], 3),
            features["p"] * w[0],
            label_smoothing=0.1,
            reduction=tf.losses.Reduction.SUM,
        )
        tf.losses.sparse_softmax_cross_entropy(
            labels["y"],
            features["p"] * w[1],
            weights=tf.cast(labels["y"] > 0, tf.float32),
            reduction="weighted_sum_by_nonzero_weights",
        )
        tf.losses.mean_pairwise_squared_error(tf.tile(b, [1, 2]), x)
        tf.losses.absolute_difference(b, x[:, 1:], reduction=tf.losses.Reduction.MEAN)
        tf.losses.sigmoid_cross_entropy(
            b, x[:, :1], reduction=tf.losses.Reduction.SUM_OVER_BATCH_SIZE
        )
        tf.losses.compute_weighted_loss(x, 2.0)
        n = len(tf.losses.get_losses())
        tf.losses.add_loss(tf.reduce_sum(w))
        loss = tf.losses.get_total_loss() + n
        t = tf.train.GradientDescentOptimizer(0.01).minimize(loss, tf.train.get_global_step())
        return est.EstimatorSpec(mode, loss=loss, train_op=t)

    e = est.Estimator(model_fn, config=config(folder, save_summary_steps=1))
    e.train(data(12, True), steps=3)
    return [variables(folder), events(folder)]


@case
def loss_shapes(folder):
    out = []
    for make in (
        lambda x: x[:1],
        lambda x: x[:1][None],
        lambda x: x,
        lambda x: tf.cast(tf.reduce_sum(x), tf.int32),
        lambda x: tf.cast(tf.reduce_sum(x), tf.float64),
        lambda x: tf.cast(tf.reduce_sum(x), tf.float16),
        lambda x: 3.0,
        lambda x: None,
        lambda x: tf.placeholder_with_default(tf.reduce_sum(x), None),
    ):

        def model_fn(features, labels, mode):
            return est.EstimatorSpec(
                mode,
                loss=make(features["s"]),
                train_op=tf.assign_add(tf.train.get_global_step(), 1),
            )

        m = tempfile.mkdtemp()

        def go():
            e = est.Estimator(model_fn, config=config(m))
            e.train(data(12, True), steps=2)
            r = e.evaluate(data(5))
            return [events(m), r, type(r["loss"]).__name__, str(r["loss"].dtype)]

        out.append(error_of(go))
    return out
