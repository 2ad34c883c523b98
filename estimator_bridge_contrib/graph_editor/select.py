"""Chooses operations and tensors by name, scope or a function."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any

import tensorflow as tf

from estimator_bridge_contrib.graph_editor.util import (
    concatenate_unique,
    make_list_of_op,
    make_list_of_t,
)
from estimator_bridge_contrib.graph_editor.walks import (
    check_cios,
    compute_boundary_ts,
    get_backward_walk_ops,
    get_forward_walk_ops,
    get_ops_ios,
    get_walks_intersection_ops,
    get_walks_union_ops,
    get_within_boundary_ops,
    read_tensors,
)

__all__ = [
    "can_be_regex",
    "check_cios",
    "compute_boundary_ts",
    "filter_ops",
    "filter_ops_from_regex",
    "filter_ts",
    "filter_ts_from_regex",
    "get_backward_walk_ops",
    "get_forward_walk_ops",
    "get_name_scope_ops",
    "get_ops_ios",
    "get_walks_intersection_ops",
    "get_walks_union_ops",
    "get_within_boundary_ops",
    "make_regex",
    "select_ops",
    "select_ops_and_ts",
    "select_ts",
]

_Filter = Any  # a function of an element, or True for all
# The start of a regular expression that is meant for one kind of element.
_OPS_ONLY, _TS_ONLY = "(?#ops)", "(?#ts)"


def can_be_regex(obj: Any) -> bool:
    """Returns whether an object is a text or a compiled regular expression."""
    return isinstance(obj, (str, re.Pattern))


def make_regex(obj: Any) -> re.Pattern[str]:
    """Returns a compiled regular expression.

    Raises:
      ValueError: obj is neither a text nor a regular expression.
    """
    if not can_be_regex(obj):
        raise ValueError(f"Expected a string or a regex, got: {type(obj)}")
    return re.compile(obj)


def filter_ts(ops: Any, positive_filter: _Filter) -> list[Any]:
    """Returns the tensors that operations read or give.

    Args:
      ops: operations, or a graph.
      positive_filter: a function of a tensor, or True for all.
    """
    op_list = make_list_of_op(ops)
    tensors = read_tensors(op_list)
    concatenate_unique(tensors, [tensor for op in op_list for tensor in op.outputs])
    return _passing(tensors, positive_filter)


def filter_ts_from_regex(ops: Any, regex: Any) -> list[Any]:
    """Returns the tensors that operations read or give and whose names have a match."""
    pattern = make_regex(regex)
    return filter_ts(ops, lambda tensor: pattern.search(tensor.name))


def filter_ops(ops: Any, positive_filter: _Filter) -> list[Any]:
    """Returns some operations.

    Args:
      ops: operations, or a graph.
      positive_filter: a function of an operation, or True for all.
    """
    return _passing(make_list_of_op(ops), positive_filter)


def filter_ops_from_regex(ops: Any, regex: Any) -> list[Any]:
    """Returns the operations whose names have a match."""
    pattern = make_regex(regex)
    return filter_ops(ops, lambda op: pattern.search(op.name))


def get_name_scope_ops(ops: Any, scope: str) -> list[Any]:
    """Returns the operations below a scope."""
    return filter_ops_from_regex(ops, f"^{scope.removesuffix('/')}(/.*)?$")


def select_ops(*args: Any, **kwargs: Any) -> list[Any]:
    """Returns operations, chosen in several ways.

    Args:
      *args: operations, lists of them, graphs, and regular expressions of names. Tensors, and
        expressions that start with "(?#ts)", are left out.
      **kwargs: graph, which regular expressions need; positive_filter, a function of an operation;
        restrict_ops_regex, whether only expressions that start with "(?#ops)" are used.

    Raises:
      TypeError: an argument has another type.
      ValueError: another keyword, or a regular expression without a graph.
    """
    return _selected(
        args, _options(kwargs), (_TS_ONLY, _OPS_ONLY, "restrict_ops_regex"),
        filter_ops_from_regex, lambda arg: make_list_of_op(arg, ignore_ts=True),
    )  # fmt: skip


def select_ts(*args: Any, **kwargs: Any) -> list[Any]:
    """Returns tensors, chosen in several ways.

    Args:
      *args: tensors, lists of them, graphs, and regular expressions of names. Operations, and
        expressions that start with "(?#ops)", are left out.
      **kwargs: graph, which regular expressions need; positive_filter, a function of a tensor;
        restrict_ts_regex, whether only expressions that start with "(?#ts)" are used.

    Raises:
      TypeError: an argument has another type.
      ValueError: another keyword, or a regular expression without a graph.
    """
    return _selected(
        args, _options(kwargs), (_OPS_ONLY, _TS_ONLY, "restrict_ts_regex"),
        filter_ts_from_regex, lambda arg: make_list_of_t(arg, ignore_ops=True),
    )  # fmt: skip


def select_ops_and_ts(*args: Any, **kwargs: Any) -> tuple[list[Any], list[Any]]:
    """Returns operations and tensors, chosen in several ways.

    Args:
      *args: see ``select_ops`` and ``select_ts``. A regular expression means operations, unless
        it starts with "(?#ts)".
      **kwargs: graph and positive_filter.
    """
    return (
        select_ops(*args, restrict_ops_regex=False, **kwargs),
        select_ts(*args, restrict_ts_regex=True, **kwargs),
    )


def _passing(elements: list[Any], positive_filter: Callable[[Any], Any] | bool | None) -> list[Any]:
    if not callable(positive_filter):
        return elements
    return [each for each in elements if positive_filter(each)]


def _selected(
    args: Iterable[Any],
    options: dict[str, Any],
    expressions: tuple[str, str, str],
    from_regex: Callable[[Any, Any], list[Any]],
    list_elements: Callable[[Any], list[Any]],
) -> list[Any]:
    """Returns elements of one kind.

    Args:
      args: what the program gave.
      options: its keywords.
      expressions: how regular expressions for other kinds start, how those for this kind do, and
        the keyword that asks for that start.
      from_regex: returns a graph's elements whose names match.
      list_elements: returns the elements of any other argument.
    """
    elements: list[Any] = []
    for arg in args:
        if can_be_regex(arg):
            pattern = _pattern(arg, options, *expressions)
            chosen = from_regex(options["graph"], pattern) if pattern else []
        else:
            chosen = list_elements(arg)
        concatenate_unique(elements, _passing(chosen, options.get("positive_filter")))
    return elements


def _options(options: dict[str, Any]) -> dict[str, Any]:
    for name, value in options.items():
        if name not in ("graph", "positive_filter", "restrict_ops_regex", "restrict_ts_regex"):
            raise ValueError(f"Wrong keywords argument: {name}.")
        if name == "graph" and value is not None and not isinstance(value, tf.Graph):
            raise TypeError(f"Expected a tf.Graph, got: {type(value)}")
    return options


def _pattern(
    regex: Any, options: dict[str, Any], others: str, ours: str, restriction: str
) -> re.Pattern[str] | None:
    """Returns a regular expression, or None if it is not meant for this kind of element."""
    if options.get("graph") is None:
        raise ValueError("Use the keyword argument 'graph' to use regex.")
    pattern = make_regex(regex)
    if pattern.pattern.startswith(others):
        return None
    is_ours = pattern.pattern.startswith(ours) or not options.get(restriction)
    return pattern if is_ours else None
