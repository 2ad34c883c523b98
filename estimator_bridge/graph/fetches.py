"""Session.run's fetches and feeds: any nesting of tensors, operations, names and composites."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import tensorflow as tf

from estimator_bridge.graph.reference_variables import end_read, fetched_reference
from estimator_bridge.tensorflow_private.names import IndexedSlicesValue

__all__ = ["Fetches", "flat_feed"]


class Fetches:
    """A structure of fetches, flattened to references and rebuilt from values.

    Args:
      graph: the graph to look up names and objects in.
      structure: a tensor, operation, variable, name, composite tensor (SparseTensor,
        IndexedSlices, RaggedTensor), or a list, tuple, dict, named tuple or attrs class of these.

    Attributes:
      refs: references to compute, without duplicates: 'a:0', or '^a' for an operation.

    Raises:
      TypeError: a leaf is none of these.
      ValueError: a leaf belongs to another graph, or a name is not in the graph.
    """

    def __init__(self, graph: tf.Graph, structure: Any):
        self._graph = graph
        self._index: dict[str, int] = {}
        self._rebuild = self._parse(structure)
        self.refs = list(self._index)

    def build(self, values: list[Any]) -> Any:
        """Returns the structure with each leaf replaced by its value; None for an operation."""
        return self._rebuild(values)

    def _parse(self, item: Any) -> Callable[[list[Any]], Any]:
        if isinstance(item, (list, tuple)) and not hasattr(item, "_fields"):
            parts = [self._parse(i) for i in item]
            sequence: Any = type(item)
            return lambda values: sequence(part(values) for part in parts)
        if hasattr(item, "_fields") and isinstance(item, tuple):
            parts = [self._parse(i) for i in item]
            kind: Any = type(item)
            return lambda values: kind(*(part(values) for part in parts))
        if isinstance(item, Mapping):
            builders = {key: self._parse(value) for key, value in item.items()}
            make = type(item) if isinstance(item, dict) else dict
            return lambda values: _mapping(make, builders, values)
        if hasattr(item, "__attrs_attrs__"):
            parts = [self._parse(getattr(item, a.name)) for a in item.__attrs_attrs__]
            kind = type(item)
            return lambda values: kind(*(part(values) for part in parts))
        return self._parse_leaf(item)

    def _parse_leaf(self, item: Any) -> Callable[[list[Any]], Any]:
        composite = _COMPOSITES.get(type(item))
        if composite:
            parts_of, value_of = composite
            parts = [self._parse_leaf(part) for part in parts_of(item)]
            return lambda values: value_of(*(part(values) for part in parts))
        if isinstance(item, tf.RaggedTensor):
            parts = [self._parse_leaf(p) for p in (item.flat_values, *item.nested_row_splits)]
            return lambda values: _ragged_value(*(part(values) for part in parts))
        if item is None:
            raise TypeError("Fetch argument None has invalid type: nothing to compute.")
        try:
            element = self._graph.as_graph_element(item, allow_tensor=True, allow_operation=True)
        except TypeError as error:
            raise TypeError(
                f"Fetch argument {item!r} has invalid type {type(item).__name__}, must be a "
                "tensor, an operation, a variable, the name of one, or a structure of these."
            ) from error
        except (ValueError, KeyError) as error:
            raise ValueError(
                f"Fetch argument {item!r} cannot be interpreted as an element of this session's "
                f"graph: {error}"
            ) from error
        if isinstance(element, tf.Tensor) and element.op.type == "VarHandleOp":
            # 'name:0' is the value of a reference variable, but the handle of a resource variable.
            return self._parse_leaf(element.op.name + "/Read/ReadVariableOp:0")
        is_operation = isinstance(element, tf.Operation)
        if is_operation:
            self._position("^" + element.name)
            return lambda values: None
        ref, reference = element.name, fetched_reference(element)
        if reference is not None:
            variable, waits = reference
            ref = end_read(variable) + ":0"
            if waits:
                self._position("^" + element.op.name)
        position = self._position(ref)
        return lambda values: values[position]

    def _position(self, ref: str) -> int:
        return self._index.setdefault(ref, len(self._index))


def flat_feed(key: Any, value: Any) -> Iterator[tuple[Any, Any]]:
    """Yields a feed's key and value as pairs of a tensor (or its name) and a value.

    Args:
      key: a tensor, its name, a composite tensor, or a tuple of these.
      value: the same structure of values; for composite tensors, the type that fetching returns.
    """
    if isinstance(key, tuple):
        if len(key) != len(value):
            raise ValueError(f"feed_dict has {len(value)} values for the {len(key)} of {key}.")
        for one, its_value in zip(key, value):
            yield from flat_feed(one, its_value)
    elif isinstance(key, tf.RaggedTensor):
        yield key.flat_values, value.flat_values
        yield from zip(key.nested_row_splits, value.nested_row_splits)
    elif type(key) in _COMPOSITES:
        parts_of, value_of = _COMPOSITES[type(key)]
        yield from zip(parts_of(key), parts_of(value_of(*value)))
    else:
        yield key, value


def _mapping(
    make: Callable[[], Any], builders: Mapping[Any, Callable[[list[Any]], Any]], values: list[Any]
) -> Any:
    result = make()
    for key, part in builders.items():
        result[key] = part(values)
    return result


def _sparse_parts(item: Any) -> tuple[Any, ...]:
    return item.indices, item.values, item.dense_shape


def _slices_parts(item: Any) -> tuple[Any, ...]:
    parts = (item.values, item.indices)
    return parts if item.dense_shape is None else (*parts, item.dense_shape)


def _slices_value(values: Any, indices: Any, dense_shape: Any = None) -> Any:
    return IndexedSlicesValue(values, indices, dense_shape)


_COMPOSITES: dict[type, tuple[Callable[[Any], tuple[Any, ...]], Callable[..., Any]]] = {
    tf.SparseTensor: (_sparse_parts, tf.compat.v1.SparseTensorValue),
    tf.IndexedSlices: (_slices_parts, _slices_value),
}


def _ragged_value(value: Any, *nested_row_splits: Any) -> Any:
    for row_splits in reversed(nested_row_splits):
        value = tf.compat.v1.ragged.RaggedTensorValue(value, row_splits)
    return value
