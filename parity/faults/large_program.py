"""A training with one variable of 25 million numbers, all of which equal the step."""

from __future__ import annotations

from typing import Any

import numpy as np

import estimator_bridge as eb
from estimator_bridge.checkpoint import latest_checkpoint, load_variable
from parity.environment import tf

__all__ = ["newest", "train"]

_v1 = tf.compat.v1
_Hook: Any = _v1.train.SessionRunHook
_COUNT = 25_000_000


def _model_fn(features, labels, mode):
    del labels
    step = _v1.train.get_or_create_global_step()
    large = _v1.get_variable("large", [_COUNT], initializer=_v1.zeros_initializer())
    loss = tf.reduce_mean(features) + large[0]
    with tf.control_dependencies([loss, large.assign_add(tf.ones([_COUNT]))]):
        train_op = step.assign_add(1)
    return eb.EstimatorSpec(mode, loss=loss, train_op=train_op)


class _Begin(_Hook):
    def __init__(self):
        self.step: int | None = None

    def after_create_session(self, session, coord):
        self.step = int(session.run(_v1.train.get_global_step(session.graph)))


def train(model_dir: str, last: int, checkpoint_count: int) -> int | None:
    """Trains up to a step, with a checkpoint after each.

    Returns:
      The step where it began; None if no step was left.
    """
    config = eb.RunConfig(
        model_dir,
        save_checkpoints_steps=1,
        keep_checkpoint_max=checkpoint_count,
        save_summary_steps=None,
    )
    begin = _Begin()
    hooks = [begin]
    eb.Estimator(_model_fn, config=config).train(
        lambda: tf.data.Dataset.from_tensors(tf.zeros([1])).repeat(),
        hooks=hooks, max_steps=last,
    )  # fmt: skip
    return begin.step


def newest(model_dir: str) -> tuple[int, list[float]]:
    """Returns the newest whole checkpoint's step and its distinct values; -1 and [] if none."""
    path = latest_checkpoint(model_dir)
    if path is None:
        return -1, []
    step = int(load_variable(path, "global_step"))
    return step, np.unique(load_variable(path, "large")).tolist()
