"""The Python functions behind ``tf.data.Dataset.from_generator``, by their tokens in the graph."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import tensorflow as tf

# The functions of py_function and numpy_function, which operations name by a token.
from tensorflow.python.ops import script_ops

__all__ = ["GeneratorCalls", "generator_calls", "register_function"]

_functions = script_ops._py_funcs


class GeneratorCalls:
    """What ``from_generator`` calls in Python.

    Args:
      state: TensorFlow's record of the passes through the generator.
      convert: TensorFlow's function that draws an element and converts it.
      structure: the structure of an element, with a type for each component.

    Attributes:
      structure: as given.
    """

    def __init__(self, state: Any, convert: Callable[[Any], Any], structure: Any):
        self._state, self._convert, self.structure = state, convert, structure

    def begin(self, *args: Any) -> np.ndarray:
        """Begins a pass, and returns its number; the generator is called with the first draw."""
        return self._state.get_next_id(*args)

    def iterator(self, number: np.ndarray) -> Iterator[Any]:
        """Returns the iterator of a pass; the first call calls the generator."""
        return self._state.get_iterator(number.item())

    def convert(self, number: np.ndarray, element: Any) -> list[np.ndarray]:
        """Returns the arrays of an element's components.

        Raises:
          TypeError: the element is not of the dataset's types and shapes.
        """
        iterators, key = self._state._iterators, number.item()
        iterator, iterators[key] = iterators[key], iter([element])
        try:
            return self._convert(number)
        finally:
            iterators[key] = iterator

    def end(self, number: np.ndarray) -> None:
        """Ends a pass."""
        self._state.iterator_completed(number)


def generator_calls(begin: bytes, draw: bytes) -> GeneratorCalls | None:
    """Returns what a generator's dataset calls.

    Args:
      begin: the token of the function that begins a pass.
      draw: the token of the function that draws an element.

    Returns:
      The calls; None if this release of TensorFlow makes such a dataset in another way.
    """
    first, convert = (
        inspect.unwrap(_functions.get(token.decode(), _unknown)) for token in (begin, draw)
    )
    state = getattr(first, "__self__", None)
    if not all(hasattr(state, name) for name in _OF_STATE) or not inspect.isfunction(convert):
        return None
    variables = inspect.getclosurevars(convert).nonlocals
    if variables.get("generator_state") is not state or "output_types" not in variables:
        return None
    return GeneratorCalls(state, convert, variables["output_types"])


_OF_STATE = ("get_next_id", "get_iterator", "iterator_completed", "_iterators")


def _unknown() -> None:
    """Stands for a function that is not registered."""


def register_function(graph: tf.Graph, function: Callable[..., Any]) -> bytes:
    """Registers a function for ``PyFunc`` operations.

    Args:
      graph: the function lives as long as it.
      function: takes and returns arrays, and is not converted by AutoGraph.

    Returns:
      The token of the function.
    """
    function = tf.autograph.experimental.do_not_convert(function)
    if not hasattr(graph, "_py_funcs_used_in_graph"):
        graph._py_funcs_used_in_graph = []
    graph._py_funcs_used_in_graph.append(function)
    return _functions.insert(function).encode()
