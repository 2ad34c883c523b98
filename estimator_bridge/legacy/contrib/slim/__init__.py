"""``tf.contrib.slim``: the package tf_slim where it is installed, and slim's core where it is not.

The core is the layers of ``tf.contrib.layers``, arg_scope, the functions for variables of
``tf.contrib.framework``, and losses and metrics. Either way arg_scope is one with that of
``tf.contrib.framework``.
"""

from __future__ import annotations

import importlib.util
from typing import Any

from estimator_bridge.legacy.contrib.arg_scope import (
    add_arg_scope,
    arg_scope,
    arg_scope_func_key,
    arg_scoped_arguments,
    current_arg_scope,
    has_arg_scope,
)
from estimator_bridge.legacy.contrib.slim import core

_SCOPES = [
    "add_arg_scope",
    "arg_scope",
    "arg_scope_func_key",
    "arg_scoped_arguments",
    "current_arg_scope",
    "has_arg_scope",
]

if importlib.util.find_spec("tf_slim") is None:
    _find, _names = core.find, core.names()
else:
    from estimator_bridge.legacy.contrib.slim import package

    _find, _names = package.find, package.names()

__all__ = [  # noqa: PLE0604 - a list of strings, as the tests see
    "add_arg_scope",
    "arg_scope",
    "arg_scope_func_key",
    "arg_scoped_arguments",
    "current_arg_scope",
    "has_arg_scope",
    *(name for name in _names if name not in _SCOPES),
]


def __getattr__(name: str) -> Any:
    return _find(name)


def __dir__() -> list[str]:
    return sorted(__all__)
