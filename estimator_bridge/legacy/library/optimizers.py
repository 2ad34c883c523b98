"""Functions of ``canned.optimizers``: an optimizer from what an estimator is given."""

from __future__ import annotations

from typing import Any

from estimator_bridge.canned.optimizers import optimizer_v1, optimizer_v2

__all__ = ["get_optimizer_instance", "get_optimizer_instance_v2"]


def get_optimizer_instance(opt: Any, learning_rate: float | None = None) -> Any:
    """A v1 optimizer.

    Args:
      opt: a name, an optimizer, or a function without arguments that makes one.
      learning_rate: of an optimizer by name.

    Raises:
      ValueError: the name is not known or comes without learning_rate, or it is no v1 optimizer.
    """
    made = optimizer_v1(opt, learning_rate or 1.0)  # says first if there is no such name
    if isinstance(opt, str) and not learning_rate:
        raise ValueError(
            f"learning_rate must be specified when opt is string. Got opt={opt!r}, "
            f"learning_rate={learning_rate!r}."
        )
    return made


def get_optimizer_instance_v2(opt: Any, learning_rate: float | None = None) -> Any:
    """A tf_keras optimizer.

    Args:
      opt: a name, an optimizer, or a function without arguments that makes one.
      learning_rate: of an optimizer by name; by default the optimizer's own.

    Raises:
      ValueError: the name is not known, or it is no tf_keras optimizer.
    """
    return optimizer_v2(opt, learning_rate)
