"""Helpers for layers: collections of outputs, static conditions, shapes and sizes."""

from __future__ import annotations

from collections import OrderedDict, namedtuple
from collections.abc import Callable, Iterable
from typing import Any

import tensorflow as tf

__all__ = [
    "NamedOutputs",
    "append_tensor_alias",
    "channel_dimension",
    "channels_first",
    "collect_named_outputs",
    "constant_value",
    "convert_collection_to_dict",
    "gather_tensors_aliases",
    "get_tensor_aliases",
    "get_variable_collections",
    "last_dimension",
    "n_positive_integers",
    "smart_cond",
    "static_cond",
    "two_element_tuple",
]

v1 = tf.compat.v1

NamedOutputs = namedtuple("NamedOutputs", ["name", "outputs"])


def collect_named_outputs(collections: Any, alias: str, outputs: Any) -> Any:
    """Adds a layer's outputs to collections, with the name of its scope as an alias.

    Args:
      collections: a collection's name, or several; None for none.
      alias: the name that ``convert_collection_to_dict`` uses.
      outputs: a tensor.

    Returns:
      The outputs.
    """
    if collections:
        append_tensor_alias(outputs, alias)
        v1.add_to_collections(collections, outputs)
    return outputs


def append_tensor_alias(tensor: Any, alias: str) -> Any:
    """Adds an alias to a tensor, without a slash at the end."""
    tensor.aliases = [*getattr(tensor, "aliases", []), alias.removesuffix("/")]
    return tensor


def get_tensor_aliases(tensor: Any) -> list[str]:
    """Returns a tensor's aliases; without any, the name of its operation."""
    if hasattr(tensor, "aliases"):
        return tensor.aliases
    return [tensor.op.name if tensor.name.endswith(":0") else tensor.name]


def gather_tensors_aliases(tensors: Iterable[Any]) -> list[str]:
    """Returns the aliases of several tensors, in one list."""
    return [alias for tensor in tensors for alias in get_tensor_aliases(tensor)]


def convert_collection_to_dict(
    collection: str, clear_collection: bool = False
) -> OrderedDict[str, Any]:
    """Returns the tensors of a collection by alias, in the order in which they were added.

    Args:
      collection: its name.
      clear_collection: whether to empty it.
    """
    tensors = OrderedDict(
        (alias, tensor)
        for tensor in v1.get_collection(collection)
        for alias in get_tensor_aliases(tensor)
    )
    if clear_collection:
        v1.get_default_graph().clear_collection(collection)
    return tensors


def constant_value(value_or_tensor_or_var: Any, dtype: Any = None) -> Any:
    """Returns a value that is known while the graph is built.

    Args:
      value_or_tensor_or_var: a Python value, a tensor or a variable.
      dtype: the required type of a tensor or variable.

    Returns:
      The value; None if it is known only when the graph runs.

    Raises:
      ValueError: it is None, or has another type.
    """
    value = value_or_tensor_or_var
    if value is None:
        raise ValueError("value_or_tensor_or_var cannot be None")
    if not isinstance(value, (tf.Tensor, tf.Variable)):
        return value
    if dtype and value.dtype != dtype:
        raise ValueError(f"It has the wrong type {value.dtype} instead of {dtype}")
    return None if isinstance(value, tf.Variable) else tf.get_static_value(value)


def static_cond(pred: Any, fn1: Callable[[], Any], fn2: Callable[[], Any]) -> Any:
    """Calls one of two functions, by a Python value.

    Raises:
      TypeError: one of them is not a function.
    """
    for name, function in (("fn1", fn1), ("fn2", fn2)):
        if not callable(function):
            raise TypeError(f"{name} must be callable, got {function!r}.")
    return fn1() if pred else fn2()


def smart_cond(
    pred: Any, fn1: Callable[[], Any], fn2: Callable[[], Any], name: str | None = None
) -> Any:
    """Calls one of two functions, or builds a condition of both if ``pred`` is not static.

    Args:
      pred: a bool, or a bool tensor.
      fn1: the function to call if it is true.
      fn2: the function to call if it is false.
      name: the condition's name.
    """
    value = constant_value(pred)
    if value is not None:
        return static_cond(value, fn1, fn2)
    return v1.cond(pred, fn1, fn2, name=name)


def get_variable_collections(variables_collections: Any, name: str) -> Any:
    """Returns the collections for one variable of a layer.

    Args:
      variables_collections: collections for all variables, or a dict by variable.
      name: the variable, such as 'weights'.
    """
    if isinstance(variables_collections, dict):
        return variables_collections.get(name)
    return variables_collections


def channels_first(data_format: str | None, formats: Iterable[str | None]) -> bool:
    """Returns whether a data format has its channels before the positions, as in NCHW.

    Args:
      data_format: the format.
      formats: the formats that the layer supports.

    Raises:
      ValueError: the format is not supported.
    """
    formats = tuple(formats)
    if data_format not in formats:
        names = " or ".join(name for name in formats if name)
        raise ValueError(f"data_format has to be either {names}, got {data_format!r}.")
    return bool(data_format) and str(data_format).startswith("NC")


def channel_dimension(shape: tf.TensorShape, data_format: str, min_rank: int = 1) -> int:
    """Returns the number of channels of a shape in 'channels_first' or 'channels_last' format."""
    return _dimension(shape, 1 if data_format == "channels_first" else -1, min_rank)


def last_dimension(shape: tf.TensorShape, min_rank: int = 1) -> int:
    """Returns the size of a shape's last dimension."""
    return _dimension(shape, -1, min_rank)


def _dimension(shape: tf.TensorShape, axis: int, min_rank: int) -> int:
    if shape.rank is None:
        raise ValueError("dims of shape must be known but is None")
    if shape.rank < min_rank:
        raise ValueError(f"rank of shape must be at least {min_rank} not: {shape.rank}")
    value = shape.as_list()[axis]
    if value is None:
        raise ValueError(f"dimension {axis} of shape must be known but is None: {shape}")
    return value


def two_element_tuple(int_or_tuple: Any) -> tuple[int, int]:
    """Returns a size for two dimensions, from one for both or one for each.

    Raises:
      ValueError: it is neither.
    """
    if isinstance(int_or_tuple, int):
        return int_or_tuple, int_or_tuple
    if isinstance(int_or_tuple, (list, tuple, tf.TensorShape)) and len(int_or_tuple) == 2:
        return int(int_or_tuple[0]), int(int_or_tuple[1])
    raise ValueError(
        f"Must be an int, a list with 2 elements or a TensorShape of length 2, got {int_or_tuple!r}"
    )


def n_positive_integers(n: int, value: Any) -> tuple[int, ...]:
    """Returns a size for n dimensions, from one for all or one for each.

    Args:
      n: the number of dimensions.
      value: a positive int, or n of them.

    Raises:
      ValueError: there are not n of them, or one is not positive.
    """
    if int(n) != n or n < 1:
        raise ValueError(f"n must be a positive integer, got {n!r}")
    try:
        values = (int(value),) * int(n)
    except (TypeError, ValueError):
        values = tuple(int(each) for each in value)
    if len(values) != n:
        raise ValueError(f"Expected sequence of {n} positive integers, but received {value!r}")
    for each in values:
        if each < 1:
            raise ValueError(f"expected positive integer, but received {each}")
    return values
