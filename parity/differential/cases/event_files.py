"""Event files: which events they hold, where they stand, and summaries that programs write."""

from __future__ import annotations

import os

from parity.differential.cases.small_models import linear, linear_estimator, rows
from parity.differential.tools import case, error_of, est, event_kinds, events, files, np, plain, tf


@case
def events_of_training_and_evaluation(folder):
    estimator = linear_estimator(folder, save_summary_steps=2, log_step_count_steps=2)
    estimator.train(rows(), steps=4)
    estimator.evaluate(rows(repeat=1), name="named")
    return [event_kinds(folder), event_kinds(folder + "/eval_named"), files(folder)]


@case
def events_of_two_runs(folder):
    """Each run writes a file of its own, and they follow each other."""
    for _ in range(2):
        linear_estimator(folder, save_summary_steps=1).train(rows(), steps=2)
    count = len([name for name in os.listdir(folder) if name.startswith("events")])
    return [count >= 1, events(folder), event_kinds(folder)]


@case
def summaries_in_scopes(folder):
    """Tags follow the scopes in which summaries stand."""

    def model_fn(features, labels, mode):
        with tf.variable_scope("tower"):
            spec = linear(features, labels, mode)
            tf.summary.scalar("in_variable_scope", spec.loss)
        with tf.name_scope("names"), tf.name_scope("inner"):
            tf.summary.scalar("in_name_scope", spec.loss)
            tf.summary.scalar("twice", spec.loss)
            tf.summary.scalar("twice", spec.loss)
        tf.summary.scalar("with space", spec.loss)
        return spec

    linear_estimator(folder, model_fn, save_summary_steps=1).train(rows(), steps=1)
    return events(folder)


@case
def summaries_in_collections(folder):
    def model_fn(features, labels, mode):
        spec = linear(features, labels, mode)
        tf.summary.scalar("not_kept", spec.loss, collections=["other"])
        tf.summary.scalar("kept", spec.loss, collections=["other", tf.GraphKeys.SUMMARIES])
        tf.add_to_collection(tf.GraphKeys.SUMMARIES, tf.summary.scalar("again", spec.loss))
        return spec

    estimator = linear_estimator(folder, model_fn, save_summary_steps=1)
    return [error_of(lambda: estimator.train(rows(), steps=1) and 0)[0], events(folder)]


@case
def summary_writer_of_hook(folder):
    """A hook that writes summaries of its own with a FileWriter."""

    class Write(tf.train.SessionRunHook):
        def begin(self):
            self.writer = tf.summary.FileWriter(folder + "/own")
            self.step = tf.train.get_global_step()

        def after_run(self, run_context, run_values):
            step = int(run_context.session.run(self.step))
            summary = tf.Summary(value=[tf.Summary.Value(tag="mine", simple_value=step * 2.0)])
            self.writer.add_summary(summary, step)

        def end(self, session):
            self.writer.close()

    linear_estimator(folder + "/m").train(rows(), steps=3, hooks=[Write()])
    return events(folder + "/own")


@case
def writer_cache_of_estimator(folder):
    """The estimator's own writer, which programs take from the cache to add a summary."""

    class Write(tf.train.SessionRunHook):
        def end(self, session):
            writer = tf.summary.FileWriterCache.get(folder)
            value = tf.Summary.Value(tag="late", simple_value=5.0)
            writer.add_summary(tf.Summary(value=[value]), 9)
            writer.flush()

    linear_estimator(folder).train(rows(), steps=2, hooks=[Write()])
    return [row for row in events(folder) if row[0] == "late"]


@case
def summary_hooks_by_steps_and_seconds(folder):
    def hook(**settings):
        class Late(tf.train.SummarySaverHook):
            def begin(self):
                self._summary_op = tf.summary.scalar("x", tf.constant(3.0), collections=[])
                super().begin()

        return Late(summary_op="later", **settings)

    out = []
    for settings in ({"save_steps": 2}, {"save_secs": 1000}):
        path = folder + "/%d" % len(out)
        hooks = [hook(output_dir=path, **settings)]
        linear_estimator(folder + "/m%d" % len(out)).train(rows(), steps=5, hooks=hooks)
        out.append(events(path))
    for settings in ({}, {"save_steps": 1, "save_secs": 1}, {"save_steps": 1}):
        out.append(error_of(lambda: tf.train.SummarySaverHook(**settings) and 0)[:2])
    return out


@case
def images_and_histograms_in_evaluation(folder):
    """An evaluation writes only its metrics, unless a metric is a summary."""

    def model_fn(features, labels, mode):
        spec = linear(features, labels, mode)
        tf.summary.image("picture", tf.ones([1, 2, 2, 3]))
        tf.summary.histogram("values", features)
        if mode == est.ModeKeys.EVAL:
            merged = tf.summary.histogram("as_metric", features)
            extra = dict(spec.eval_metric_ops, shown=(merged, tf.no_op()))
            return spec._replace(eval_metric_ops=extra)
        return spec

    estimator = linear_estimator(folder, model_fn)
    estimator.train(rows(), steps=1)
    result = error_of(estimator.evaluate, rows(repeat=1))
    return [
        result[0],
        sorted(result[1]) if result[0] == "value" else result[1],
        events(folder + "/eval"),
    ]


@case
def vector_metrics_in_events(folder):
    def model_fn(features, labels, mode):
        spec = linear(features, labels, mode)
        if mode == est.ModeKeys.EVAL:
            vector = tf.metrics.mean_tensor(tf.reduce_mean(features, 0))
            return spec._replace(eval_metric_ops={"vector": vector})
        return spec

    estimator = linear_estimator(folder, model_fn)
    estimator.train(rows(), steps=1)
    return [estimator.evaluate(rows(repeat=1)), events(folder + "/eval")]


@case
def graph_in_event_file(folder):
    """The graph that TensorBoard shows has the model's operations."""
    linear_estimator(folder).train(rows(), steps=1)
    names = set()
    for name in os.listdir(folder):
        if name.startswith("events"):
            for event in tf.train.summary_iterator(os.path.join(folder, name)):
                if event.WhichOneof("what") == "graph_def":
                    graph = tf.GraphDef.FromString(event.graph_def)
                    names |= {node.name for node in graph.node}
    return [name in names for name in ("w", "b", "global_step", "mse", "MatMul")]


@case
def nested_summaries_of_metrics(folder):
    """Two evaluations of one step, and of two names."""
    estimator = linear_estimator(folder)
    estimator.train(rows(), steps=1)
    for name in (None, None, "x", "x/y"):
        estimator.evaluate(rows(repeat=1), name=name)
    out = [events(path) for path in (folder + "/eval", folder + "/eval_x")]
    return [out, plain(np.array([name.startswith("eval_x/y") for name in files(folder)]).any())]
