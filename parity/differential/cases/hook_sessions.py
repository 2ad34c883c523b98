"""Sessions within hooks, requests to stop, listeners, and steps that hooks set."""

from __future__ import annotations

import logging
import tempfile

from parity.differential.cases.hooks import CURRENT, A, H, Log, X, model_fn, train
from parity.differential.tools import (
    captured_log,
    case,
    config,
    error_of,
    est,
    events,
    files,
    np,
    plain,
    repeat,
    tf,
    variables,
)


@case
def listener_stops(folder):
    log = []

    class L(tf.train.CheckpointSaverListener):
        def after_save(self, s, step):
            log.append(int(step))
            return step >= 4

    v = train(folder, (), 20, listeners=[L()], save_checkpoints_steps=2)
    return [log, v, files(folder)]


@case
def listener_with_hook(folder):
    log = []

    class L(tf.train.CheckpointSaverListener):
        def before_save(self, s, step):
            log.append(["before", int(step), s.run(p["t"]["side"])])

        def after_save(self, s, step):
            log.append(["after", int(step)])
            s.run(p["t"]["bump"])

    p = {}
    hook = tf.train.CheckpointSaverHook(folder, save_steps=3, listeners=[L()])
    v = train(folder, [hook], 5, p)
    return [log, v, files(folder)]


@case
def listener_refused(folder):
    return error_of(train, folder, (), 2, None, [object()])[:2]


@case
def stop_requests(folder):
    out = []
    for at in (1, 3):
        log = []
        m = tempfile.mkdtemp()
        v = train(m, [Log("a", log, stop_at=at), Log("b", log)], 10)
        out.append([log, v, files(m)])
    return out


@case
def stop_in_before_run(folder):
    class S(H):
        n = 0

        def before_run(self, ctx):
            self.n += 1
            if self.n == 3:
                ctx.request_stop()

    return train(folder, [S()], 10)


@case
def stop_in_after_create(folder):
    class S(H):
        def after_create_session(self, session, coord):
            coord.request_stop()

    r = error_of(train, folder, [S()], 10)
    return [r, variables(folder)]


@case
def run_in_hook(folder):
    p, log = {}, []

    class R(H):
        def before_run(self, ctx):
            log.append(["b", ctx.session.run([p["t"]["side"], tf.train.get_global_step()])])
            ctx.session.run(p["t"]["bump"])
            return A(p["t"]["side"])

        def after_run(self, ctx, v):
            log.append(
                [
                    "a",
                    v.results,
                    ctx.session.run(p["t"]["w"]),
                    ctx.session.run(p["t"]["loss"], {p["t"]["features"]: X}),
                ]
            )
            if len(log) > 3:
                ctx.session.run(p["assign"], {p["ph"]: np.array([5.0, 6.0], np.float32)})

        def begin(self):
            p["ph"] = tf.placeholder(tf.float32, [2])
            p["assign"] = tf.assign(p["t"]["w"], p["ph"])

    return [train(folder, [R()], 3, p), log]


@case
def run_consumes_input(folder):
    """session.run of a tensor that depends on the batch draws one more batch."""
    p, log = {}, []

    class R(H):
        def after_run(self, ctx, v):
            log.append(ctx.session.run(p["t"]["features"]))

        def before_run(self, ctx):
            return A(p["t"]["features"])

    class S(R):
        def after_run(self, ctx, v):
            log.append(["step", v.results])

    data = lambda: tf.data.Dataset.range(20).map(lambda i: tf.cast(i, tf.float32) * tf.ones([2]))
    train(folder, [S(), R()], 3, p, data=data)
    return log


@case
def run_train_op_in_hook(folder):
    p = {}

    class R(H):
        def after_run(self, ctx, v):
            ctx.session.run(p["t"]["train"])

    return train(folder, [R()], 6, p)


@case
def eval_run_side_effects(folder):
    """An evaluation that assigns: the checkpoint does not change."""
    train(folder)
    p = {}

    class R(H):
        def after_run(self, ctx, v):
            ctx.session.run(p["t"]["bump"])

    CURRENT[0] = p
    e = est.Estimator(model_fn, config=config(folder), params={})

    class E(H):
        def end(self, s):
            self.side = s.run(p["t"]["side"])

    end = E()
    e.evaluate(repeat(X, n=3), hooks=[R(), end])
    a = end.side
    e.evaluate(repeat(X, n=3), hooks=[R(), end])
    return [a, end.side, variables(folder)]


@case
def session_attributes(folder):
    log = []

    class S(H):
        def after_create_session(self, s, coord):
            log.append(
                [s.graph is tf.get_default_graph(), type(coord).__name__, coord.should_stop()]
            )
            log.append(
                [
                    callable(getattr(s, n, None))
                    for n in (
                        "run",
                        "make_callable",
                        "list_devices",
                        "partial_run_setup",
                        "close",
                        "as_default",
                    )
                ]
            )
            log.append(plain(s.run({"a": tf.train.get_global_step(), "b": []})))
            f = s.make_callable(tf.train.get_global_step())
            log.append(plain(f()))
            with s.as_default():
                log.append(plain(tf.train.get_global_step().eval()))
                log.append(tf.get_default_session() is not None)

        def before_run(self, ctx):
            log.append(
                [callable(getattr(ctx.session, n, None)) for n in ("run", "close")]
                + [ctx.session.graph is tf.get_default_graph()]
            )

        def end(self, s):
            log.append(tf.get_default_session() is not None)
            log.append(plain(tf.train.get_global_step().eval(session=s)))
            log.append(plain(tf.train.global_step(s, tf.train.get_global_step())))

    error = error_of(train, folder, [S()], 1)
    return [log, error[:2] if error[0] == "error" else 0]


@case
def step_fn_like_increments(folder):
    """A hook that sets the global step back and forth."""
    p = {}

    class S(H):
        def begin(self):
            self.set = tf.assign(tf.train.get_global_step(), 10)

        def after_run(self, ctx, v):
            if ctx.session.run(tf.train.get_global_step()) == 2:
                ctx.session.run(self.set)

    with captured_log():
        v = train(folder, [S()], None, p, max_steps=13)
    return v


@case
def train_op_without_step(folder):
    """The train_op does not increment the global step."""

    def mf(features, labels, mode):
        v = tf.get_variable("v", initializer=0.0)
        return est.EstimatorSpec(mode, loss=tf.reduce_sum(features), train_op=tf.assign_add(v, 1.0))

    e = est.Estimator(mf, config=config(folder))
    with captured_log(logging.WARNING) as lines:
        e.train(repeat(X, n=5))
    return [variables(folder), sorted({l[:60] for l in lines})]


@case
def train_op_adds_two(folder):
    def mf(features, labels, mode):
        v = tf.get_variable("v", initializer=0.0)
        with tf.control_dependencies([tf.assign_add(v, 1.0)]):
            t = tf.assign_add(tf.train.get_global_step(), 3)
        tf.summary.scalar("v", v)
        return est.EstimatorSpec(mode, loss=tf.reduce_sum(features), train_op=t)

    out = []
    for kw in (dict(steps=5), dict(max_steps=7), dict(steps=3)):
        e = est.Estimator(
            mf,
            config=config(
                folder, save_checkpoints_steps=4, save_summary_steps=2, log_step_count_steps=4
            ),
        )
        e.train(repeat(X), **kw)
        out.append([variables(folder), files(folder), [r[:2] for r in events(folder)]])
    return out
