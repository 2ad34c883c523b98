"""Trainings with exports in a folder that holds files of others."""

from __future__ import annotations

import contextlib
import os
import random
from collections.abc import Callable, Iterator
from typing import Any

import estimator_bridge as eb
from parity.environment import tf

__all__ = ["Killed", "continue_training", "killed_after", "train_first"]

_v1 = tf.compat.v1
# Every module of the library calls them by these names.
_OPERATIONS = [
    *((os, name) for name in ("replace", "rename", "unlink", "rmdir", "mkdir", "makedirs", "open")),
    *((tf.io.gfile, name) for name in ("rename", "remove", "rmtree", "makedirs")),
]


class Killed(BaseException):
    """Stands for the end of a process: no operation on files works after it."""


def _model_fn(features, labels, mode):
    del labels
    weight = _v1.get_variable("weight", [], initializer=_v1.zeros_initializer())
    loss = tf.reduce_mean(tf.square(weight * features - 1.0))
    step = _v1.train.get_or_create_global_step()
    train_op = _v1.train.GradientDescentOptimizer(0.1).minimize(loss, step)
    return eb.EstimatorSpec(mode, {"y": features * weight}, loss, train_op)


def _examples() -> Any:
    return tf.data.Dataset.range(1, 50).map(lambda n: tf.cast(n, tf.float32)).batch(1)


def _receiver() -> Any:
    placeholder = _v1.placeholder(tf.float32, [None])
    return eb.export.TensorServingInputReceiver(placeholder, {"x": placeholder})


def _estimator(folder: str) -> Any:
    config = eb.RunConfig(
        folder, tf_random_seed=1, save_checkpoints_steps=1, save_summary_steps=2,
        log_step_count_steps=None, keep_checkpoint_max=2,
    )  # fmt: skip
    return eb.Estimator(_model_fn, config=config)


def _train(folder: str, step: int) -> Any:
    estimator = _estimator(folder)
    hooks = [eb.training.CheckpointInputPipelineHook(estimator)]
    estimator.train(_examples, hooks=hooks, max_steps=step)
    return estimator


def _export(estimator: Any, exporter: Any, value: float) -> None:
    folder = os.path.join(estimator.model_dir, "export", exporter.name)
    newest = estimator.latest_checkpoint()
    exporter.export(estimator, folder, newest, {"loss": value}, False)


def train_first(folder: str, has_exports: bool) -> None:
    """Trains three steps, and may make two exports."""
    estimator = _train(folder, 3)
    for number in range(2 * has_exports):
        latest = eb.LatestExporter("latest", _receiver, exports_to_keep=1)
        _export(estimator, latest, number)


def continue_training(folder: str, has_exports: bool) -> None:
    """Trains three steps more; with exports, by both exporters that delete, and once more."""
    estimator = _train(folder, 6)
    if has_exports:
        best = eb.BestExporter("best", _receiver, exports_to_keep=1)
        latest = eb.LatestExporter("latest", _receiver, exports_to_keep=1)
        for number in range(2):
            _export(estimator, best, 1.0 - number)
        _export(estimator, latest, 0.0)
        _train(folder, 8)


@contextlib.contextmanager
def killed_after(count: int, end: Callable[[], None] | None = None) -> Iterator[None]:
    """Ends the program at one of the library's operations on files.

    Args:
      count: the number of the operation, from 1. Half of the kills come after the operation.
      end: ends the process; None: the operation, and each later one, raises Killed.
    """
    remaining = count
    is_after = random.Random(count).random() < 0.5

    def counting(real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **kwargs: Any) -> Any:
            nonlocal remaining
            remaining -= 1
            if remaining == 0 and is_after:
                real(*args, **kwargs)
            if remaining <= 0:
                if end is not None:
                    end()
                raise Killed
            return real(*args, **kwargs)

        return call

    before = [(owner, name, getattr(owner, name)) for owner, name in _OPERATIONS]
    for owner, name, real in before:
        setattr(owner, name, counting(real))
    try:
        yield
    finally:
        for owner, name, real in before:
            setattr(owner, name, real)
