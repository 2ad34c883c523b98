"""Finding variables of the default graph by scope, name or pattern."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

import tensorflow as tf

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
    """The variables of a collection.

    Args:
      scope: a regular expression that their names begin with, or a variable scope.
      suffix: an expression that the op names end with, after a "/" or by themselves.
      collection: a graph collection; all global variables by default.

    Returns:
      Those that fit, in the order in which they were made.
    """
    if isinstance(scope, _v1.VariableScope):
        scope = scope.name
    if suffix is not None:
        if ":" not in suffix:
            suffix += ":"
        scope = (scope or "") + ".*" + suffix
    return _v1.get_collection(collection, scope)


def get_model_variables(scope: Any = None, suffix: str | None = None) -> list[Any]:
    """As ``get_variables``, of those that layers of tf.contrib made."""
    return get_variables(scope, suffix, _Keys.MODEL_VARIABLES)


def get_local_variables(scope: Any = None, suffix: str | None = None) -> list[Any]:
    """As ``get_variables``, of local variables: metrics' and the like."""
    return get_variables(scope, suffix, _Keys.LOCAL_VARIABLES)


def get_trainable_variables(scope: Any = None, suffix: str | None = None) -> list[Any]:
    """As ``get_variables``, of trainable variables."""
    return get_variables(scope, suffix, _Keys.TRAINABLE_VARIABLES)


def get_variables_by_suffix(suffix: str, scope: Any = None) -> list[Any]:
    """The global variables whose op names end so."""
    return get_variables(scope=scope, suffix=suffix)


def get_variables_by_name(given_name: str, scope: Any = None) -> list[Any]:
    """The global variables of this name, in whatever scopes."""
    return get_variables(scope=scope, suffix=f"/{given_name}:|^{given_name}:")


def get_unique_variable(var_op_name: str) -> Any:
    """The global variable of this op name, with its scopes.

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
    """The global variables to take from a checkpoint.

    Args:
      include: scopes of those to take; None: all.
      exclude: scopes of those to leave.

    Raises:
      TypeError: an argument is no list.
    """
    for name, scopes in (("include", include), ("exclude", exclude)):
        if scopes is not None and not isinstance(scopes, (list, tuple)):
            raise TypeError(f"{name} is provided but is not a list or a tuple: {scopes!r}.")
    chosen = [v for scope in ([None] if include is None else include) for v in get_variables(scope)]
    left = {id(v) for scope in exclude or () for v in get_variables(scope)}
    return [variable for variable in chosen if id(variable) not in left]


def filter_variables(
    var_list: Iterable[Any],
    include_patterns: Iterable[str] | None = None,
    exclude_patterns: Iterable[str] | None = None,
    reg_search: bool = True,
) -> list[Any]:
    """Chooses among variables by regular expressions.

    Args:
      var_list: variables.
      include_patterns: one of these has to match the name; None: no condition.
      exclude_patterns: none of these may match.
      reg_search: whether an expression may match anywhere in the name, rather than at its begin.

    Returns:
      The chosen ones.
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
    """A variable's name in checkpoints, which the parts of a partitioned one share."""
    part = getattr(var, "_save_slice_info", None)
    return part.full_name if part else var.op.name


def add_model_variable(var: Any) -> None:
    """Adds a variable to the collection MODEL_VARIABLES, if it is not there."""
    if not any(var is known for known in _v1.get_collection(_Keys.MODEL_VARIABLES)):
        _v1.add_to_collection(_Keys.MODEL_VARIABLES, var)
