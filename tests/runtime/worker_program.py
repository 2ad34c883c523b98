"""The program of each process of test_worker_sync.py and test_worker_restart.py.

Its arguments are the program's name and model_dir. TF_CONFIG gives it its role. It prints JSON, one
object a line.
"""

import json
import os
import sys
import time

import estimator_bridge as eb  # isort: skip  # first: it selects Keras 2 before TensorFlow loads

import numpy as np
import tensorflow as tf

v1 = tf.compat.v1

PLACE = json.loads(os.environ.get("TF_CONFIG", "{}")).get("task", {"type": "alone", "index": 0})
X = np.random.RandomState(0).randn(2, 8, 3).astype(np.float32)  # two replicas' batches
Y = X @ np.float32([[1], [2], [3]])


def say(**what):
    print(json.dumps(what), flush=True)


def model_fn(features, labels, mode, params):
    is_training = mode == eb.ModeKeys.TRAIN
    features = v1.layers.batch_normalization(
        features, training=is_training, momentum=0.5, name="norm"
    )
    weights = v1.get_variable("weights", [3, 1])  # without tf_random_seed, drawn anew everywhere
    predicted = tf.matmul(features, weights)
    if mode == eb.ModeKeys.PREDICT:
        return eb.EstimatorSpec(mode, {"y": predicted})
    v1.get_variable("half", [2], tf.bfloat16, v1.random_uniform_initializer(), trainable=False)
    loss = tf.reduce_mean(tf.square(predicted - labels))
    if params.get("poison"):  # on one worker: 0 / 0 at the ninth step
        left = tf.cast(8 - v1.train.get_global_step(), tf.float32)
        loss += 0.0 * left / left
    if mode == eb.ModeKeys.EVAL:
        return eb.EstimatorSpec(mode, loss=loss)
    optimizer = v1.train.AdamOptimizer(0.05)
    updates = [*v1.get_collection(v1.GraphKeys.UPDATE_OPS)]
    for name, dtype, more in (("seen", tf.int64, 9), ("waves", tf.complex64, 1 + 2j)):
        each = v1.get_variable(
            name, [], dtype, v1.ones_initializer(), trainable=False,
            synchronization=tf.VariableSynchronization.ON_READ,
            aggregation=tf.VariableAggregation.SUM,
        )  # fmt: skip
        updates.append(each.assign_add(more))
    # No step needs it: the chief's hooks fetch it.
    everywhere = tf.distribute.get_replica_context().all_reduce("mean", loss)
    v1.summary.scalar("everywhere", everywhere)
    with tf.control_dependencies(updates):
        train_op = optimizer.minimize(loss, v1.train.get_global_step())
    hooks = [hook(everywhere) for hook in params.get("chief_hooks", ())]
    return eb.EstimatorSpec(mode, loss=loss, train_op=train_op, training_chief_hooks=hooks)


def input_fn(batches=None):
    def dataset(input_context=None):
        data = tf.data.Dataset.from_tensor_slices((X, Y))
        if input_context is None:
            return data.repeat()
        assert input_context.num_replicas_in_sync == 2
        number = input_context.input_pipeline_id
        part = data.shard(input_context.num_input_pipelines, number).repeat()
        return part if batches is None else part.take(batches[number])

    return dataset


class AddsUp(v1.train.SessionRunHook):
    """Runs an operation that changes state, in the steps in which it is called."""

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


class EvaluatesAtSeven(v1.train.CheckpointSaverListener):
    def __init__(self, estimator):
        self._estimator = estimator

    def after_save(self, session, global_step_value):
        if global_step_value == 7:
            self._estimator.evaluate(input_fn(), steps=1)


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


def estimators_in(folder, params=None, **config):
    if PLACE["type"] == "alone":
        strategy = tf.distribute.MirroredStrategy(["/cpu:0", "/cpu:1"])
    elif "HEARTBEAT_SECS" in os.environ:
        heartbeat_secs = float(os.environ["HEARTBEAT_SECS"])
        strategy = eb.runtime.multi_worker_strategy(120, heartbeat_secs=heartbeat_secs)
    else:
        strategy = tf.distribute.MultiWorkerMirroredStrategy()
    config = eb.RunConfig(folder, train_distribute=strategy, save_summary_steps=3, **config)
    return lambda name, **more: eb.Estimator(
        model_fn, os.path.join(folder, name), config.replace(model_dir=os.path.join(folder, name)),
        {**(params or {}), **more},
    )  # fmt: skip


def train_and_evaluate(estimator):
    def receiver_fn():
        x = v1.placeholder(tf.float32, [None, 3])
        return eb.export.TensorServingInputReceiver(x, x)

    exporters = [
        eb.FinalExporter("final", receiver_fn),
        eb.LatestExporter("latest", receiver_fn, exports_to_keep=None),
    ]
    eval_spec = eb.EvalSpec(
        input_fn(), steps=2, exporters=exporters, start_delay_secs=0, throttle_secs=1
    )
    train_spec = eb.TrainSpec(input_fn(), max_steps=30)
    result = eb.train_and_evaluate(estimator, train_spec, eval_spec)
    if result:
        metrics, exports = result
        result = int(metrics["global_step"]), [path.decode() for path in exports]
    say(done="both", result=result)


def together(folder):
    os.environ["FOLDER"] = folder
    is_chief, is_worker = PLACE["type"] == "chief", PLACE["type"] == "worker"
    estimator = estimators_in(folder, save_checkpoints_steps=7)
    train_and_evaluate(estimator("both"))
    if PLACE["type"] == "evaluator":
        return
    hooked = estimator("hooked", chief_hooks=chief_hooks(folder) if is_chief else [])
    hooked.train(input_fn(), max_steps=20)
    say(done="hooked", at=hooked.latest_checkpoint())
    hooked.train(input_fn(), max_steps=20)  # all of them skip it

    short = estimator("short").train(input_fn(batches=[30, 9]), max_steps=20)
    say(done="short", step=int(short.get_variable_value("global_step")))

    hooks = [StopsAt(5)] if is_worker else []
    stopped = estimator("stopped").train(input_fn(), hooks, max_steps=20)
    say(done="stopped", step=int(stopped.get_variable_value("global_step")))

    early = estimator("early")
    high = eb.experimental.stop_if_higher_hook(
        early, "loss", -1.0, run_every_secs=None, run_every_steps=4
    )
    early.train(input_fn(), [high], max_steps=20, saving_listeners=[EvaluatesAtSeven(early)])
    say(done="early", step=int(early.get_variable_value("global_step")))

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


def slow(folder):
    settings = {"save_checkpoints_steps": 5, "keep_checkpoint_max": 20}
    estimator = estimators_in(folder, log_step_count_steps=None, **settings)("slow")
    say(starts=estimator.latest_checkpoint())
    estimator.train(input_fn(), [Slow()], max_steps=60)
    say(weights=estimator.get_variable_value("weights").ravel().tolist())


def waits(folder):
    v1.disable_v2_behavior()
    estimators_in(folder, session_creation_timeout_secs=3)("waits").train(input_fn(), max_steps=2)


class HangsAt(v1.train.SessionRunHook):
    def __init__(self, step):
        self._left = step

    def before_run(self, run_context):
        self._left -= 1
        if not self._left:
            time.sleep(600)


def hangs(folder):
    """Makes the worker hang after connecting; the chief has to notice."""
    hooks = [HangsAt(4)] if PLACE["type"] == "worker" else []
    try:
        estimators_in(folder)("hangs").train(input_fn(), hooks, max_steps=20)
    except eb.errors.WorkerError as error:
        say(error=str(error))


if __name__ == "__main__":
    {"hangs": hangs, "together": together, "slow": slow, "waits": waits}[sys.argv[1]](sys.argv[2])
