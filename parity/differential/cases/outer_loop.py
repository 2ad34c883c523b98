"""train_and_evaluate: when it evaluates, exports and stops."""

from __future__ import annotations

import os
import re
import tempfile

from parity.differential.tools import (
    case,
    config,
    error_of,
    est,
    events,
    files,
    np,
    outside_placeholder,
    plain,
    repeat,
    tf,
    variables,
)

X = np.array([1.0, 2.0], np.float32)


def model_fn(features, labels, mode):
    w = tf.get_variable("w", [2], initializer=tf.ones_initializer())
    x = features["x"] if isinstance(features, dict) else features
    loss = tf.reduce_sum(tf.square(w * x - 3.0))
    train = tf.train.GradientDescentOptimizer(0.01).minimize(loss, tf.train.get_global_step())
    return est.EstimatorSpec(
        mode,
        loss=loss,
        predictions={"w": w * x},
        train_op=train,
        eval_metric_ops={"m": tf.metrics.mean(loss)},
    )


def make(folder, mf=model_fn, **kw):
    return est.Estimator(mf, config=config(folder, **kw))


def te(folder, train=None, evals=None, e=None, data=None, **kw):
    e = e or make(folder, **kw)
    log = []
    data = data or repeat(X)

    def edata():
        log.append("eval")
        return tf.data.Dataset.from_tensors(X).repeat(3)

    t = dict(max_steps=6)
    t.update(train or {})
    ev = dict(steps=None, throttle_secs=0, start_delay_secs=0)
    ev.update(evals or {})
    r = est.train_and_evaluate(e, est.TrainSpec(data, **t), est.EvalSpec(edata, **ev))
    return [
        r,
        log,
        files(folder),
        [
            x[:3]
            for x in events(
                os.path.join(folder, "eval" + ("_" + ev["name"] if ev.get("name") else "")),
                values=False,
            )
        ],
    ]


@case
def plain_runs(folder):
    return [
        te(tempfile.mkdtemp()),
        te(tempfile.mkdtemp(), save_checkpoints_steps=2),
        te(tempfile.mkdtemp(), evals={"steps": 1, "name": "n"}, save_checkpoints_steps=4),
        te(tempfile.mkdtemp(), evals={"throttle_secs": 1000}, save_checkpoints_steps=1),
    ]


@case
def input_ends_early(folder):
    return [
        te(folder, data=repeat(X, n=4), save_checkpoints_steps=3),
        te(
            tempfile.mkdtemp(),
            train={"max_steps": None},
            data=repeat(X, n=5),
            save_checkpoints_steps=2,
        ),
    ]


@case
def already_done(folder):
    te(folder)
    a = te(folder)
    b = te(folder, train={"max_steps": 3})
    c = te(folder, train={"max_steps": 8})
    return [a, b, c]


@case
def spec_errors(folder):
    T, E = est.TrainSpec, est.EvalSpec
    f = repeat(X)
    out = [
        error_of(T, f, max_steps=0)[:2],
        error_of(T, f, max_steps=-1)[:2],
        error_of(T, 3)[:2],
        error_of(T, f, hooks=[1])[:2],
        error_of(E, f, steps=0)[:2],
        error_of(E, f, steps=-2)[:2],
        error_of(E, 3)[:2],
        error_of(E, f, name=3)[:2],
        error_of(E, f, exporters=[3])[:2],
        error_of(E, f, throttle_secs=-1)[:2],
        error_of(E, f, start_delay_secs=-1)[:2],
        error_of(E, f, hooks=[object()])[:2],
    ]
    e = make(folder)
    out += [
        error_of(est.train_and_evaluate, 3, T(f), E(f))[:2],
        error_of(est.train_and_evaluate, e, 3, E(f))[:2],
        error_of(est.train_and_evaluate, e, T(f), 3)[:2],
        error_of(est.train_and_evaluate, e, None, None)[:2],
    ]
    t = T(f, 5)
    out.append(plain([t.max_steps, t.hooks, t._fields, E(f)._replace(input_fn=None)]))
    return out


@case
def exporters(folder):
    rec = est.export.build_raw_serving_input_receiver_fn({"x": outside_placeholder([None])})
    m = folder + "/m"
    e = make(m, save_checkpoints_steps=2)
    log = []

    class Mine(est.Exporter):
        @property
        def name(self):
            return "mine"

        def export(self, estimator, export_path, checkpoint_path, eval_result, is_the_final_export):
            log.append(
                [
                    os.path.relpath(export_path, m),
                    os.path.basename(checkpoint_path),
                    sorted(eval_result),
                    is_the_final_export,
                ]
            )
            return "result"

    r = te(
        m,
        evals={
            "exporters": [
                est.LatestExporter("lat", rec, exports_to_keep=2),
                est.FinalExporter("fin", rec),
                est.BestExporter("best", rec, exports_to_keep=2),
                Mine(),
            ]
        },
        e=e,
    )
    fs = sorted(re.sub(r"/\d{10}/", "/#/", f) for f in files(m) if f.startswith("export"))
    return [
        log,
        sorted(set(fs)),
        [len(os.listdir(m + "/export/" + k)) for k in ("lat", "fin", "best")],
        r[0][1] and len(r[0][1]),
    ]


@case
def same_name_exporters(folder):
    rec = est.export.build_raw_serving_input_receiver_fn({"x": outside_placeholder([None])})
    return error_of(
        est.EvalSpec,
        repeat(X),
        exporters=[est.FinalExporter("a", rec), est.FinalExporter("a", rec)],
    )[:2]


@case
def early_stopping(folder):
    out = []
    ex = est.experimental
    for make_hook in (
        lambda e: ex.stop_if_higher_hook(e, "m", 0.0, run_every_secs=None, run_every_steps=1),
        lambda e: ex.stop_if_no_decrease_hook(e, "m", 2, run_every_secs=None, run_every_steps=1),
        lambda e: ex.stop_if_lower_hook(
            e, "m", 100.0, min_steps=4, run_every_secs=None, run_every_steps=1
        ),
        lambda e: ex.make_early_stopping_hook(
            e, lambda: True, run_every_secs=None, run_every_steps=3
        ),
    ):
        m = tempfile.mkdtemp()
        e = make(m, save_checkpoints_steps=2)
        h = make_hook(e)
        r = te(m, train={"max_steps": 20, "hooks": [h]}, e=e)
        out.append([r[0][0] and r[0][0]["global_step"], len(r[1])])
    return out


@case
def early_stop_names(folder):
    e = make(folder)
    h = est.experimental.make_early_stopping_hook(
        e, lambda: False, run_every_secs=None, run_every_steps=3
    )
    e.train(repeat(X), steps=3, hooks=[h])
    return sorted(variables(folder))


@case
def hooks_and_listeners(folder):
    log = []

    class L(tf.train.CheckpointSaverListener):
        def after_save(self, s, step):
            log.append("saved %d" % step)

    class H(tf.train.SessionRunHook):
        def __init__(self, n):
            self.n = n

        def begin(self):
            log.append(self.n + " begin")

        def end(self, s):
            log.append(self.n + " end")

    r = te(
        folder,
        train={"hooks": [H("t")], "saving_listeners": [L()]}
        if "saving_listeners" in est.TrainSpec._fields
        else {"hooks": [H("t")]},
        evals={"hooks": [H("e")]},
        save_checkpoints_steps=3,
    )
    return [r, log]


@case
def eval_nan_and_errors(folder):
    def mf(features, labels, mode):
        s = model_fn(features, labels, mode)
        if mode == est.ModeKeys.EVAL:
            return s._replace(
                loss=tf.log(-1.0 - tf.reduce_sum(features)),
                eval_metric_ops={"m": tf.metrics.mean(tf.log(-1.0 - features))},
            )
        return s

    r = error_of(te, folder, e=make(folder, mf))
    return r if r[0] == "error" else r[1][0]
