"""The core of slim, for where tf_slim is not installed."""

from __future__ import annotations

import importlib
from typing import Any

from estimator_bridge.legacy.contrib import layers, model_variables
from estimator_bridge.legacy.missing import missing_getattr

__all__ = ["MISSING", "find", "names"]

_CONTRIB = "estimator_bridge.legacy.contrib"
_MODULE = f"{_CONTRIB}.slim"

# Functions for variables, which slim took from tf.contrib.framework.
_FRAMEWORK = (
    "add_model_variable",
    "assert_global_step",
    "assert_or_get_global_step",
    "assign_from_checkpoint",
    "assign_from_checkpoint_fn",
    "assign_from_values",
    "assign_from_values_fn",
    "create_global_step",
    "filter_variables",
    "get_global_step",
    "get_local_variables",
    "get_model_variables",
    "get_or_create_global_step",
    "get_trainable_variables",
    "get_unique_variable",
    "get_variable_full_name",
    "get_variables",
    "get_variables_by_name",
    "get_variables_by_suffix",
    "get_variables_to_restore",
    "global_variable",
    "local_variable",
    "zero_initializer",
)
_MODULES = ("losses", "metrics")


def _install(what: str) -> str:
    return f"needs the package tf-slim, which has it as tf_slim.{what}. Run: pip install tf-slim"


_LOOPS = (
    "needs the package tf-slim. Run: pip install tf-slim; or train with tf.estimator, whose loop "
    "this library runs."
)
MISSING = {
    "learning": _LOOPS,
    "evaluation": _LOOPS,
    **{
        name: _install(name)
        for name in (
            "VariableDeviceChooser",
            "data_decoder",
            "data_provider",
            "dataset",
            "dataset_data_provider",
            "model_analyzer",
            "nets",
            "parallel_reader",
            "prefetch_queue",
            "queues",
            "summaries",
            "tfexample_decoder",
        )
    },
}
_fail = missing_getattr(_MODULE, MISSING, "tf.contrib.slim")


def names() -> list[str]:
    """The names of slim's core."""
    return [*layers.__all__, *model_variables.__all__, *_FRAMEWORK, *_MODULES]


def find(name: str) -> Any:
    """What a name of ``tf.contrib.slim`` is.

    Raises:
      AttributeError: the core has it not; for names that tf_slim has, with that advice.
    """
    for place in (layers, model_variables):
        if name in place.__all__:
            return getattr(place, name)
    if name in _FRAMEWORK:
        return getattr(importlib.import_module(f"{_CONTRIB}.framework"), name)
    if name in _MODULES:
        return importlib.import_module(f"{_CONTRIB}.{name}")
    return _fail(name)
