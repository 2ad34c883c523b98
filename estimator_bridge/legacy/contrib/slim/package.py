"""slim as tf_slim has it, with arg_scope shared."""

from __future__ import annotations

import importlib
import importlib.util
from typing import Any

from estimator_bridge.legacy.contrib import layers, model_variables
from estimator_bridge.legacy.contrib.arg_scope import arg_scope_func_key, has_arg_scope, join

__all__ = ["find", "names"]

_MODULE = "estimator_bridge.legacy.contrib.slim"
# Not what this library requires, so not imported like what it requires.
tf_slim = importlib.import_module("tf_slim")
_their_scopes = importlib.import_module("tf_slim.ops.arg_scope")


def names() -> list[str]:
    """The public names of tf_slim."""
    return [name for name in dir(tf_slim) if not name.startswith("_")]


def find(name: str) -> Any:
    """What a name of ``tf.contrib.slim`` is.

    Raises:
      AttributeError: tf_slim has no such name.
    """
    if name.startswith("__"):
        raise AttributeError(f"module {_MODULE!r} has no attribute {name!r}")
    if name == "utils":  # not exported there
        return importlib.import_module("tf_slim.layers.utils")
    try:
        return getattr(tf_slim, name)
    except AttributeError:
        pass
    # Old programs import the files of nets by their paths, and not only by the package.
    for package in ("tf_slim", "tf_slim.nets"):
        if importlib.util.find_spec(f"{package}.{name}") is not None:
            return importlib.import_module(f"{package}.{name}")
    raise AttributeError(f"module 'tf.contrib.slim' has no attribute {name!r}")


def _twins() -> dict[str, str]:
    """By the key of a layer of ``tf.contrib.layers``, that of the same layer of tf_slim."""
    found = {}
    for place in (layers, model_variables):
        for name in place.__all__:
            ours, theirs = getattr(place, name), getattr(tf_slim, name, None)
            if theirs is not None and has_arg_scope(ours):
                found[arg_scope_func_key(ours)] = arg_scope_func_key(theirs)
    return found


join(_their_scopes._ARGSTACK, _their_scopes._DECORATED_OPS, _twins())
