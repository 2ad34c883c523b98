"""Calls user functions that compute logits."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import tensorflow as tf

from estimator_bridge.model import describe_fn, fn_args

__all__ = ["call_logit_fn"]


def call_logit_fn(
    logit_fn: Callable[..., Any],
    features: Any,
    mode: str,
    params: Mapping[str, Any] | None,
    config: Any,
) -> Any:
    """Calls a logit_fn with the arguments that it takes.

    Args:
      logit_fn: takes features, and any of mode, params, config.
      features: a batch of features.
      mode: one of ModeKeys.
      params: the hyperparameters.
      config: the RunConfig.

    Returns:
      The result of `logit_fn`: a tensor, or tensors by name.

    Raises:
      ValueError: `logit_fn` returned something else.
    """
    argument_names = fn_args(logit_fn)
    argument_values = {"mode": mode, "params": params, "config": config}
    arguments = {name: value for name, value in argument_values.items() if name in argument_names}
    logits = logit_fn(features=features, **arguments)
    if not _is_logits(logits):
        raise ValueError(
            "logit_fn should return a Tensor or a dictionary mapping strings to Tensors. logit_fn "
            f"returned: {logits!r} ({describe_fn(logit_fn)})."
        )
    return logits


def _is_logits(value: Any) -> bool:
    if not isinstance(value, dict):
        return tf.is_tensor(value)
    return all(isinstance(name, str) and tf.is_tensor(v) for name, v in value.items())
