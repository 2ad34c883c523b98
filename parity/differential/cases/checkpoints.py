"""Checkpoints: their files, the file ``checkpoint``, and what reads them."""

from __future__ import annotations

import os
import pathlib
import re
import shutil

from parity.differential.cases.small_models import linear, linear_estimator, rows
from parity.differential.tools import (
    case,
    config,
    error_of,
    est,
    files,
    np,
    plain,
    tf,
    variables,
)


def state(folder):
    """The file ``checkpoint``: the latest and all, without timestamps."""
    text = pathlib.Path(folder, "checkpoint").read_text()
    return [line for line in text.split("\n") if "timestamp" not in line]


@case
def checkpoint_state_file(folder):
    """Paths are written relative to the folder."""
    estimator = linear_estimator(folder, save_checkpoints_steps=2)
    estimator.train(rows(), steps=5)
    text = pathlib.Path(folder, "checkpoint").read_text()
    return [state(folder), len(re.findall(r"all_model_checkpoint_timestamps: \d+\.\d+", text))]


@case
def checkpoints_kept(folder):
    out = []
    for keep in (1, 2, 0, None):
        path = folder + "/%s" % keep
        settings = {"keep_checkpoint_max": keep, "save_checkpoints_steps": 1}
        error = error_of(lambda: linear_estimator(path, **settings).train(rows(), steps=4) and 0)
        out.append([keep, error, files(path) if os.path.isdir(path) else None])
        if os.path.exists(path + "/checkpoint"):
            out.append(state(path))
    return out


@case
def checkpoints_kept_over_runs(folder):
    """A second run counts the first run's checkpoints among those to keep."""
    for _ in range(3):
        linear_estimator(folder, keep_checkpoint_max=3, save_checkpoints_steps=1).train(
            rows(), steps=2
        )
    return [files(folder), state(folder)]


@case
def checkpoints_kept_by_hours(folder):
    linear_estimator(
        folder,
        keep_checkpoint_max=1,
        keep_checkpoint_every_n_hours=1e-9,
        save_checkpoints_steps=1,
    ).train(rows(), steps=4)
    return [files(folder), state(folder)]


@case
def no_checkpoints_at_all(folder):
    estimator = linear_estimator(folder, save_checkpoints_steps=None, save_checkpoints_secs=None)
    estimator.train(rows(), steps=3)
    return [files(folder), error_of(estimator.evaluate, rows(repeat=1))[:2]]


@case
def graph_files(folder):
    linear_estimator(folder + "/a").train(rows(), steps=1)
    linear_estimator(folder + "/b", checkpoint_save_graph_def=False).train(rows(), steps=1)
    return [files(folder + "/a"), files(folder + "/b")]


@case
def variable_names_and_values(folder):
    estimator = linear_estimator(folder)
    before = [error_of(estimator.get_variable_names)[:2], estimator.latest_checkpoint()]
    before.append(error_of(estimator.get_variable_value, "w")[:2])
    estimator.train(rows(), steps=2)
    names = estimator.get_variable_names()
    values = [estimator.get_variable_value(name) for name in names]
    after = [sorted(names), type(names).__name__, plain(dict(zip(names, values)))]
    after.append([type(value).__name__ for value in values])
    after.append(error_of(estimator.get_variable_value, "w:0")[:2])
    return [before, after, os.path.basename(estimator.latest_checkpoint())]


@case
def variable_value_of_absent_name(folder):
    estimator = linear_estimator(folder)
    estimator.train(rows(), steps=1)
    return error_of(estimator.get_variable_value, "no/such")[:2]


@case
def evaluation_of_older_checkpoint(folder):
    estimator = linear_estimator(folder, save_checkpoints_steps=2)
    estimator.train(rows(), steps=4)
    out = []
    for step in (0, 2, 4):
        path = folder + "/model.ckpt-%d" % step
        out.append(estimator.evaluate(rows(repeat=1), checkpoint_path=path))
        data = rows(repeat=1, labels=False)
        out.append(list(estimator.predict(data, checkpoint_path=path))[:2])
    absent = folder + "/model.ckpt-9"
    out.append(error_of(estimator.evaluate, rows(repeat=1), checkpoint_path=absent)[0])
    out.append(error_of(estimator.evaluate, rows(repeat=1), checkpoint_path="")[0])
    return out


@case
def folder_moved(folder):
    """A copied model_dir continues from its own checkpoint: paths are relative."""
    linear_estimator(folder + "/a").train(rows(), steps=3)
    shutil.copytree(folder + "/a", folder + "/b")
    shutil.rmtree(folder + "/a")
    linear_estimator(folder + "/b").train(rows(), steps=2)
    return [variables(folder + "/b"), state(folder + "/b"), os.path.exists(folder + "/a")]


@case
def relative_model_dir(folder):
    here = os.getcwd()
    os.chdir(folder)
    try:
        estimator = linear_estimator("runs/first")
        estimator.train(rows(), steps=2)
        os.makedirs("elsewhere")
        result = [estimator.model_dir, files(folder), estimator.latest_checkpoint()]
        return [result, estimator.evaluate(rows(repeat=1)), state(folder + "/runs/first")]
    finally:
        os.chdir(here)


@case
def model_dir_with_trailing_slash(folder):
    estimator = linear_estimator(folder + "/a/")
    estimator.train(rows(), steps=1)
    return [files(folder), estimator.model_dir[-3:], estimator.latest_checkpoint()[-15:]]


@case
def older_checkpoint_chosen_by_state_file(folder):
    """A program that edits the file `checkpoint` to go back."""
    linear_estimator(folder, save_checkpoints_steps=2).train(rows(), steps=4)
    tf.train.update_checkpoint_state(folder, folder + "/model.ckpt-2")
    estimator = linear_estimator(folder)
    evaluation = estimator.evaluate(rows(repeat=1))
    estimator.train(rows(), steps=1)
    return [evaluation, variables(folder), state(folder), files(folder)]


@case
def checkpoint_without_global_step(folder):
    """Weights that a plain Saver has written in a session of the program's."""
    with tf.Graph().as_default(), tf.Session() as session:
        tf.get_variable("w", [2, 1], initializer=tf.ones_initializer())
        tf.get_variable("b", [1], initializer=tf.ones_initializer())
        session.run(tf.global_variables_initializer())
        os.makedirs(folder + "/m")
        tf.train.Saver().save(session, folder + "/m/model.ckpt-5")
    estimator = linear_estimator(folder + "/m")
    return [
        error_of(estimator.evaluate, rows(repeat=1))[0],
        error_of(lambda: estimator.train(rows(), steps=1) and 0)[0],
        sorted(estimator.get_variable_names()),
    ]


@case
def model_that_grew(folder):
    """A variable that the checkpoint does not have."""
    linear_estimator(folder).train(rows(), steps=1)

    def grown(features, labels, mode):
        tf.get_variable("new", [2], initializer=tf.zeros_initializer())
        return linear(features, labels, mode)

    estimator = linear_estimator(folder, grown)
    return [
        error_of(lambda: estimator.train(rows(), steps=1) and 0)[:2],
        error_of(estimator.evaluate, rows(repeat=1))[:2],
    ]


@case
def model_that_shrank(folder):
    """A variable of the checkpoint that the model does not have any more."""

    def large(features, labels, mode):
        tf.get_variable("old", [2], initializer=tf.zeros_initializer())
        return linear(features, labels, mode)

    linear_estimator(folder, large).train(rows(), steps=1)
    linear_estimator(folder).train(rows(), steps=1)
    return [variables(folder), sorted(variables(folder + "/model.ckpt-1"))]


@case
def shape_that_changed(folder):
    linear_estimator(folder).train(rows(), steps=1)

    def other(features, labels, mode):
        w = tf.get_variable("w", [3, 1])
        loss = tf.reduce_sum(w) + tf.reduce_sum(features)
        step = tf.assign_add(tf.train.get_global_step(), 1)
        return est.EstimatorSpec(mode, loss=loss, train_op=step)

    estimator = est.Estimator(other, config=config(folder))
    return error_of(lambda: estimator.train(rows(), steps=1) and 0)[:2]


@case
def checkpoint_reader_and_saver_of_program(folder):
    """A program reads an Estimator's checkpoint with a Saver and a graph of its own."""
    linear_estimator(folder).train(rows(), steps=2)
    path = tf.train.latest_checkpoint(folder)
    with tf.Graph().as_default(), tf.Session() as session:
        saver = tf.train.import_meta_graph(path + ".meta", clear_devices=True)
        saver.restore(session, path)
        names = sorted(v.op.name for v in tf.trainable_variables())
        values = session.run({v.op.name: v for v in tf.trainable_variables()})
        step = session.run(tf.train.get_global_step())
    return [names, plain(values), plain(step), tf.train.list_variables(folder)]


@case
def saved_twice_at_one_step(folder):
    """A run of steps that end where a checkpoint was just saved."""
    log = []

    class Count(tf.train.CheckpointSaverListener):
        def after_save(self, session, global_step_value):
            log.append(int(global_step_value))

    estimator = linear_estimator(folder, save_checkpoints_steps=2)
    for _ in range(2):
        estimator.train(rows(), steps=4, saving_listeners=[Count()])
        log.append("--")
    return [log, files(folder), np.shape(log)]
