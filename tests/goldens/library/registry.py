"""The registry of cases, and functions that they share."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow.compat.v1 as tf

__all__ = [
    "CASES",
    "LABELS",
    "LOGITS",
    "ROOT",
    "WEIGHTS",
    "X",
    "Y",
    "attempts",
    "case",
    "in_session",
    "module",
    "observed",
    "parameters",
    "plain",
]

ROOT = "tensorflow_estimator.python.estimator"
LABELS = np.array([[1], [0], [1], [1]], np.int64)
LOGITS = np.array([[0.3], [-1.2], [2.1], [-0.4]], np.float32)
WEIGHTS = np.array([[1.0], [2.0], [0.5], [0.0]], np.float32)
X = np.linspace(-1, 1, 24, dtype=np.float32).reshape(8, 3)
Y = np.array([0, 1, 1, 0, 1, 0, 0, 1], np.int64)

CASES: dict[str, Callable[[], Any]] = {}


def case(function: Callable[[], Any]) -> Callable[[], Any]:
    """Registers a case under its name."""
    CASES[function.__name__] = function
    return function


def module(path: str) -> Any:
    """A module of the original's, by its path below the root."""
    return importlib.import_module(f"{ROOT}.{path}")


def parameters(value: Any) -> list[list[Any]] | None:
    """Returns the parameters of a function or class: names, kinds, and defaults of JSON's types."""
    if not callable(value):
        return None
    rows = []
    for parameter in inspect.signature(value).parameters.values():
        default = parameter.default
        if default is parameter.empty:
            shown: Any = "required"
        elif isinstance(default, (str, int, float, bool, type(None))):
            shown = ["is", default]
        else:
            shown = "an object"
        rows.append([parameter.name, parameter.kind.name, shown])
    return rows


def plain(value: Any) -> Any:
    """A value of a session, for JSON."""
    if isinstance(value, dict):
        return {str(k): plain(v) for k, v in sorted(value.items())}
    if isinstance(value, (list, tuple)):
        return [plain(v) for v in value]
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, (np.generic,)):
        return plain(value.item())
    if isinstance(value, bytes):
        return value.decode()
    if isinstance(value, float):
        return round(value, 5)
    return value


def observed(function: Callable[[], Any]) -> Any:
    """Returns the result of a case, or its error."""
    try:
        return plain(function())
    except Exception as error:  # the type is what is compared
        kinds = [k.__name__ for k in type(error).__mro__ if k.__module__ == "builtins"]
        return {"error": kinds[0], "text": str(error)[:40]}


def in_session(build: Callable[[], Any], updates: bool = False) -> Any:
    """Runs what a function builds; of metrics the values after one update."""
    with tf.Graph().as_default(), tf.Session() as session:
        fetches = build()
        session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        session.run(tf.tables_initializer())
        if updates:
            session.run({key: update for key, (_, update) in fetches.items()})
            fetches = {key: value for key, (value, _) in fetches.items()}
        return session.run(fetches)


def attempts(*functions: Callable[[], Any]) -> list[Any]:
    """Outcomes or errors of several calls."""
    return [observed(function) for function in functions]
