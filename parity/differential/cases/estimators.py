"""Estimators and RunConfigs: arguments, subclasses, bad model functions."""

from __future__ import annotations

import json
import os
import tempfile

from parity.differential.cases.outer_loop import X, make, model_fn, te
from parity.differential.tools import case, config, error_of, est, np, plain, repeat, tf, variables


@case
def run_config(folder):
    R = est.RunConfig
    out = []
    c = R()
    out.append(
        {
            k: plain(getattr(c, k))
            for k in (
                "tf_random_seed",
                "save_summary_steps",
                "save_checkpoints_steps",
                "save_checkpoints_secs",
                "keep_checkpoint_max",
                "keep_checkpoint_every_n_hours",
                "log_step_count_steps",
                "train_distribute",
                "eval_distribute",
                "device_fn",
                "protocol",
                "experimental_max_worker_delay_secs",
                "session_creation_timeout_secs",
                "checkpoint_save_graph_def",
            )
        }
    )
    for kw in (
        dict(save_checkpoints_steps=1, save_checkpoints_secs=1),
        dict(save_checkpoints_steps=0),
        dict(save_checkpoints_secs=-1),
        dict(save_summary_steps=-1),
        dict(keep_checkpoint_max=-1),
        dict(keep_checkpoint_every_n_hours=0),
        dict(log_step_count_steps=0),
        dict(log_step_count_steps=-1),
        dict(tf_random_seed=1.5),
        dict(session_config=3),
        dict(device_fn=3),
        dict(model_dir=""),
        dict(protocol="x"),
        dict(save_checkpoints_secs=None),
        dict(save_checkpoints_steps=5),
        dict(train_distribute=None),
        dict(unknown=1),
        dict(checkpoint_save_graph_def=False),
    ):
        out.append(
            error_of(lambda: [R(**kw).save_checkpoints_steps, R(**kw).save_checkpoints_secs])[:2]
        )
    r = c.replace(model_dir="x", save_checkpoints_steps=3)
    out.append(
        [
            r.model_dir,
            r.save_checkpoints_steps,
            r.save_checkpoints_secs,
            error_of(c.replace, nothing=1)[:2],
            error_of(c.replace, task_id=2)[:2],
        ]
    )
    out.append(
        [
            c.is_chief,
            c.master,
            c.num_ps_replicas,
            c.num_worker_replicas,
            c.task_id,
            c.task_type,
            c.global_id_in_cluster,
            c.evaluation_master,
        ]
    )
    return out


@case
def tf_config_env(folder):
    out = []
    for v in (
        {},
        {"cluster": {"worker": ["a:1"]}, "task": {"type": "worker", "index": 0}},
        {"cluster": {"chief": ["a:1"], "ps": ["b:1"]}, "task": {"type": "ps", "index": 0}},
        {"cluster": {"chief": ["a:1"]}, "task": {"type": "evaluator", "index": 0}},
        {"task": {"type": "worker"}},
        {
            "cluster": {"chief": ["a:1"], "worker": ["b:1"]},
            "task": {"type": "worker", "index": 0},
            "session_master": "x",
        },
        {"environment": "cloud", "cluster": {}, "model_dir": "/tmp/q"},
        {"master": "local"},
        {"cluster": {"chief": ["a", "b"]}, "task": {"type": "chief", "index": 0}},
    ):
        os.environ["TF_CONFIG"] = json.dumps(v)

        def go():
            c = est.RunConfig()
            return [
                c.task_type,
                c.task_id,
                c.is_chief,
                c.num_ps_replicas,
                c.num_worker_replicas,
                c.master,
                c.global_id_in_cluster,
                c.model_dir,
                c.evaluation_master,
            ]

        out.append(error_of(go)[:2] if error_of(go)[0] == "error" else error_of(go))
    del os.environ["TF_CONFIG"]
    return out


@case
def constructor(folder):
    E = est.Estimator
    out = []
    for kw in (
        dict(model_fn=None),
        dict(model_fn=3),
        dict(model_fn=lambda features: 0),
        dict(model_fn=lambda x, labels: 0),
        dict(model_fn=lambda features, labels, foo: 0),
        dict(model_fn=lambda features, labels, mode, params: 0),
        dict(model_fn=model_fn, params={"a": 1}),
        dict(model_fn=model_fn, config=3),
        dict(model_fn=model_fn, model_dir=folder, config=config("/tmp/other")),
        dict(model_fn=model_fn, config={"a": 1}),
        dict(model_fn=lambda features, labels, mode, params: 0, params=3),
        dict(model_fn=lambda **kw: 0),
    ):
        out.append(error_of(lambda: E(**kw) and "fine")[:2])
    e = E(lambda features, labels, mode, params: 0, params={"a": [1]}, model_dir=folder)
    e.params["a"].append(2)
    out.append([e.params, e.model_dir == folder, e.config.model_dir == folder])
    return out


@case
def bad_model_fns(folder):
    out = []
    step = lambda: tf.assign_add(tf.train.get_global_step(), 1)
    S = est.EstimatorSpec
    for mf in (
        lambda features, labels, mode: None,
        lambda features, labels, mode: 3,
        lambda features, labels, mode: S(mode),
        lambda features, labels, mode: S(mode, loss=tf.constant(1.0)),
        lambda features, labels, mode: S(mode, train_op=step()),
        lambda features, labels, mode: S("eval", loss=tf.constant(1.0)),
        lambda features, labels, mode: S(mode, loss=tf.constant([1.0, 2.0]), train_op=step()),
        lambda features, labels, mode: S(mode, loss=tf.constant(1.0), train_op=3),
        lambda features, labels, mode: S(mode, loss=tf.constant("a"), train_op=step()),
        lambda features, labels, mode: 1 / 0,
        lambda features, labels, mode: S(mode, loss=tf.constant(1.0), train_op=step),
        lambda features, mode: S(mode, loss=tf.constant(1.0), train_op=step()),
        lambda features, labels: S("train", loss=tf.constant(1.0), train_op=step()),
        lambda features, labels, mode: S(
            mode, loss=tf.constant(1.0), train_op=step(), training_hooks=[3]
        ),
        lambda features, labels, mode: S(mode, loss=tf.constant(1.0), train_op=step(), scaffold=3),
    ):
        out.append(
            error_of(lambda: make(tempfile.mkdtemp(), mf).train(repeat((X, X)), steps=1) and 1)
        )
    return out


@case
def subclass(folder):
    log = []

    class Mine(est.Estimator):
        def train(self, *a, **kw):
            log.append("train")
            return super().train(*a, **kw)

        def evaluate(self, *a, **kw):
            log.append("evaluate")
            return super().evaluate(*a, **kw)

        def extra(self):
            return 1

    e = Mine(model_fn, config=config(folder, save_checkpoints_steps=3))
    r = te(folder, e=e)

    class Bad(est.Estimator):
        def _train_model(self):
            pass

        def get_variable_names(self):
            return 1

    return [
        log,
        r[0][0]["global_step"],
        error_of(lambda: Bad(model_fn) and 1)[:2],
        callable(e.model_fn),
    ]


@case
def batch_size_changes(folder):
    def mf(features, labels, mode):
        return model_fn(tf.reshape(tf.reduce_mean(features, 0), [2]), labels, mode)

    out = []
    e = make(folder, mf)
    for n in (2, 3, 1):
        e.train(repeat(np.tile(X, [n, 1])), steps=2)
        out.append(e.evaluate(repeat(np.tile(X, [n, 1]), n=2)))
    e.train(lambda: tf.data.Dataset.from_tensor_slices(np.tile(X, [7, 1])).batch(3))
    out.append(e.evaluate(lambda: tf.data.Dataset.from_tensor_slices(np.tile(X, [7, 1])).batch(3)))
    return [out, variables(folder)]


@case
def session_config(folder):
    c = tf.ConfigProto(
        allow_soft_placement=False, intra_op_parallelism_threads=1, inter_op_parallelism_threads=1
    )
    e = make(folder, session_config=c)
    e.train(repeat(X), steps=1)
    return variables(folder)
