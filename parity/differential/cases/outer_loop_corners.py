"""train_and_evaluate: exporters, restarts, listeners, early stopping and unusual specs."""

from __future__ import annotations

import json
import os
import re

from parity.differential.cases.small_models import linear, linear_estimator, rows
from parity.differential.tools import (
    case,
    error_of,
    est,
    events,
    files,
    outside_placeholder,
    tf,
    variables,
)


def receiver():
    return est.export.build_raw_serving_input_receiver_fn({"x": outside_placeholder([None, 2])})


def specs(max_steps=4, train=None, evaluate=None):
    evaluation = {"steps": None, "start_delay_secs": 0, "throttle_secs": 0}
    evaluation.update(evaluate or {})
    return (
        est.TrainSpec(rows(), max_steps=max_steps, **(train or {})),
        est.EvalSpec(rows(repeat=1), **evaluation),
    )


def exported(folder):
    """The files of exports, without the seconds in which they were written."""
    names = [name for name in files(folder) if name.startswith("export")]
    return sorted({re.sub(r"/\d{10}/", "/SECOND/", name) for name in names})


class Recorder(est.Exporter):
    """An exporter that notes how it was called."""

    def __init__(self, log, name="recorder", result=None):
        self.log, self._name, self.result = log, name, result

    @property
    def name(self):
        return self._name

    def export(self, estimator, export_path, checkpoint_path, eval_result, is_the_final_export):
        tail = os.path.relpath(export_path, estimator.model_dir)
        step = int(eval_result["global_step"])
        self.log.append([tail, os.path.basename(checkpoint_path), step, is_the_final_export])
        return self.result


@case
def exporters_order_and_results(folder):
    log = []
    estimator = linear_estimator(folder, save_checkpoints_steps=2)
    exporters = [Recorder(log, "b", b"x"), Recorder(log, "a"), Recorder(log, "c", "text")]
    result = est.train_and_evaluate(estimator, *specs(evaluate={"exporters": exporters}))
    return [log, result[1]]


@case
def exporter_alone_not_in_list(folder):
    log = []
    estimator = linear_estimator(folder)
    evaluate = {"exporters": Recorder(log), "name": "named"}
    result = est.train_and_evaluate(estimator, *specs(evaluate=evaluate))
    return [log, result[1], events(folder + "/eval_named", values=False)]


@case
def best_exporter_over_restarts(folder):
    def run(max_steps):
        best = est.BestExporter(
            "best", receiver(), exports_to_keep=3, event_file_pattern="eval/*.tfevents.*"
        )
        estimator = linear_estimator(folder, save_checkpoints_steps=2)
        est.train_and_evaluate(estimator, *specs(max_steps, evaluate={"exporters": [best]}))
        return len(os.listdir(folder + "/export/best"))

    return [run(2), run(6)]


@case
def latest_exporter_collects(folder):
    latest = est.LatestExporter("latest", receiver(), exports_to_keep=1)
    estimator = linear_estimator(folder, save_checkpoints_steps=1)
    est.train_and_evaluate(estimator, *specs(3, evaluate={"exporters": [latest]}))
    return [len(os.listdir(folder + "/export/latest")), exported(folder)]


@case
def final_exporter_as_text_with_assets(folder):
    extra = os.path.join(folder, "words")
    with open(extra, "w") as file:
        file.write("words")
    final = est.FinalExporter(
        "final", receiver(), assets_extra={"notes/words": extra}, as_text=True
    )
    estimator = linear_estimator(folder + "/m")
    est.train_and_evaluate(estimator, *specs(evaluate={"exporters": [final]}))
    return exported(folder + "/m")


@case
def exporter_that_fails(folder):
    class Failing(Recorder):
        def export(self, *args, **kwargs):
            raise KeyError("no export")

    estimator = linear_estimator(folder)
    result = error_of(
        est.train_and_evaluate, estimator, *specs(evaluate={"exporters": [Failing([])]})
    )
    return [result[:2], variables(folder)]


@case
def listeners_in_outer_loop(folder):
    log = []

    class Listen(tf.train.CheckpointSaverListener):
        def begin(self):
            log.append("begin")

        def before_save(self, session, step):
            log.append("before %d" % step)

        def after_save(self, session, step):
            log.append("after %d" % step)

        def end(self, session, step):
            log.append("end %d" % step)

    estimator = linear_estimator(folder, save_checkpoints_steps=2)
    est.train_and_evaluate(estimator, *specs(4, train={"saving_listeners": [Listen()]}))
    return log


@case
def listener_stops_outer_loop(folder):
    class Stop(tf.train.CheckpointSaverListener):
        def after_save(self, session, step):
            return step >= 3

    estimator = linear_estimator(folder, save_checkpoints_steps=1)
    train = {"saving_listeners": [Stop()]}
    result = est.train_and_evaluate(estimator, *specs(20, train=train))
    return [result[0], variables(folder)]


@case
def hook_stops_outer_loop(folder):
    class Stop(tf.train.SessionRunHook):
        calls = 0

        def after_run(self, run_context, run_values):
            self.calls += 1
            if self.calls == 3:
                run_context.request_stop()

    estimator = linear_estimator(folder, save_checkpoints_steps=2)
    result = est.train_and_evaluate(estimator, *specs(20, train={"hooks": [Stop()]}))
    return [result[0], variables(folder)]


@case
def evaluation_steps_and_hooks(folder):
    log = []

    class Count(tf.train.SessionRunHook):
        def after_run(self, run_context, run_values):
            log.append(1)

    estimator = linear_estimator(folder, save_checkpoints_steps=2)
    evaluate = {"steps": 1, "hooks": [Count()]}
    result = est.train_and_evaluate(estimator, *specs(4, evaluate=evaluate))
    return [result[0], len(log)]


@case
def early_stopping_functions(folder):
    """Arguments that the makers of early stopping hooks refuse, and their results."""
    estimator = linear_estimator(folder)
    make = est.experimental
    return [
        error_of(make.stop_if_no_increase_hook, 5, "a", 1)[:2],
        error_of(make.stop_if_no_increase_hook, estimator, "a", 1, run_every_secs=None)[:2],
        error_of(
            make.stop_if_no_increase_hook, estimator, "a", 1, run_every_secs=1, run_every_steps=1
        )[:2],
        error_of(make.make_early_stopping_hook, estimator, 3)[:2],
        error_of(make.make_early_stopping_hook, estimator, lambda: True, run_every_secs=None)[:2],
        type(make.stop_if_no_increase_hook(estimator, "a", 1)).__mro__[1].__name__,
    ]


@case
def early_stopping_by_metric(folder):
    out = []
    make = est.experimental
    for build in (
        lambda e: make.stop_if_no_increase_hook(
            e, "mae", 1, run_every_secs=None, run_every_steps=1
        ),
        lambda e: make.stop_if_lower_hook(e, "loss", 1e9, run_every_secs=None, run_every_steps=1),
        lambda e: make.stop_if_no_decrease_hook(
            e, "mae", 1000, run_every_secs=None, run_every_steps=1
        ),
        lambda e: make.stop_if_higher_hook(
            e, "mae", 0.0, min_steps=3, run_every_secs=None, run_every_steps=1
        ),
    ):
        path = folder + "/%d" % len(out)
        estimator = linear_estimator(path, save_checkpoints_steps=1)
        os.makedirs(estimator.eval_dir())
        result = est.train_and_evaluate(estimator, *specs(6, train={"hooks": [build(estimator)]}))
        out.append([result[0] and result[0]["global_step"], variables(path)["global_step"]])
    return out


@case
def read_evaluations_of_folder(folder):
    """experimental's and the event files' own way to past evaluations."""
    estimator = linear_estimator(folder, save_checkpoints_steps=2)
    est.train_and_evaluate(estimator, *specs(4))
    return [
        os.path.relpath(estimator.eval_dir(), folder),
        os.path.relpath(estimator.eval_dir("x"), folder),
        [row for row in events(estimator.eval_dir()) if row[0] in ("mae", "loss")],
    ]


@case
def continuous_evaluation_of_new_checkpoints(folder):
    """evaluate for each checkpoint that checkpoints_iterator finds."""
    estimator = linear_estimator(folder, save_checkpoints_steps=2)
    estimator.train(rows(), steps=4)
    out = []
    for path in tf.train.checkpoints_iterator(folder, timeout=0.1, timeout_fn=lambda: True):
        out.append(estimator.evaluate(rows(repeat=1), checkpoint_path=path))
        if len(out) == 2:
            break
    return out


@case
def evaluator_of_cluster(folder):
    """TF_CONFIG of an evaluator, with a training that is over."""
    linear_estimator(folder).train(rows(), steps=4)
    task = {"cluster": {"chief": ["localhost:1"]}, "task": {"type": "evaluator", "index": 0}}
    os.environ["TF_CONFIG"] = json.dumps(task)
    try:
        log = []
        estimator = linear_estimator(folder)
        evaluate = {"exporters": [Recorder(log)], "throttle_secs": 1}
        result = error_of(est.train_and_evaluate, estimator, *specs(4, evaluate=evaluate))
        return [result[0], log, estimator.config.task_type, estimator.config.is_chief]
    finally:
        del os.environ["TF_CONFIG"]


@case
def single_worker_cluster(folder):
    """TF_CONFIG of a chief that is alone."""
    task = {"cluster": {"chief": ["localhost:1"]}, "task": {"type": "chief", "index": 0}}
    os.environ["TF_CONFIG"] = json.dumps(task)
    try:
        estimator = linear_estimator(folder)
        estimator.train(rows(), steps=2)
        run = estimator.config
        return [variables(folder), run.task_type, run.is_chief, run.num_worker_replicas]
    finally:
        del os.environ["TF_CONFIG"]


@case
def metrics_missing_in_evaluation(folder):
    """An evaluation whose input has nothing."""

    def model_fn(features, labels, mode):
        return linear(features, labels, mode)

    estimator = linear_estimator(folder, model_fn)
    nothing = lambda: tf.data.Dataset.from_tensor_slices(([[0.0, 0.0]], [0.0])).take(0).batch(1)
    evaluate = est.EvalSpec(nothing, steps=None, start_delay_secs=0, throttle_secs=0)
    return error_of(est.train_and_evaluate, estimator, est.TrainSpec(rows(), 2), evaluate)[:2]


@case
def same_spec_used_twice(folder):
    train, evaluate = specs(3)
    out = []
    for name in ("a", "b"):
        estimator = linear_estimator(folder + "/" + name)
        out.append(est.train_and_evaluate(estimator, train, evaluate)[0])
    return out


@case
def spec_fields(folder):
    train, evaluate = specs(3)
    return [
        list(train._fields),
        list(evaluate._fields),
        [evaluate.steps, evaluate.name, evaluate.hooks, evaluate.exporters],
        [est.EvalSpec(rows()).steps, est.EvalSpec(rows()).throttle_secs],
        est.EvalSpec(rows()).start_delay_secs,
        [train.max_steps, train.hooks],
    ]
