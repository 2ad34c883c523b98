"""Finds variables of the default graph by scope, name or pattern."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

import tensorflow as tf

from estimator_bridge.tensorflow_private.variables import saved_slice

__all__ = [
    "add_model_variable",
    "filter_variables",
    "get_local_variables",
    "get_model_variables",
    "get_trainable_variables",
    "get_unique_variable",
    "get_variable_full_name",
    "get_variables",
    "get_variables_by_name",
    "get_variables_by_suffix",
    "get_variables_to_restore",
]

_v1 = tf.compat.v1
_Keys = _v1.GraphKeys


def get_variables(
    scope: Any = None, suffix: str | None = None, collection: str = _Keys.GLOBAL_VARIABLES
) -> list[Any]:
    """Returns the variables of a collection.

    Args:
      scope: a regular expression that matches the start of their names, or a variable scope.
      suffix: an expression that matches the end of their op names, after a "/" or as a whole.
      collection: a graph collection; all global variables by default.

    Returns:
      The matching variables, in the order of their creation.
    """
    if isinstance(scope, _v1.VariableScope):
        scope = scope.name
    if suffix is not None:
        if ":" not in suffix:
            suffix += ":"
        scope = (scope or "") + ".*" + suffix
    return _v1.get_collection(collection, scope)


def get_model_variables(scope: Any = None, suffix: str | None = None) -> list[Any]:
    """Like ``get_variables``, for variables that layers of tf.contrib made."""
    return get_variables(scope, suffix, _Keys.MODEL_VARIABLES)


def get_local_variables(scope: Any = None, suffix: str | None = None) -> list[Any]:
    """Like ``get_variables``, for local variables, such as those of metrics."""
    return get_variables(scope, suffix, _Keys.LOCAL_VARIABLES)


def get_trainable_variables(scope: Any = None, suffix: str | None = None) -> list[Any]:
    """Like ``get_variables``, for trainable variables."""
    return get_variables(scope, suffix, _Keys.TRAINABLE_VARIABLES)


def get_variables_by_suffix(suffix: str, scope: Any = None) -> list[Any]:
    """Returns the global variables whose op names have this suffix."""
    return get_variables(scope=scope, suffix=suffix)


def get_variables_by_name(given_name: str, scope: Any = None) -> list[Any]:
    """Returns the global variables of this name, in any scope."""
    return get_variables(scope=scope, suffix=f"/{given_name}:|^{given_name}:")


def get_unique_variable(var_op_name: str) -> Any:
    """Returns the global variable of this op name, with its scopes.

    Raises:
      ValueError: there is none.
    """
    candidates = get_variables(scope=var_op_name)
    for variable in candidates:
        if variable.op.name == var_op_name:
            return variable
    if not candidates:
        raise ValueError(f"Couldn't find variable {var_op_name}")
    names = [variable.op.name for variable in candidates]
    raise ValueError(
        f"Variable {var_op_name} does not uniquely identify a variable. There are {names}."
    )


def get_variables_to_restore(
    include: Sequence[str] | None = None, exclude: Sequence[str] | None = None
) -> list[Any]:
    """Returns the global variables to restore from a checkpoint.

    Args:
      include: scopes of variables to include; None for all.
      exclude: scopes of variables to exclude.

    Raises:
      TypeError: an argument is not a list.
    """
    for name, scopes in (("include", include), ("exclude", exclude)):
        if scopes is not None and not isinstance(scopes, (list, tuple)):
            raise TypeError(f"{name} is provided but is not a list or a tuple: {scopes!r}.")
    chosen = [v for scope in ([None] if include is None else include) for v in get_variables(scope)]
    excluded_ids = {id(v) for scope in exclude or () for v in get_variables(scope)}
    return [variable for variable in chosen if id(variable) not in excluded_ids]


def filter_variables(
    var_list: Iterable[Any],
    include_patterns: Iterable[str] | None = None,
    exclude_patterns: Iterable[str] | None = None,
    reg_search: bool = True,
) -> list[Any]:
    """Filters variables by regular expressions.

    Args:
      var_list: variables.
      include_patterns: patterns of which one must match the name; None for no condition.
      exclude_patterns: patterns of which none may match the name.
      reg_search: whether a pattern may match anywhere in the name, not only at its start.

    Returns:
      The matching variables.
    """
    matches = re.search if reg_search else re.match
    included, excluded = include_patterns, list(exclude_patterns or ())
    included = None if included is None else list(included)
    return [
        variable
        for variable in var_list
        if (included is None or any(matches(pattern, variable.name) for pattern in included))
        and not any(matches(pattern, variable.name) for pattern in excluded)
    ]


def get_variable_full_name(var: Any) -> str:
    """Returns a variable's name in checkpoints, which the parts of a partitioned one share."""
    part = saved_slice(var)
    return part.full_name if part else var.op.name


def add_model_variable(var: Any) -> None:
    """Adds a variable to the collection MODEL_VARIABLES, if it is not a member."""
    if not any(var is member for member in _v1.get_collection(_Keys.MODEL_VARIABLES)):
        _v1.add_to_collection(_Keys.MODEL_VARIABLES, var)
