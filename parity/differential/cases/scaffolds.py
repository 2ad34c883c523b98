"""Scaffolds: what a model gives to start from, to save by and to be ready by."""

from __future__ import annotations

import pathlib

from parity.differential.cases.small_models import ModeKeys, linear, rows
from parity.differential.tools import (
    case,
    config,
    error_of,
    est,
    event_kinds,
    events,
    files,
    plain,
    tf,
    variables,
)


def with_scaffold(make, mode_of=None):
    """The linear model with a scaffold in one mode, or in all."""

    def model_fn(features, labels, mode):
        spec = linear(features, labels, mode)
        return spec._replace(scaffold=make()) if mode_of in (None, mode) else spec

    return model_fn


def estimator_of(folder, make, mode_of=None, **settings):
    return est.Estimator(with_scaffold(make, mode_of), config=config(folder, **settings))


def after_training(folder, make, steps=2, **settings):
    estimator = estimator_of(folder, make, ModeKeys.TRAIN, **settings)
    estimator.train(rows(), steps=steps)
    return variables(folder)


@case
def scaffold_init_fn(folder):
    log = []

    def make():
        value = tf.placeholder(tf.float32, [1])
        assign = tf.assign(tf.trainable_variables()[1], value)

        def init_fn(scaffold, session):
            log.append([type(scaffold).__name__, plain(session.run(tf.trainable_variables()[1]))])
            session.run(assign, {value: [7.0]})

        return tf.train.Scaffold(init_fn=init_fn)

    first = after_training(folder, make)
    return [first, after_training(folder, make), log]


@case
def scaffold_init_fn_of_one_argument(folder):
    """The old signature, as tf-slim's assign_from_checkpoint_fn returned it."""
    log = []

    def make():
        assign = tf.assign(tf.trainable_variables()[1], [3.0])
        init_fn = lambda session: log.append(plain(session.run(assign)))
        return tf.train.Scaffold(init_fn=lambda scaffold, session: init_fn(session))

    return [after_training(folder, make), log]


@case
def scaffold_init_op_and_feed(folder):
    def make():
        start = tf.placeholder_with_default([[0.0], [0.0]], [2, 1])
        init = tf.group(
            tf.global_variables_initializer(), tf.assign(tf.trainable_variables()[0], start)
        )
        return tf.train.Scaffold(init_op=init, init_feed_dict={start: [[5.0], [6.0]]})

    return error_of(after_training, folder, make)[0]


@case
def scaffold_init_op_with_feed_in_order(folder):
    def make():
        start = tf.placeholder(tf.float32, [2, 1])
        with tf.control_dependencies([tf.global_variables_initializer()]):
            init = tf.assign(tf.trainable_variables()[0], start).op
        return tf.train.Scaffold(init_op=init, init_feed_dict={start: [[5.0], [6.0]]})

    return after_training(folder, make)


@case
def scaffold_init_op_that_misses_variables(folder):
    make = lambda: tf.train.Scaffold(init_op=tf.trainable_variables()[0].initializer)
    return error_of(after_training, folder, make)[:2]


@case
def scaffold_ready_ops(folder):
    """Ready ops that report something: the session is not ready."""
    never = lambda: tf.train.Scaffold(ready_op=tf.constant(["w"]))
    always = lambda: tf.train.Scaffold(
        ready_op=tf.constant([], tf.string), ready_for_local_init_op=tf.constant([], tf.string)
    )
    return [
        error_of(after_training, folder + "/a", never)[:2],
        after_training(folder + "/b", always),
    ]


@case
def scaffold_local_init_op(folder):
    def model_fn(features, labels, mode):
        spec = linear(features, labels, mode)
        start = tf.get_local_variable("start", [], initializer=tf.zeros_initializer())
        total = tf.get_variable("seen", [], initializer=tf.zeros_initializer(), trainable=False)
        with tf.control_dependencies([spec.train_op]):
            train_op = tf.assign_add(total, start.read_value())
        with tf.control_dependencies([tf.local_variables_initializer(), tf.tables_initializer()]):
            local_init = tf.assign(start, 4.0)
        scaffold = tf.train.Scaffold(local_init_op=tf.group(local_init))
        return spec._replace(train_op=train_op, scaffold=scaffold)

    estimator = est.Estimator(model_fn, config=config(folder))
    estimator.train(rows(), steps=2)
    first = variables(folder)
    estimator.train(rows(), steps=2)
    return [first, variables(folder)]


@case
def scaffold_saver_of_some_variables(folder):
    """Variables that the saver leaves out start from their initial values in a resumed run."""
    make = lambda: tf.train.Scaffold(
        saver=tf.train.Saver([tf.trainable_variables()[0], tf.train.get_global_step()])
    )
    first = after_training(folder, make)
    return [first, error_of(after_training, folder, make)]


@case
def scaffold_saver_keeps(folder):
    make = lambda: tf.train.Scaffold(saver=tf.train.Saver(max_to_keep=2, sharded=False))
    after_training(folder, make, steps=6, save_checkpoints_steps=1, keep_checkpoint_max=5)
    return [files(folder), pathlib.Path(folder, "checkpoint").read_text().split("\n")]


@case
def scaffold_sharded_saver(folder):
    make = lambda: tf.train.Scaffold(saver=tf.train.Saver(sharded=True))
    after_training(folder, make)
    resumed_run = after_training(folder, make)
    return [files(folder), resumed_run]


@case
def scaffold_saver_defers(folder):
    make = lambda: tf.train.Scaffold(saver=tf.train.Saver(defer_build=True))
    return after_training(folder, make)


@case
def scaffold_summary_op(folder):
    def make():
        summary = tf.summary.scalar("kept", tf.constant(2.0), collections=["mine"])
        return tf.train.Scaffold(summary_op=summary)

    def no_summary():
        return tf.train.Scaffold(summary_op=tf.constant(b""))

    after_training(folder + "/a", make, save_summary_steps=1)
    after_training(folder + "/b", no_summary, save_summary_steps=1)
    return [events(folder + "/a"), event_kinds(folder + "/a"), error_of(events, folder + "/b")]


@case
def scaffold_in_evaluation_and_prediction(folder):
    """Another saver for evaluation: weights under other names."""
    est.Estimator(linear, config=config(folder)).train(rows(), steps=2)

    def make():
        w, b = tf.trainable_variables()
        return tf.train.Scaffold(saver=tf.train.Saver({"w": w, "b": b}))

    def init():
        double = tf.assign(tf.trainable_variables()[1], [9.0])
        return tf.train.Scaffold(init_fn=lambda scaffold, session: session.run(double))

    out = []
    for scaffold in (make, init):
        for mode in (ModeKeys.EVAL, ModeKeys.PREDICT):
            estimator = estimator_of(folder, scaffold, mode)
            out.append(error_of(estimator.evaluate, rows(repeat=1)))
            predict = lambda: list(estimator.predict(rows(repeat=1, labels=False)))
            out.append(error_of(predict))
    return out


@case
def scaffold_finalized_by_program(folder):
    log = []

    def make():
        scaffold = tf.train.Scaffold()
        log.append([scaffold.init_op is None, scaffold.saver is None, scaffold.init_fn is None])
        return scaffold

    class Look(tf.train.SessionRunHook):
        def after_create_session(self, session, coord):
            saver = tf.get_collection(tf.GraphKeys.SAVERS)[0]
            log.append([len(tf.get_collection(tf.GraphKeys.SAVERS)), type(saver).__name__])
            log.append(sorted(saver.saver_def.filename_tensor_name.split(":")[1:]))
            for key in ("INIT_OP", "LOCAL_INIT_OP", "READY_OP", "SUMMARY_OP"):
                log.append([key, len(tf.get_collection(getattr(tf.GraphKeys, key)))])

    estimator = estimator_of(folder, make)
    estimator.train(rows(), steps=1, hooks=[Look()])
    return log


@case
def savers_collection(folder):
    """A saver that the model puts into the collection is the one that saves."""

    def model_fn(features, labels, mode):
        spec = linear(features, labels, mode)
        saver = tf.train.Saver([*tf.trainable_variables(), tf.train.get_global_step()])
        tf.add_to_collection(tf.GraphKeys.SAVERS, saver)
        tf.get_variable("extra", [], initializer=tf.zeros_initializer(), trainable=False)
        return spec

    estimator = est.Estimator(model_fn, config=config(folder))
    return [error_of(lambda: estimator.train(rows(), steps=2) and 0), variables(folder)]


@case
def two_savers_in_collection(folder):
    def model_fn(features, labels, mode):
        spec = linear(features, labels, mode)
        for _ in range(2):
            tf.add_to_collection(tf.GraphKeys.SAVERS, tf.train.Saver())
        return spec

    estimator = est.Estimator(model_fn, config=config(folder))
    return error_of(lambda: estimator.train(rows(), steps=2) and 0)[:2]


@case
def scaffold_copied(folder):
    def make():
        first = tf.train.Scaffold(init_fn=lambda scaffold, session: None)
        return tf.train.Scaffold(copy_from_scaffold=first)

    return [
        after_training(folder, make),
        error_of(lambda: tf.train.Scaffold(copy_from_scaffold=tf.train.Scaffold(), init_op=1))[:2],
        error_of(lambda: tf.train.Scaffold(copy_from_scaffold=1))[:2],
    ]
