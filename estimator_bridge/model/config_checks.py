"""Checks the settings of a RunConfig."""

from __future__ import annotations

import numbers
from collections.abc import Iterable, Mapping
from typing import Any, Callable

import tensorflow as tf

from estimator_bridge.model.fn_args import describe_fn, fn_args
from estimator_bridge.model.strategy_checks import check_strategy

__all__ = ["SAVE_CHECKPOINTS_ERROR", "check_model_dir", "check_settings"]

SAVE_CHECKPOINTS_ERROR = (
    "`save_checkpoints_steps` and `save_checkpoints_secs` cannot be both set. "
    "Given save_checkpoints_steps={} and save_checkpoints_secs={}: pass None for one of them."
)


def check_settings(settings: Mapping[str, Any], names: Iterable[str]) -> None:
    """Checks the named settings; None, which means "not set", is always allowed.

    Args:
      settings: all of a RunConfig's settings.
      names: those to check.

    Raises:
      ValueError: a setting is out of its range.
      TypeError: a setting that must be a number is not one.
    """
    for name in names:
        value = settings[name]
        if value is not None and name in _CHECKS:
            _CHECKS[name](name, value)
    steps, secs = settings["save_checkpoints_steps"], settings["save_checkpoints_secs"]
    if steps is not None and secs is not None:
        raise ValueError(SAVE_CHECKPOINTS_ERROR.format(steps, secs))


def check_model_dir(model_dir: str | None, tf_config: Mapping[str, Any]) -> str | None:
    """Determines the model_dir from the argument and TF_CONFIG.

    Args:
      model_dir: RunConfig's argument.
      tf_config: the content of TF_CONFIG, which may set it too.

    Returns:
      The model_dir that is set; None if there is none.

    Raises:
      ValueError: one of them is empty, or they differ.
    """
    in_tf_config = tf_config.get("model_dir")
    for where, path in (("model_dir", model_dir), ("model_dir in TF_CONFIG", in_tf_config)):
        if path == "":
            raise ValueError(f"{where} should be non-empty. Leave it out to use a temporary one.")
    if model_dir and in_tf_config and model_dir != in_tf_config:
        raise ValueError(
            "`model_dir` provided in RunConfig construct, if set, must have the same value as "
            f"the model_dir in TF_CONFIG. model_dir: {model_dir!r}, TF_CONFIG['model_dir']: "
            f"{in_tf_config!r}."
        )
    return model_dir or in_tf_config


def _number(name: str, value: Any, requirement: str, holds: Callable[[Any], bool]) -> None:
    if not isinstance(value, numbers.Real):
        raise TypeError(f"{name} should be a number {requirement}, got {value!r}.")
    if not holds(value):
        raise ValueError(f"{name} should be {requirement}, got {value!r}.")


def _not_negative(name: str, value: Any) -> None:
    _number(name, value, ">= 0", lambda number: number >= 0)


def _whole_not_negative(name: str, value: Any) -> None:
    _not_negative(name, value)
    if value != int(value):
        raise TypeError(f"{name} should be a whole number >= 0, got {value!r}.")


def _positive(name: str, value: Any) -> None:
    _number(name, value, "> 0", lambda number: number > 0)


def _integer(name: str, value: Any) -> None:
    if not isinstance(value, numbers.Integral):
        raise ValueError(f"{name} must be integer, got {value!r}.")


def _integer_if_set(name: str, value: Any) -> None:
    if not isinstance(value, numbers.Integral):
        raise ValueError(
            f"{name} must be an integer if set. Got {value!r}: give whole seconds, or leave it out."
        )


def _not_empty(name: str, value: Any) -> None:
    if not value:
        raise ValueError(f"{name} should be non-empty, got {value!r}.")


def _session_config(name: str, value: Any) -> None:
    if not isinstance(value, tf.compat.v1.ConfigProto):
        raise ValueError(
            f"{name} must be instance of ConfigProto (tf.compat.v1.ConfigProto), got {value!r}."
        )


def _device_fn(name: str, value: Any) -> None:
    if not callable(value) or fn_args(value) != ("op",):
        description = describe_fn(value) if callable(value) else repr(value)
        raise ValueError(
            f'{name} must be callable with exactly one argument "op", got {description}.'
        )


def _protocol(name: str, value: Any) -> None:
    if value not in ("grpc", "grpc+verbs"):
        raise ValueError(f"{name} should be grpc or grpc+verbs, got {value!r}.")


_CHECKS: dict[str, Callable[[str, Any], None]] = {
    "model_dir": _not_empty,
    "tf_random_seed": _integer,
    "save_summary_steps": _not_negative,
    "save_checkpoints_steps": _not_negative,
    "save_checkpoints_secs": _not_negative,
    "session_config": _session_config,
    "keep_checkpoint_max": _whole_not_negative,
    "keep_checkpoint_every_n_hours": _positive,
    "log_step_count_steps": _positive,
    "device_fn": _device_fn,
    "protocol": _protocol,
    "train_distribute": check_strategy,
    "eval_distribute": check_strategy,
    "experimental_max_worker_delay_secs": _integer_if_set,
    "session_creation_timeout_secs": _positive,
}
