"""TensorFlow's own hooks: loggers, savers, counters, timers, watches."""

from __future__ import annotations

import re
import tempfile
import time

from parity.differential.cases.hooks import CURRENT, A, H, Log, X, model_fn, train
from parity.differential.tools import (
    V2_OFF,
    captured_log,
    case,
    config,
    error_of,
    est,
    event_kinds,
    events,
    files,
    repeat,
    tf,
    variables,
)


@case(races="the step is fetched beside its update")
def logging_tensor(folder):
    out = []
    fmt = lambda m: "F " + " ".join(sorted("%s=%.4f" % (k, v) for k, v in m.items()))
    for kw in (
        dict(every_n_iter=2),
        dict(every_n_iter=3),
        dict(every_n_secs=1000),
        dict(every_n_iter=1, formatter=fmt),
    ):
        with captured_log() as lines:
            kw.setdefault("formatter", fmt)
            train(tempfile.mkdtemp(), [tf.train.LoggingTensorHook({"l": "myloss"}, **kw)], 5)
        out.append([l for l in lines if l.startswith("F ")])
    out += [
        error_of(lambda: tf.train.LoggingTensorHook(["a"], **kw))[:2]
        for kw in ({}, dict(every_n_iter=0), dict(every_n_iter=1, every_n_secs=1))
    ]
    names = ["myloss", "global_step"] if V2_OFF else ["myloss"]  # else the name of a handle
    with captured_log() as lines:
        train(tempfile.mkdtemp(), [tf.train.LoggingTensorHook(names, every_n_iter=2)], 5)
    out.append([l.split(" (")[0] for l in lines if "myloss" in l])
    return out


@case
def logging_at_end(folder):
    with captured_log() as lines:
        train(
            folder,
            [
                tf.train.LoggingTensorHook(
                    {"l": "myloss"}, at_end=True, formatter=lambda m: "F %.4f" % m["l"]
                )
            ],
            3,
        )
    return [l for l in lines if l.startswith("F ")]


@case
def log_lines(folder):

    with captured_log() as lines:
        train(folder, steps=5, log_step_count_steps=2, save_checkpoints_steps=3)
    train_lines = [re.sub(r"[\d.]+ sec|/tmp\S+|global_step/sec: [\d.]+", "#", l) for l in lines]
    keep = ("loss", "Saving")
    return [l for l in train_lines if l.startswith(keep)]


@case
def step_counter(folder):
    train(
        folder,
        [tf.train.StepCounterHook(every_n_steps=2, output_dir=folder + "/c")],
        6,
        log_step_count_steps=3,
    )
    return [
        [r[:3] for r in events(folder, skip=())],
        [r[:3] for r in events(folder + "/c", skip=())],
    ]


@case(races="the weight's summary is computed beside the update")
def summary_saver(folder):
    p = {}

    class Lazy(tf.train.SummarySaverHook):
        def begin(self):
            self._summary_op = tf.summary.merge(
                [tf.summary.scalar("a/b", p["t"]["loss"]), tf.summary.histogram("w", p["t"]["w"])]
            )
            super().begin()

    train(folder, [Lazy(save_steps=2, output_dir=folder + "/s", summary_op=1)], 5, p)
    return [events(folder), events(folder + "/s"), event_kinds(folder + "/s"), event_kinds(folder)]


@case
def nan_hook(folder):
    p = {}
    out = []
    data = lambda: tf.data.Dataset.range(8).map(
        lambda i: tf.log(3.0 - tf.cast(i, tf.float32)) * tf.ones([2])
    )
    r = error_of(train, tempfile.mkdtemp(), [], 8, None, None, None, data)
    out.append(r[:2])
    for fail in (True, False):

        class Lazy(tf.train.NanTensorHook):
            def begin(self):
                self._loss_tensor = p["t"]["other"] if "other" in p["t"] else p["t"]["loss"]

        m = tempfile.mkdtemp()
        log = []
        r = error_of(
            train, m, [Lazy(None, fail_on_nan_loss=fail), Log("x", log)], 8, p, None, None, data
        )
        v = variables(m)
        out.append([r[:2], v and v["global_step"]])
    return out


@case
def nan_in_other_tensor(folder):
    p = {}
    out = []
    for fail in (True, False):

        class Lazy(tf.train.NanTensorHook):
            def begin(self):
                self._loss_tensor = tf.reduce_sum(tf.log(p["t"]["features"]))

        m = tempfile.mkdtemp()
        data = lambda: tf.data.Dataset.range(8).map(
            lambda i: (3.0 - tf.cast(i, tf.float32)) * tf.ones([2])
        )
        r = error_of(train, m, [Lazy(None, fail_on_nan_loss=fail)], 8, p, None, None, data)
        v = variables(m)
        out.append([r[:2], v and v["global_step"]])
    return out


@case
def final_ops(folder):
    p = {}

    class Lazy(tf.train.FinalOpsHook):
        def begin(self):
            self._final_ops = {"w": p["t"]["w"], "s": tf.train.get_global_step() * 10}

    h = Lazy(None)
    train(folder, [h], 3, p)
    h2 = Lazy(None)
    CURRENT[0] = p
    e = est.Estimator(model_fn, config=config(folder), params={})
    e.evaluate(repeat(X, n=2), hooks=[h2])
    return [h.final_ops_values, h2.final_ops_values]


@case
def misc_hooks(folder):
    out = [train(tempfile.mkdtemp(), [tf.train.StopAtStepHook(num_steps=3)], 10)]
    out.append(train(tempfile.mkdtemp(), [tf.train.StopAtStepHook(last_step=2)], None))
    m = tempfile.mkdtemp()
    out.append(train(m, [tf.train.StopAtStepHook(num_steps=3)], None))
    out.append(train(m, [tf.train.StopAtStepHook(num_steps=2)], None)["global_step"])
    out.append(train(m, [tf.train.StopAtStepHook(last_step=2)], None)["global_step"])
    out.append(train(tempfile.mkdtemp(), [tf.train.GlobalStepWaiterHook(0)], 2)["global_step"])
    out.append(error_of(tf.train.StopAtStepHook)[:2])
    m = tempfile.mkdtemp()
    train(m, [tf.train.ProfilerHook(save_steps=2, output_dir=m)], 5)
    out.append([f for f in files(m) if f.startswith("timeline")])
    return out


@case(races="the step is fetched beside its update")
def second_or_step_timer(folder):
    log = []

    class T(H):
        def begin(self):
            self.timer = tf.train.SecondOrStepTimer(every_steps=3)

        def before_run(self, ctx):
            return A(tf.train.get_global_step())

        def after_run(self, ctx, v):
            if self.timer.should_trigger_for_step(v.results + 1):
                t = self.timer.update_last_triggered_step(v.results + 1)
                log.append(
                    [
                        int(v.results),
                        t[1] if t[1] is None else int(t[1]),
                        int(self.timer.last_triggered_step()),
                    ]
                )

    train(folder, [T()], 8)
    return log


@case
def checkpoint_saver_twice(folder):
    """A saver hook of the program's own takes the default one's place."""
    train(
        folder,
        [tf.train.CheckpointSaverHook(folder, save_steps=2, checkpoint_basename="mine")],
        5,
        save_checkpoints_steps=1,
    )
    return [files(folder), sorted(open(folder + "/checkpoint").read().split("\n"))]


@case
def saver_secs(folder):
    class Slow(H):
        def after_run(self, ctx, v):
            time.sleep(0.4)

    train(folder, [Slow()], 5, save_checkpoints_secs=1)
    return len([f for f in files(folder) if f.endswith(".index")]) in (3, 4)
