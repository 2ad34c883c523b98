"""Lists of operations and tensors, trees of them, and placeholders.

Tensors are found by identity: with v2 behavior, comparing two makes an operation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import tensorflow as tf

__all__ = [
    "ControlOutputs",
    "ListView",
    "check_graphs",
    "concatenate_unique",
    "find_corresponding",
    "find_corresponding_elem",
    "flatten_tree",
    "get_consuming_ops",
    "get_generating_ops",
    "get_tensors",
    "get_unique_graph",
    "holds",
    "is_iterable",
    "make_list_of_op",
    "make_list_of_t",
    "make_placeholder_from_dtype_and_shape",
    "make_placeholder_from_tensor",
    "placeholder_name",
    "scope_basename",
    "scope_dirname",
    "scope_finalize",
    "transform_tree",
]

_PREFIX = "geph"  # of a placeholder's name


def holds(elements: Iterable[Any], element: Any) -> bool:
    """Returns whether an operation or tensor is among others."""
    return any(each is element for each in elements)


def concatenate_unique(la: list[Any], lb: Iterable[Any]) -> list[Any]:
    """Appends the elements of lb that la does not have, in their order, and returns la."""
    ids = {id(each) for each in la}
    for each in lb:
        if id(each) not in ids:
            la.append(each)
            ids.add(id(each))
    return la


class ListView(Sequence[Any]):
    """A list that cannot be changed.

    Args:
      list_: the list.

    Raises:
      TypeError: it is no list.
    """

    def __init__(self, list_: list[Any]):
        if not isinstance(list_, list):
            raise TypeError(f"Expected a list, got: {type(list_)}.")
        self._list = list_

    def __getitem__(self, index: Any) -> Any:
        return self._list[index]

    def __len__(self) -> int:
        return len(self._list)

    def __contains__(self, element: object) -> bool:
        return holds(self._list, element)

    def __add__(self, other: Iterable[Any]) -> list[Any]:
        return [*self._list, *other]


def is_iterable(obj: Any) -> bool:
    """Returns whether an object has elements; a tensor has none here."""
    if isinstance(obj, tf.Tensor):
        return False
    try:
        iter(obj)
    except Exception:  # an __iter__ may raise any
        return False
    return True


def flatten_tree(tree: Any, leaves: list[Any] | None = None) -> list[Any]:
    """Returns the leaves of nested lists, tuples and dicts.

    Args:
      tree: the tree.
      leaves: a list to append to.
    """
    flat_leaves = [] if leaves is None else leaves
    if is_iterable(tree):
        for each in tree.values() if isinstance(tree, Mapping) else tree:
            flatten_tree(each, flat_leaves)
    else:
        flat_leaves.append(tree)
    return flat_leaves


def transform_tree(tree: Any, fn: Callable[[Any], Any], iterable_type: type = tuple) -> Any:
    """Returns a tree of the same form, with a function's results as leaves.

    Args:
      tree: nested lists, tuples and dicts.
      fn: the function of a leaf.
      iterable_type: the type for other iterables.
    """
    if not is_iterable(tree):
        return fn(tree)
    if isinstance(tree, Mapping):
        return type(tree)((key, transform_tree(each, fn)) for key, each in tree.items())  # type: ignore[call-arg]
    parts = [transform_tree(each, fn) for each in tree]
    if hasattr(tree, "_fields"):
        return type(tree)(*parts)
    return (type(tree) if isinstance(tree, Sequence) else iterable_type)(parts)


def check_graphs(*args: Any) -> None:
    """Checks that objects with a graph have the same one; those whose graph is None fit any.

    Raises:
      ValueError: they have not.
    """
    graph = None
    for position, each in enumerate(args):
        if graph is None:
            graph = each.graph
        elif each.graph is not None and each.graph is not graph:
            raise ValueError(f"Argument[{position}]: Wrong graph!")


def get_unique_graph(tops: Any, check_types: Any = None, none_if_empty: bool = False) -> Any:
    """Returns the one graph of operations and tensors.

    Args:
      tops: operations and tensors; or the graph.
      check_types: the types that are allowed.
      none_if_empty: whether None is the answer to an empty list, and not an error.

    Raises:
      TypeError: tops is no iterable, or has another type.
      ValueError: there are several graphs, or none.
    """
    if isinstance(tops, tf.Graph):
        return tops
    if not is_iterable(tops):
        raise TypeError(f"{type(tops)} is not iterable")
    types = (tf.Operation, tf.Tensor) if check_types is None else check_types
    types = tuple(types) if isinstance(types, (list, tuple)) else (types,)
    graph = None
    for each in tops:
        if not isinstance(each, types):
            raise TypeError(f"Expected a type in ({', '.join(map(str, types))}), got: {type(each)}")
        if graph is None:
            graph = each.graph
        elif each.graph is not graph:
            raise ValueError(f"Operation {each} does not belong to given graph")
    if graph is None and not none_if_empty:
        raise ValueError("Can't find the unique graph of an empty list")
    return graph


def _listed(source: Any, kind: type, check_graph: bool, ignores_others: bool) -> list[Any]:
    elements = list(source) if is_iterable(source) else [source]
    if elements and check_graph:
        get_unique_graph(elements, None if ignores_others else kind)
    matches: list[Any] = [each for each in elements if isinstance(each, kind)]
    if kind is tf.Operation:  # tf.Assert returns a wrapper, which is no key of a dict
        return [each.graph.get_operation_by_name(each.name) for each in matches]
    return matches


def make_list_of_op(
    ops: Any, check_graph: bool = True, allow_graph: bool = True, ignore_ts: bool = False
) -> list[Any]:
    """Returns operations, given as one, several, or a graph.

    Args:
      ops: the operations.
      check_graph: whether all must have one graph.
      allow_graph: whether a graph is accepted.
      ignore_ts: whether tensors are left out, and not an error.

    Raises:
      TypeError: another object is given.
      ValueError: there are several graphs.
    """
    if isinstance(ops, tf.Graph):
        if not allow_graph:
            raise TypeError("allow_graph is False: cannot convert a tf.Graph.")
        return list(ops.get_operations())
    return _listed(ops, tf.Operation, check_graph, ignore_ts)


def make_list_of_t(
    ts: Any, check_graph: bool = True, allow_graph: bool = True, ignore_ops: bool = False
) -> list[Any]:
    """Returns tensors, given as one, several, or a graph.

    Args:
      ts: the tensors.
      check_graph: whether all must have one graph.
      allow_graph: whether a graph is accepted.
      ignore_ops: whether operations are left out, and not an error.

    Raises:
      TypeError: another object is given.
      ValueError: there are several graphs.
    """
    if isinstance(ts, tf.Graph):
        if not allow_graph:
            raise TypeError("allow_graph is False: cannot convert a tf.Graph.")
        return get_tensors(ts)
    return _listed(ts, tf.Tensor, check_graph, ignore_ops)


def get_tensors(graph: tf.Graph) -> list[Any]:
    """Returns all tensors of a graph.

    Raises:
      TypeError: it is no graph.
    """
    if not isinstance(graph, tf.Graph):
        raise TypeError(f"Expected a graph, got: {type(graph)}")
    return [tensor for op in graph.get_operations() for tensor in op.outputs]


def get_generating_ops(ts: Any) -> list[Any]:
    """Returns the operation of each tensor."""
    return [tensor.op for tensor in make_list_of_t(ts, allow_graph=False)]


def get_consuming_ops(ts: Any) -> list[Any]:
    """Returns the operations that read tensors."""
    consumers: list[Any] = []
    for tensor in make_list_of_t(ts, allow_graph=False):
        concatenate_unique(consumers, tensor.consumers())
    return consumers


class ControlOutputs:
    """By operation, those that wait for it.

    Args:
      graph: the graph.

    Raises:
      TypeError: it is no graph.
    """

    def __init__(self, graph: tf.Graph):
        if not isinstance(graph, tf.Graph):
            raise TypeError(f"Expected a tf.Graph, got: {type(graph)}")
        self._graph = graph
        self._waiting_ops: dict[Any, list[Any]] = {}
        self._version: int | None = None
        self.update()

    def update(self) -> ControlOutputs:
        """Reads the graph again, if it has more operations, and returns this object."""
        if self._version != self._graph.version:
            self._waiting_ops = {}
            for op in self._graph.get_operations():
                for awaited in op.control_inputs:
                    concatenate_unique(self._waiting_ops.setdefault(awaited, []), [op])
            self._version = self._graph.version
        return self

    def get_all(self) -> dict[Any, list[Any]]:
        """Returns the operations that wait, by the one that they wait for."""
        return self._waiting_ops

    def get(self, op: Any) -> Sequence[Any]:
        """Returns the operations that wait for one."""
        return self._waiting_ops.get(op, ())

    @property
    def graph(self) -> tf.Graph:
        """The graph."""
        return self._graph


def scope_finalize(scope: str) -> str:
    """Returns a scope with a slash at its end."""
    return f"{scope}/" if scope and not scope.endswith("/") else scope


def scope_dirname(scope: str) -> str:
    """Returns the part of a name up to its last slash."""
    return scope[: scope.rfind("/") + 1]


def scope_basename(scope: str) -> str:
    """Returns the part of a name after its last slash."""
    return scope[scope.rfind("/") + 1 :]


def placeholder_name(t: Any = None, scope: str | None = None, prefix: str = _PREFIX) -> str:
    """Returns the name of a placeholder in the place of a tensor.

    Args:
      t: the tensor, or None.
      scope: the placeholder's scope; by default the tensor's.
      prefix: the name's start.

    Raises:
      TypeError: t is no tensor.
    """
    if t is None:
        return f"{scope_finalize(scope or '')}{prefix}"
    if not isinstance(t, tf.Tensor):
        raise TypeError(f"Expected a tf.Tenfor, got: {type(t)}")
    where = scope_dirname(t.op.name) if scope is None else scope_finalize(scope)
    name = scope_basename(t.op.name)
    if not name.startswith(f"{prefix}__"):
        name = f"{prefix}__{name}_{t.value_index}"
    return where + name


def make_placeholder_from_tensor(
    t: Any, scope: str | None = None, prefix: str = _PREFIX
) -> tf.Tensor:
    """Makes a placeholder of a tensor's type and shape in the default graph.

    Args:
      t: the tensor.
      scope: the placeholder's scope; by default the tensor's.
      prefix: the start of its name.
    """
    return tf.compat.v1.placeholder(t.dtype, t.shape, placeholder_name(t, scope, prefix))


def make_placeholder_from_dtype_and_shape(
    dtype: Any, shape: Any = None, scope: str | None = None, prefix: str = _PREFIX
) -> tf.Tensor:
    """Makes a placeholder in the default graph.

    Args:
      dtype: its type.
      shape: its shape, or None.
      scope: its scope.
      prefix: its name.
    """
    return tf.compat.v1.placeholder(dtype, shape, placeholder_name(None, scope, prefix))


def find_corresponding_elem(
    target: Any, dst_graph: tf.Graph, dst_scope: str = "", src_scope: str = ""
) -> Any:
    """Returns the operation or tensor of another graph with the same name.

    Args:
      target: the operation or tensor.
      dst_graph: the other graph.
      dst_scope: is put before the name.
      src_scope: is taken from the name's start.

    Raises:
      ValueError: the name does not start with src_scope.
      TypeError: target is neither.
      KeyError: the other graph has no such element.
    """
    name, source = target.name, scope_finalize(src_scope)
    if not name.startswith(source):
        raise ValueError(f"{name} does not start with {source}")
    name = scope_finalize(dst_scope) + name[len(source) :]
    if isinstance(target, tf.Tensor):
        return dst_graph.get_tensor_by_name(name)
    if isinstance(target, tf.Operation):
        return dst_graph.get_operation_by_name(name)
    raise TypeError(f"Expected tf.Tensor or tf.Operation, got: {type(target)}")


def find_corresponding(
    targets: Any, dst_graph: tf.Graph, dst_scope: str = "", src_scope: str = ""
) -> Any:
    """Returns the elements of another graph with the same names, in a tree of the same form.

    Args:
      targets: nested lists, tuples and dicts of operations and tensors.
      dst_graph: the other graph.
      dst_scope: is put before each name.
      src_scope: is taken from each name's start.

    Raises:
      ValueError: a name does not start with src_scope.
      TypeError: a leaf is neither.
      KeyError: the other graph has no such element.
    """
    return transform_tree(
        targets, lambda leaf: find_corresponding_elem(leaf, dst_graph, dst_scope, src_scope)
    )


def get_predefined_collection_names() -> list[str]:
    """Returns the names of TensorFlow's own collections."""
    keys = tf.compat.v1.GraphKeys
    return [getattr(keys, name) for name in dir(keys) if not name.startswith("__")]
