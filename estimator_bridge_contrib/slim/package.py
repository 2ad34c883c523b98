"""Provides tf_slim as slim, with arg_scope shared."""

from __future__ import annotations

import importlib
import importlib.util
from typing import Any

from estimator_bridge_contrib import arg_scope as scopes
from estimator_bridge_contrib.names import NAMES
from estimator_bridge_contrib.namespaces import NAMESPACES, Opened

__all__ = ["opened"]

_SCOPES = NAMES["slim"]["arg_scope"].split()
# An optional package, so it is not imported like the required ones.
tf_slim = importlib.import_module("tf_slim")
_their_scopes = importlib.import_module("tf_slim.ops.arg_scope")


def opened() -> Opened:
    """Returns ``__all__``, ``__getattr__`` and ``__dir__`` of the namespace's file."""
    theirs = [name for name in dir(tf_slim) if not name.startswith("_")]
    names = sorted({*_SCOPES, *theirs})
    return names, _find, lambda: names


def _find(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(f"module {__package__!r} has no attribute {name!r}")
    if name in _SCOPES:
        return getattr(scopes, name)
    if name in ("initializers", "regularizers", "utils"):  # not exported there
        return importlib.import_module(f"tf_slim.layers.{name}")
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
    """Maps the keys of ``tf.contrib.layers``' layers to those of the same layers of tf_slim."""
    twins = {}
    for place in ("layers", "model_variables"):
        for name in NAMES["slim"][place].split():
            ours, theirs = NAMESPACES["slim"].find(name), getattr(tf_slim, name, None)
            if theirs is not None and scopes.has_arg_scope(ours):
                twins[scopes.arg_scope_func_key(ours)] = scopes.arg_scope_func_key(theirs)
    return twins


scopes.join(_their_scopes._ARGSTACK, _their_scopes._DECORATED_OPS, _twins())
