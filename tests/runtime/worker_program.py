"""What each process of test_workers_together.py and test_workers_restarted.py runs.

Its arguments: which program, and model_dir. TF_CONFIG tells it who it is. It prints JSON, one
object a line.
"""

import json
import os
import sys
import time

import estimator_bridge as eb  # isort: skip  # first: it settles Keras before TensorFlow loads

import numpy as np
import tensorflow as tf

v1 = tf.compat.v1

PLACE = json.loads(os.environ.get("TF_CONFIG", "{}")).get("task", {"type": "alone", "index": 0})
X = np.random.RandomState(0).randn(16, 3).astype(np.float32)
Y = X @ np.float32([[1], [2], [3]])


def say(**what):
    print(json.dumps(what), flush=True)


def model_fn(features, labels, mode, params):
    weights = v1.get_variable("weights", [3, 1])  # without tf_random_seed, drawn anew everywhere
    v1.get_variable("half", [2], tf.bfloat16, v1.random_uniform_initializer(), trainable=False)
    loss = tf.reduce_mean(tf.square(tf.matmul(features, weights) - labels))
    if params.get("poison"):  # on one worker: 0 / 0 at the ninth step
        left = tf.cast(8 - v1.train.get_global_step(), tf.float32)
        loss += 0.0 * left / left
    if mode == eb.ModeKeys.EVAL:
        return eb.EstimatorSpec(mode, loss=loss)
    optimizer = v1.train.AdamOptimizer(0.05)
    # No step needs it: the chief's hooks fetch it.
    everywhere = tf.distribute.get_replica_context().all_reduce("mean", loss)
    v1.summary.scalar("everywhere", everywhere)
    train_op = optimizer.minimize(loss, v1.train.get_global_step())
    hooks = [hook(everywhere) for hook in params.get("chief_hooks", ())]
    return eb.EstimatorSpec(mode, loss=loss, train_op=train_op, training_chief_hooks=hooks)


def input_fn(batches=None):
    def made(input_context=None):
        if input_context is None:
            return tf.data.Dataset.from_tensors((X, Y)).repeat()
        assert input_context.num_replicas_in_sync == 2
        number = input_context.input_pipeline_id
        part = tf.data.Dataset.from_tensor_slices((X, Y))
        part = part.shard(input_context.num_input_pipelines, number).batch(8).repeat()
        return part if batches is None else part.take(batches[number])

    return made


class AddsUp(v1.train.SessionRunHook):
    """Runs an operation that changes state, in the steps where it is called."""

    def __init__(self, everywhere):
        with v1.variable_scope("adds_up", reuse=v1.AUTO_REUSE):
            zero = v1.zeros_initializer()
            self._total = v1.get_variable("total", [], initializer=zero, trainable=False)
        self._add = v1.assign_add(self._total, everywhere)

    def before_run(self, run_context):
        return v1.train.SessionRunArgs(self._add)

    def end(self, session):
        say(added_up=float(session.run(self._total)))


class AddsSometimes(v1.train.LoggingTensorHook):
    """The same at a known cadence: the steps between run in one call."""

    def __init__(self, everywhere):
        zero = v1.zeros_initializer()
        self._counted = v1.get_variable("counted", [], initializer=zero, trainable=False)
        super().__init__({"counted": v1.assign_add(self._counted, 1.0)}, every_n_iter=4)

    def end(self, session):
        say(counted=float(session.run(self._counted)))


class StopsAt(v1.train.SessionRunHook):
    def __init__(self, step):
        self._step = step

    def before_run(self, run_context):
        return v1.train.SessionRunArgs(v1.train.get_global_step())

    def after_run(self, run_context, run_values):
        if run_values.results + 1 >= self._step:
            run_context.request_stop()


class Slow(v1.train.SessionRunHook):
    def before_run(self, run_context):
        time.sleep(0.1)


def chief_hooks(folder):
    return [
        AddsUp,
        AddsSometimes,
        lambda everywhere: v1.train.LoggingTensorHook({"e": everywhere}, every_n_iter=3),
        lambda everywhere: v1.train.StepCounterHook(every_n_steps=4, output_dir=folder + "/rates"),
        lambda everywhere: v1.train.SummarySaverHook(
            save_steps=5, output_dir=folder + "/more", summary_op=v1.summary.merge_all()
        ),
        lambda everywhere: v1.train.CheckpointSaverHook(folder + "/hooked", save_steps=6),
        lambda everywhere: v1.train.FinalOpsHook(v1.train.get_global_step()),
    ]


def made(folder, params=None, **config):
    joins = PLACE["type"] in ("chief", "worker")
    strategy = tf.distribute.MultiWorkerMirroredStrategy() if joins else None
    config = eb.RunConfig(folder, train_distribute=strategy, save_summary_steps=3, **config)
    return lambda name, **more: eb.Estimator(
        model_fn, os.path.join(folder, name), config.replace(model_dir=os.path.join(folder, name)),
        {**(params or {}), **more},
    )  # fmt: skip


def together(folder):
    os.environ["FOLDER"] = folder
    is_chief, is_worker = PLACE["type"] == "chief", PLACE["type"] == "worker"
    estimator = made(folder, save_checkpoints_steps=7)
    hooked = estimator("hooked", chief_hooks=chief_hooks(folder) if is_chief else [])
    hooked.train(input_fn(), max_steps=20)
    say(done="hooked", at=hooked.latest_checkpoint())
    hooked.train(input_fn(), max_steps=20)  # all of them skip it

    short = estimator("short").train(input_fn(batches=[30, 9]), max_steps=20)
    say(done="short", step=int(short.get_variable_value("global_step")))

    hooks = [StopsAt(5)] if is_worker else []
    stopped = estimator("stopped").train(input_fn(), hooks, max_steps=20)
    say(done="stopped", step=int(stopped.get_variable_value("global_step")))

    try:
        estimator("poisoned", poison=is_worker).train(input_fn(), max_steps=20)
    except v1.train.NanLossDuringTrainingError as error:
        say(done="poisoned", error=str(error))
    try:
        estimator("uneven").train(input_fn(), max_steps=20 if is_chief else 30)
    except eb.errors.WorkerError as error:
        say(done="uneven", error=str(error))
    if is_chief:
        say(evaluated=float(hooked.evaluate(input_fn(), steps=2)["loss"]))

    def broken(input_context):
        if is_worker:
            raise KeyError("no such file")
        return input_fn()(input_context)

    try:
        estimator("broken").train(broken, max_steps=20)
    except (KeyError, eb.errors.WorkerError) as error:
        say(done="broken", error=f"{type(error).__name__}: {error}")


def evaluator(folder):
    tf.distribute.MultiWorkerMirroredStrategy()  # as a program makes that all of them run
    estimator, seen = made(folder)("hooked"), None
    while seen is None or seen < 20:
        if estimator.latest_checkpoint():
            seen = int(estimator.evaluate(input_fn(), steps=1)["global_step"])
        time.sleep(0.2)
    say(evaluated_at=seen)


def slow(folder):
    estimator = made(folder, save_checkpoints_steps=5, log_step_count_steps=None)("slow")
    say(starts=estimator.latest_checkpoint())
    estimator.train(input_fn(), [Slow()], max_steps=40)
    say(weights=estimator.get_variable_value("weights").ravel().tolist())


def waits(folder):
    v1.disable_v2_behavior()
    made(folder, session_creation_timeout_secs=3)("waits").train(input_fn(), max_steps=2)


if __name__ == "__main__":
    {"together": together, "evaluator": evaluator, "slow": slow, "waits": waits}[sys.argv[1]](
        sys.argv[2]
    )
