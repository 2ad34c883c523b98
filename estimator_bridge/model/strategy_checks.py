"""Checks the distribution strategies of a RunConfig."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

__all__ = ["check_strategy", "merge_strategies"]


def check_strategy(name: str, strategy: Any) -> None:
    """Checks that a strategy can distribute an Estimator.

    Raises:
      TypeError: `strategy` is not a ``tf.distribute`` strategy.
      ValueError: it is the TF2 parameter server strategy, which needs its own training loop.
    """
    if strategy is None:
        return
    if not callable(getattr(strategy, "scope", None)):
        raise TypeError(
            f"{name} must be a tf.distribute strategy, such as tf.distribute.MirroredStrategy(), "
            f"got {strategy!r}."
        )
    # A program may have put TF1's class in place of TF2's, as it was in TensorFlow 2.3.
    of_tf1 = tf.compat.v1.distribute.experimental.ParameterServerStrategy
    of_tf2 = tf.distribute.experimental.ParameterServerStrategy
    if type(strategy) is of_tf2 and of_tf2 is not of_tf1:
        raise ValueError(
            "Please use `tf.compat.v1.distribute.experimental.ParameterServerStrategy` for "
            f"parameter server strategy with estimator: {name} was given the TF2 one, which needs "
            "a coordinator's own loop. MultiWorkerMirroredStrategy trains on the same machines."
        )


def merge_strategies(train: Any, evaluate: Any, both: Any) -> tuple[Any, Any]:
    """Determines the training and evaluation strategies.

    Args:
      train: RunConfig's `train_distribute`.
      evaluate: its `eval_distribute`.
      both: its `experimental_distribute`, which may hold either strategy instead.

    Returns:
      The strategies to train and to evaluate under; each may be None.

    Raises:
      ValueError: a strategy is given twice, or a single client should drive remote workers.
    """
    if both is None:
        return train, evaluate
    if getattr(both, "remote_cluster", None):
        raise ValueError(
            "experimental_distribute.remote_cluster, one client that drives all workers, is not "
            "supported. Start one process per worker, each with its TF_CONFIG."
        )
    strategies = []
    for name, strategy in (("train_distribute", train), ("eval_distribute", evaluate)):
        other = getattr(both, name, None)
        if strategy is not None and other is not None:
            raise ValueError(
                f"Either `{name}` or `experimental_distribute.{name}` can be set, got both."
            )
        strategies.append(other if strategy is None else strategy)
    return strategies[0], strategies[1]
