"""The table of probes, and what they share."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import tensorflow as tf

__all__ = ["PROBES", "check", "graph_types", "names_of", "new_graph", "probe"]

Probe = Callable[[], None]

# By the probed names.
PROBES: dict[tuple[str, ...], Probe] = {}


def probe(*names: str) -> Callable[[Probe], Probe]:
    """Returns a decorator that adds a function to the table.

    Args:
        *names: the names of `estimator_bridge.tensorflow_private` that it uses.
    """

    def add(function: Probe) -> Probe:
        PROBES[names] = function
        return function

    return add


def check(is_so: Any, message: str) -> None:
    """Checks one expectation.

    Args:
        is_so: whether it holds.
        message: the text of the error.

    Raises:
        AssertionError: it does not hold.
    """
    if not is_so:
        raise AssertionError(message)


@contextlib.contextmanager
def new_graph() -> Iterator[tf.Graph]:
    """A context with a graph of its own."""
    with tf.Graph().as_default() as graph:
        yield graph


def graph_types(graph: tf.Graph) -> list[str]:
    """Returns the types of a graph's operations, in their order."""
    return [op.type for op in graph.get_operations()]


def names_of(kind: Any) -> set[str]:
    """Returns the attributes and globals that the functions of a class use."""
    members = (getattr(kind, name) for name in vars(kind))
    functions = [member for member in members if hasattr(member, "__code__")]
    return {name for function in functions for name in function.__code__.co_names}
