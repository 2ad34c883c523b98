"""Checks the arguments of train, evaluate and predict."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from estimator_bridge.model import RunConfig, TaskType
from estimator_bridge.model.argument_lists import checked_items
from estimator_bridge.model.number_checks import check_number

__all__ = ["check_hooks", "check_listeners", "check_steps", "check_trains"]

_train = tf.compat.v1.train


def check_steps(**counts: int | None) -> None:
    """Checks steps and max_steps.

    Raises:
      TypeError: one is not a number.
      ValueError: one is 0 or less, or both are given.
    """
    for name, value in counts.items():
        check_number(name, value)
        if value is not None and value <= 0:
            raise ValueError(f"Must specify {name} > 0, given: {value}.")
    names = [name for name, value in counts.items() if value is not None]
    if len(names) > 1:
        raise ValueError(
            "Can not provide both steps and max_steps: steps is how many steps to train more, "
            f"max_steps the global step to train to. Got {counts}."
        )


def check_trains(config: RunConfig) -> None:
    """Checks that this process's task in its cluster trains.

    Raises:
      ValueError: it is an evaluator or a parameter server.
    """
    if config.task_type in (TaskType.EVALUATOR, TaskType.PS):
        raise ValueError(
            f"Train has been called wrong configuration: this process is {config.task_type} "
            f"{config.task_id} of its cluster, and only the chief and workers train. Please use "
            "train_and_evaluate, which does what the task in TF_CONFIG is there for."
        )


def check_hooks(hooks: Sequence[Any] | None) -> list[Any]:
    """Returns the hooks as a list.

    Raises:
      TypeError: it is not a list, or one is not a SessionRunHook.
    """
    return list(checked_items(hooks, _train.SessionRunHook, "Hooks must be a SessionRunHook"))


def check_listeners(listeners: Sequence[Any] | None) -> list[Any]:
    """Returns the listeners as a list.

    Raises:
      TypeError: it is not a list, or one is not a CheckpointSaverListener.
    """
    rule = "saving_listeners must be a list of CheckpointSaverListener"
    return list(checked_items(listeners, _train.CheckpointSaverListener, rule))
