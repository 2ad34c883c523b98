"""tf.contrib.copy_graph: copies operations and variables into another graph."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import tensorflow as tf

from estimator_bridge_contrib.namespaces import NAMESPACES

__all__, __getattr__, __dir__ = NAMESPACES["copy_graph"].opened()

_v1 = tf.compat.v1
_WHOLE = (_v1.GraphKeys.GLOBAL_VARIABLES, _v1.GraphKeys.TRAINABLE_VARIABLES)


def copy_variable_to_graph(org_instance: Any, to_graph: tf.Graph, scope: str = "") -> Any:
    """Makes a variable of another graph, with the same name and first value.

    Args:
      org_instance: the variable.
      to_graph: the graph of the new variable.
      scope: stands before its name, and before the names of its collections, except those of all
        variables and of the trainable ones.

    Returns:
      The new variable.

    Raises:
      TypeError: org_instance is no variable.
    """
    if not isinstance(org_instance, tf.Variable):
        raise TypeError(f"{org_instance} is not a Variable")
    graph = org_instance.graph
    keys = _collections(org_instance, graph)
    with _v1.Session(graph=graph) as session:
        first = session.run(org_instance.initial_value)
    with to_graph.as_default():
        return _v1.Variable(
            first,
            trainable=_v1.GraphKeys.TRAINABLE_VARIABLES in keys,
            name=_scoped(org_instance.op.name, scope),
            collections=[each if each in _WHOLE else _scoped(each, scope) for each in keys],
            validate_shape=False,
        )


def copy_op_to_graph(
    org_instance: Any, to_graph: tf.Graph, variables: Iterable[Any], scope: str = ""
) -> Any:
    """Copies an operation or a tensor, and what it is computed from, into another graph.

    Args:
      org_instance: the operation or tensor.
      to_graph: the graph of the copy. What has the copy's name there is not copied again.
      variables: the copies of the variables that it reads, by ``copy_variable_to_graph``.
      scope: stands before the names of the copies and of their collections.

    Returns:
      The copied operation or tensor.

    Raises:
      TypeError: org_instance is neither.
    """
    names = {each.name for each in variables}
    if isinstance(org_instance, tf.Operation):
        return _copied_op(org_instance, to_graph, names, scope)
    if not isinstance(org_instance, tf.Tensor):
        raise TypeError(f"Could not copy instance: {org_instance}")
    return _copied_tensor(org_instance, to_graph, names, scope)


def get_copied_op(org_instance: Any, graph: tf.Graph, scope: str = "") -> Any:
    """Returns the operation or tensor of a graph with the name of another graph's.

    Args:
      org_instance: the operation, tensor or variable.
      graph: the graph of the copy.
      scope: stands before the copy's name.

    Raises:
      KeyError: the graph has no such copy.
    """
    return graph.as_graph_element(_scoped(org_instance.name, scope))


def _scoped(name: str, scope: str) -> str:
    return f"{scope}/{name}" if scope else name


def _collections(element: Any, graph: tf.Graph) -> list[str]:
    """Returns the names of a graph's collections that hold something."""
    return [
        key
        for key in graph.get_all_collection_keys()
        if any(each is element for each in graph.get_collection(key))
    ]


def _present(graph: tf.Graph, name: str) -> Any:
    try:
        return graph.as_graph_element(name)
    except (KeyError, ValueError):
        return None


def _copied_tensor(tensor: tf.Tensor, graph: tf.Graph, variables: set[str], scope: str) -> Any:
    name = _scoped(tensor.name, scope)
    if name in variables:
        return graph.get_tensor_by_name(name)
    copy = _present(graph, name)
    if copy is None:
        op = _copied_op(tensor.op, graph, variables, scope)
        copy = op.outputs[tensor.value_index]
        for key in _collections(tensor, tensor.graph):
            graph.add_to_collection(_scoped(key, scope), copy)
    return copy


def _copied_op(op: tf.Operation, graph: tf.Graph, variables: set[str], scope: str) -> Any:
    name = _scoped(op.name, scope)
    copy = _present(graph, name)
    if copy is not None:
        return copy
    inputs = [_copied_tensor(each, graph, variables, scope) for each in op.inputs]
    waits = [_copied_op(each, graph, variables, scope) for each in op.control_inputs]
    attrs = {key: value for key, value in op.node_def.attr.items() if key != "_class"}
    with graph.as_default(), tf.control_dependencies(None), tf.device(op.device or None):
        if any(each.WhichOneof("value") == "func" for each in attrs.values()):
            library = op.graph.as_graph_def().library
            tf.graph_util.import_graph_def(_v1.GraphDef(library=library), name="")
        with tf.control_dependencies(waits):
            copy = graph.create_op(
                op.type,
                inputs,
                [each.dtype for each in op.outputs],
                name=f"{name}/",  # used as it is
                attrs=attrs,
            )
    for key in _collections(op, op.graph):
        graph.add_to_collection(_scoped(key, scope), copy)
    return copy
