"""The order of hooks' calls, what they fetch and feed, and what they raise."""

from __future__ import annotations

import collections
import json
import tempfile

from parity.differential.tools import (
    V2_OFF,
    case,
    config,
    error_of,
    est,
    events,
    np,
    plain,
    repeat,
    tf,
    variables,
)

H = tf.train.SessionRunHook

A = tf.train.SessionRunArgs

CURRENT = [{}]


def model_fn(features, labels, mode, params=None):
    params = CURRENT[0]
    w = tf.get_variable("w", [2], initializer=tf.ones_initializer())
    side = tf.get_variable("side", [], initializer=tf.zeros_initializer(), trainable=False)
    params.setdefault("t", {}).update(
        w=w, side=side, bump=tf.assign_add(side, 1.0).op, features=features
    )
    loss = tf.reduce_sum(tf.square(w * features - 3.0), name="myloss")
    params["t"]["loss"] = loss
    if mode == est.ModeKeys.PREDICT:
        return est.EstimatorSpec(
            mode, predictions={"y": w * features}, prediction_hooks=params.get("spec_hooks")
        )
    if mode == est.ModeKeys.EVAL:
        return est.EstimatorSpec(
            mode,
            loss=loss,
            evaluation_hooks=params.get("spec_hooks"),
            eval_metric_ops={"m": tf.metrics.mean(loss)},
        )
    train = tf.train.GradientDescentOptimizer(0.05).minimize(loss, tf.train.get_global_step())
    params["t"]["train"] = train
    return est.EstimatorSpec(
        mode,
        loss=loss,
        train_op=train,
        training_hooks=params.get("spec_hooks"),
        training_chief_hooks=params.get("chief_hooks"),
    )


X = np.array([1.0, 2.0], np.float32)


def train(folder, hooks=(), steps=4, params=None, listeners=None, max_steps=None, data=None, **kw):
    CURRENT[0] = params if params is not None else {}
    e = est.Estimator(model_fn, config=config(folder, **kw), params={})
    e.train(
        data or repeat(X),
        steps=steps,
        max_steps=max_steps,
        hooks=list(hooks),
        saving_listeners=listeners,
    )
    return variables(folder)


class Log(H):
    def __init__(self, name, log, stop_at=None, fetch=None):
        self.name, self.log, self.stop_at, self.fetch, self.n = name, log, stop_at, fetch, 0

    def begin(self):
        self.log.append(self.name + ".begin finalized=%s" % tf.get_default_graph().finalized)

    def after_create_session(self, session, coord):
        self.log.append(
            "%s.after_create_session step=%s finalized=%s"
            % (self.name, session.run(tf.train.get_global_step()), tf.get_default_graph().finalized)
        )

    def before_run(self, ctx):
        self.n += 1
        self.log.append("%s.before_run stop=%s" % (self.name, ctx.stop_requested))
        return (
            A(
                self.fetch(),
            )
            if self.fetch
            else None
        )

    def after_run(self, ctx, values):
        self.log.append(
            "%s.after_run results=%s stop=%s"
            % (self.name, json.dumps(plain(values.results)), ctx.stop_requested)
        )
        if self.n == self.stop_at:
            ctx.request_stop()

    def end(self, session):
        self.log.append("%s.end step=%s" % (self.name, session.run(tf.train.get_global_step())))


@case
def order(folder):
    log = []
    p = {"spec_hooks": [Log("spec", log)], "chief_hooks": [Log("chief", log)]}

    class L(tf.train.CheckpointSaverListener):
        def __init__(self, name):
            self.name = name

        def begin(self):
            log.append(self.name + ".begin")

        def before_save(self, s, step):
            log.append("%s.before_save %d" % (self.name, step))

        def after_save(self, s, step):
            log.append("%s.after_save %d" % (self.name, step))

        def end(self, s, step):
            log.append("%s.end %d" % (self.name, step))

    train(
        folder, [Log("a", log), Log("b", log)], 3, p, [L("l1"), L("l2")], save_checkpoints_steps=2
    )
    return log


@case
def nested_fetches(folder):
    N = collections.namedtuple("N", "u v")
    p, log = {}, []

    class F(H):
        def before_run(self, ctx):
            t = p["t"]
            return A(
                {
                    "a": t["loss"],
                    "b": [t["w"], (t["side"], N(t["loss"], "myloss:0"))],
                    "op": t["train"],
                    "e": [],
                    "sp": t["loss"],
                }
            )

        def after_run(self, ctx, v):
            r = v.results
            log.append(
                [
                    str(type(r)),
                    str(type(r["b"])),
                    str(type(r["b"][1])),
                    type(r["b"][1][1]).__name__,
                    r["op"],
                    r["a"],
                    r["e"],
                    type(r["a"]).__name__,
                    r["b"][0].dtype.name,
                ]
            )

    train(folder, [F()], 3, p)
    return log


@case(races="the step is fetched beside its update")
def fetch_loss_and_step(folder):
    log, p = [], {}
    h = Log(
        "h", log, fetch=lambda: [p["t"]["loss"], tf.train.get_global_step(), p["t"]["features"]]
    )
    train(folder, [h], 3, p)
    return [l for l in log if "after_run" in l]


@case
def single_fetch_by_name(folder):
    log = []
    h = Log("h", log, fetch=lambda: "myloss:0")
    h2 = Log("g", log, fetch=lambda: "side:0" if V2_OFF else "myloss:0")
    train(folder, [h, h2], 2)
    return [l for l in log if "after_run" in l]


@case
def bad_fetches(folder):
    return [
        error_of(train, tempfile.mkdtemp(), [Log("h", [], fetch=f)], 2)[:2]
        for f in (lambda: "nothing:0", lambda: 3, object, lambda: "myloss")
    ]


@case
def feeds(folder):
    p, log = {}, []

    class F(H):
        n = 0

        def before_run(self, ctx):
            self.n += 1
            return A(
                p["t"]["loss"],
                feed_dict={p["t"]["features"]: np.array([0.0, self.n], np.float32)}
                if self.n != 2
                else None,
            )

        def after_run(self, ctx, v):
            log.append(v.results)

    return [train(folder, [F()], 4, p), log]


@case
def feeds_twice(folder):
    p = {}

    class F(H):
        def before_run(self, ctx):
            return A(None, feed_dict={p["t"]["features"]: X})

    return error_of(train, folder, [F(), F()], 2, p)


@case
def feeds_bad_shape(folder):
    p = {}

    class F(H):
        def before_run(self, ctx):
            return A(None, feed_dict={p["t"]["features"]: np.ones([5])})

    return error_of(train, folder, [F()], 2, p)


@case
def feed_intermediate(folder):
    """Feeding the loss itself, or a tensor in the middle."""
    p, log = {}, []

    class F(H):
        def before_run(self, ctx):
            return A([p["t"]["loss"]], feed_dict={p["t"]["loss"]: 42.0})

        def after_run(self, ctx, v):
            log.append(v.results)

    return [train(folder, [F()], 3, p), log]


@case
def errors_in_hooks(folder):
    out = []
    for where in ("begin", "after_create_session", "before_run", "after_run", "end"):
        for kind in (
            ValueError("bad"),
            tf.errors.OutOfRangeError(None, None, "over"),
            StopIteration(),
            tf.errors.AbortedError(None, None, "ab") if where == "x" else KeyboardInterrupt(),
        ):
            log = []
            h = Log("a", log)
            count = [0]

            def boom(*a, **k):
                count[0] += 1
                if where in ("before_run", "after_run") and count[0] < 2:
                    return None
                raise kind

            setattr(h, where, boom)
            m = tempfile.mkdtemp()
            r = error_of(train, m, [Log("first", log), h, Log("last", log)], 4)
            v = variables(m)
            out.append(
                [
                    where,
                    type(kind).__name__,
                    r[:2] if r[0] == "error" else r[0],
                    v and v["global_step"],
                    log,
                ]
            )
    return out


@case
def error_in_step(folder):
    log = []
    m = tempfile.mkdtemp()
    data = lambda: tf.data.Dataset.range(5).map(
        lambda i: tf.cast(10 // (2 - i), tf.float32) * tf.ones([2])
    )
    r = error_of(train, m, [Log("h", log)], 10, None, None, None, data)
    return [r, log, variables(m)]


@case(races="the hook's variable is read by a summary beside its update")
def begin_adds(folder):
    log = []

    class B(H):
        def begin(self):
            self.v = tf.get_variable(
                "hooks_own", [], initializer=tf.constant_initializer(3.0), trainable=False
            )
            self.up = tf.assign_add(self.v, 2.0)
            self.local = tf.get_local_variable("loc", [], initializer=tf.ones_initializer())
            tf.summary.scalar("from_hook", self.v)

        def before_run(self, ctx):
            return A([self.up, self.local])

        def after_run(self, ctx, v):
            log.append(v.results)

    v = train(folder, [B()], 3, save_summary_steps=1)
    return [v, log, list(events(folder))]


@case
def graph_changed_late(folder):
    class B(H):
        def before_run(self, ctx):
            return A(tf.constant(1.0) + 2)

    return error_of(train, folder, [B()], 2)[:2]


@case
def original_args_and_meta(folder):
    log = []

    class B(H):
        def before_run(self, ctx):
            return A("myloss:0", options=tf.RunOptions(trace_level=tf.RunOptions.NO_TRACE))

        def after_run(self, ctx, v):
            log.append(
                [
                    len(plain(ctx.original_args)),
                    type(ctx.original_args).__name__,
                    v.options is not None,
                    type(v.run_metadata).__name__,
                ]
            )

    train(folder, [B()], 1)
    return log


@case(races="variables are fetched beside their updates")
def ref_fetches(folder):
    """The values that fetches of the global step see, and of variables by their TF1 names."""
    out = []
    for name in ("global_step:0", "w:0", "w/read:0", "side:0"):
        if not V2_OFF and name != "global_step:0":
            continue
        log = []
        h = Log(
            "h", log, fetch=lambda: tf.train.get_global_step() if name == "global_step:0" else name
        )
        out.append(
            [
                name,
                error_of(train, tempfile.mkdtemp(), [h], 3)[0],
                [l for l in log if "after_run" in l],
            ]
        )
    return out


@case
def hooks_in_eval_and_predict(folder):
    train(folder)
    log, p = [], {}
    p["spec_hooks"] = [Log("spec", log)]
    CURRENT[0] = p
    e = est.Estimator(model_fn, config=config(folder), params={})
    e.evaluate(repeat(X, n=3), hooks=[Log("h", log, fetch=lambda: p["t"]["loss"])])
    log.append("--")
    e.evaluate(repeat(X, n=3), hooks=[Log("h", log)], steps=2)
    log.append("--")
    r = list(e.predict(repeat(X, n=2), hooks=[Log("h", log, fetch=lambda: p["t"]["features"])]))
    log.append("-- stop")
    r += list(e.predict(repeat(X, n=9), hooks=[Log("h", log, stop_at=2)]))
    log.append("-- stop eval")
    r.append(e.evaluate(repeat(X, n=9), hooks=[Log("h", log, stop_at=2)]))
    g = e.predict(repeat(X, n=9), hooks=[Log("part", log)])
    next(g)
    g.close()
    return [log, r]


@case
def hook_types(folder):
    return [error_of(train, tempfile.mkdtemp(), [h], 1)[:2] for h in (object(), None, "x", H)]


@case
def hooks_reused(folder):
    h = tf.train.StopAtStepHook(num_steps=2)
    log = []
    l = Log("l", log)
    a = train(folder, [h, l], None)["global_step"]
    b = train(folder, [h, l], None)["global_step"]
    return [a, b, len(log)]
