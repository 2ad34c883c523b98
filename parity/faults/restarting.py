"""Programs for damaged folders and concurrent processes; they run under TensorFlow 2.15 too."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from parity.environment import IS_ORIGINAL, tf

if IS_ORIGINAL:
    api: Any = tf.estimator
    InputHook: Any = tf.data.experimental.CheckpointInputPipelineHook
else:
    import estimator_bridge as eb

    api = eb
    InputHook = eb.training.CheckpointInputPipelineHook

__all__ = ["LAST", "NEWEST", "read", "restart", "train_first", "write_on", "writers"]

_v1 = tf.compat.v1
_Hook: Any = _v1.train.SessionRunHook
NEWEST, LAST = 6, 8  # the step of the newest checkpoint, and the last step of a restart


def _model_fn(features, labels, mode):
    del labels
    step = _v1.train.get_or_create_global_step()
    weights = _v1.get_variable("weights", [64], initializer=_v1.zeros_initializer())
    predictions = {"y": features + tf.reduce_sum(weights)}
    loss = tf.reduce_mean(tf.square(weights * features - 1.0))
    train_op = None
    if mode == "train":
        train_op = _v1.train.AdamOptimizer(0.1).minimize(loss, step)
    return api.EstimatorSpec(mode, predictions, loss, train_op)


def _numbers(count: int | None = None):
    """Returns a different number for each step, so that weights reveal the input's position."""
    return tf.data.Dataset.range(1, 50).map(lambda n: tf.cast(n, tf.float32)).repeat(count)


def _estimator(folder: str, **settings: Any) -> Any:
    settings = {"save_checkpoints_steps": 2, "save_summary_steps": None, **settings}
    return api.Estimator(_model_fn, config=api.RunConfig(folder, **settings))


def _train(folder: str, **arguments: Any) -> Any:
    estimator = _estimator(folder)
    hooks = [InputHook(estimator), *arguments.pop("hooks", ())]
    estimator.train(_numbers, hooks=hooks, **arguments)
    return estimator.get_variable_value("weights").tolist()


class _Began(_Hook):
    """Records the global step at which a training begins."""

    step: int | None = None

    def after_create_session(self, session, coord):
        del coord
        self.step = int(session.run(_v1.train.get_global_step()))


def train_first(folder: str, undisturbed: str) -> dict[str, Any]:
    """Trains to NEWEST in a folder, and in another one to LAST without a restart."""
    _train(folder, max_steps=NEWEST)
    return {"weights": _train(undisturbed, max_steps=LAST)}


def restart(folders: list[str], weights: list[float]) -> list[dict[str, Any]]:
    """Trains to LAST in each folder; returns the first step, and whether the weights are right."""
    outcomes = []
    for folder in folders:
        before = {path.name: path.stat().st_mtime_ns for path in Path(folder).glob("model.ckpt*")}
        began = _Began()
        error = ""
        same = False
        try:
            same = _train(folder, max_steps=LAST, hooks=[began]) == weights
        except Exception as exception:
            error = type(exception).__name__
        is_untouched = all(_time(folder, name) == old for name, old in before.items())
        outcomes.append({"began": began.step, "same": same, "error": error, "kept": is_untouched})
    return outcomes


def _time(folder: str, name: str) -> int | None:
    path = Path(folder, name)
    return path.stat().st_mtime_ns if path.exists() else None


def write_on(folder: str, ready: Callable[[], None]) -> None:
    """Trains until it is killed, with five checkpoints a second, and keeps three of them."""

    class Slowly(_Hook):
        steps = 0

        def after_run(self, run_context, run_values):
            del run_context, run_values
            self.steps += 1
            time.sleep(0.1)
            if self.steps == 10:
                ready()

    estimator = _estimator(folder, keep_checkpoint_max=3)
    estimator.train(_numbers, hooks=[Slowly()])


def writers(folder: str, attempts: int) -> list[dict[str, Any]]:
    """Tries to train in a folder in which another process is training."""
    outcomes = []
    for _ in range(attempts):
        error = ""
        try:
            _estimator(folder).train(_numbers, steps=2)
        except Exception as exception:
            error = type(exception).__name__
        outcomes.append({"error": error})
    return outcomes


def read(folder: str, calls: int) -> list[dict[str, Any]]:
    """Evaluates and predicts in turn with the newest checkpoint of such a folder."""
    outcomes = []
    for call in range(calls):
        estimator = _estimator(folder)
        error = ""
        try:
            if call % 2:
                assert len(list(estimator.predict(lambda: _numbers(1).batch(7)))) == 49
            else:
                assert estimator.evaluate(lambda: _numbers(1).take(3))["global_step"] > 0
        except Exception as exception:
            error = type(exception).__name__
        outcomes.append({"error": error})
        os.sched_yield()
    return outcomes
