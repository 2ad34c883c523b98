"""Functions of ``canned.optimizers``: make an optimizer from an estimator's argument."""

from __future__ import annotations

from typing import Any

from estimator_bridge.canned.optimizers import optimizer_v1, optimizer_v2

__all__ = ["get_optimizer_instance", "get_optimizer_instance_v2"]


def get_optimizer_instance(opt: Any, learning_rate: float | None = None) -> Any:
    """Makes a v1 optimizer.

    Args:
      opt: a name, an optimizer, or a function without arguments that makes one.
      learning_rate: the learning rate of an optimizer given by name.

    Raises:
      ValueError: the name is unknown or has no learning_rate, or opt is not a v1 optimizer.
    """
    optimizer = optimizer_v1(opt, learning_rate or 1.0)  # checks the name first
    if isinstance(opt, str) and not learning_rate:
        raise ValueError(
            f"learning_rate must be specified when opt is string. Got opt={opt!r}, "
            f"learning_rate={learning_rate!r}."
        )
    return optimizer


def get_optimizer_instance_v2(opt: Any, learning_rate: float | None = None) -> Any:
    """Makes a tf_keras optimizer.

    Args:
      opt: a name, an optimizer, or a function without arguments that makes one.
      learning_rate: the learning rate of an optimizer given by name; by default its own.

    Raises:
      ValueError: the name is unknown, or opt is not a tf_keras optimizer.
    """
    return optimizer_v2(opt, learning_rate)
