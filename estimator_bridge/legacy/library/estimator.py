"""Functions of ``estimator`` that handle an Estimator's arguments."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import tensorflow as tf

from estimator_bridge.checkpoint.any_checkpoints import newest_listed
from estimator_bridge.experimental.checkpoint_step import global_step_of_folder
from estimator_bridge.training.arguments import check_hooks, check_listeners
from estimator_bridge.training.configuration import config_with_folder
from estimator_bridge.training.metrics import write_results
from estimator_bridge.training.model_call import check_model_fn
from estimator_bridge.training.overridden_members import check_members

__all__ = [
    "VALID_MODEL_FN_ARGS",
    "UsageGauge",
    "api_gauge",
    "assert_members_are_not_overridden",
    "check_checkpoint_available",
    "check_hooks_type",
    "check_listeners_type",
    "extract_metric_update_ops",
    "load_global_step_from_checkpoint_dir",
    "maybe_overwrite_model_dir_and_session_config",
    "verify_model_fn_args",
    "write_dict_to_summary",
]

VALID_MODEL_FN_ARGS = {"features", "labels", "mode", "params", "self", "config"}


def maybe_overwrite_model_dir_and_session_config(config: Any, model_dir: Any) -> Any:
    """Returns a configuration with a folder and a session_config; see `config_with_folder`."""
    return config_with_folder(config, model_dir)


def check_hooks_type(hooks: Any) -> list[Any]:
    """Returns the hooks as a list; see `check_hooks`."""
    return check_hooks(hooks)


def check_listeners_type(saving_listeners: Any) -> list[Any]:
    """Returns the listeners as a list; see `check_listeners`."""
    return check_listeners(saving_listeners)


def verify_model_fn_args(model_fn: Callable[..., Any], params: Any) -> None:
    """Checks the arguments of a model_fn.

    Raises:
      ValueError: model_fn takes no features, has unknown arguments, or does not take the given
        params.
    """
    check_model_fn(model_fn, params)


def assert_members_are_not_overridden(cls: type, obj: Any) -> None:
    """Checks that an estimator's class does not override the members of another.

    Raises:
      ValueError: the class overrides a member.
    """
    check_members(cls, obj)


def check_checkpoint_available(model_dir: str) -> None:
    """Checks that a folder has a checkpoint.

    Raises:
      ValueError: the folder has no checkpoint.
    """
    if not newest_listed(model_dir):
        raise ValueError(
            f"Could not find trained model in model_dir: {model_dir}. It has no checkpoint: call "
            "train() first, or use the folder that train() wrote to."
        )


def load_global_step_from_checkpoint_dir(checkpoint_dir: str) -> Any:
    """Returns the step of a folder's latest checkpoint, or 0; TPU programs resume from it."""
    return global_step_of_folder(checkpoint_dir)


def extract_metric_update_ops(
    eval_dict: Mapping[str, tuple[Any, Any]], distribution: Any = None
) -> tuple[tf.Operation | None, dict[str, Any]]:
    """Groups the metrics' updates into one operation, and returns it with their values by name."""
    pairs = sorted(eval_dict.items())
    group = distribution.group if distribution else lambda update: update
    updates = [group(update) for _, (_, update) in pairs]
    values = {name: value for name, (value, _) in pairs}
    return (tf.group(*updates) if updates else None), values


class UsageGauge:
    """Counts the estimators that a program makes, like the original; nothing reads the counts."""

    def __init__(self) -> None:
        self._cells: dict[tuple[str, ...], UsageCell] = {}

    def get_cell(self, *labels: str) -> UsageCell:
        """Returns the cell for some labels."""
        return self._cells.setdefault(labels, UsageCell())


class UsageCell:
    """A value of the gauge."""

    def __init__(self) -> None:
        self._value: Any = None

    def set(self, value: Any) -> None:
        """Sets the value."""
        self._value = value

    def value(self) -> Any:
        """Returns the value that was set."""
        return self._value


api_gauge = UsageGauge()


def write_dict_to_summary(
    output_dir: str, dictionary: Mapping[str, Any], current_global_step: int
) -> None:
    """Writes the event file of an evaluation.

    Args:
      output_dir: the folder of the evaluation's event files.
      dictionary: the results, by name.
      current_global_step: the step that was evaluated.
    """
    write_results(output_dir, {**dictionary, "global_step": current_global_step}, None)
