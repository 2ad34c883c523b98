"""Nodes of a graph made of Python functions, in the place of a random op."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

__all__ = ["Kind", "functions_of", "nodes_of"]

Kind = tuple[tf.DType, list[int | None] | None]  # the type and the shape of an argument
_FUNCTIONS = "estimator_bridge_draws_"  # the start of their names


def nodes_of(
    node: tf.compat.v1.NodeDef,
    draw: Callable[..., tf.Tensor],
    kinds: Sequence[Kind],
    name: str,
    inputs: Sequence[str],
) -> tuple[list[tf.compat.v1.NodeDef], list[Any]]:
    """Returns the nodes of a function, the last with the name, and FunctionDefs that they call.

    Args:
      node: the random op. What it waits for, they wait for.
      draw: makes the operations.
      kinds: the types and shapes of its arguments.
      name: the name of the node with its result.
      inputs: references of the arguments.
    """
    with tf.Graph().as_default() as graph:
        places = [
            tf.compat.v1.placeholder(*kind, name=f"input_{i}") for i, kind in enumerate(kinds)
        ]
        tf.identity(draw(*places), name="numbers")
    places_by_name = {place.op.name: ref for place, ref in zip(places, inputs)}
    graph_def = graph.as_graph_def()
    nodes = [one for one in graph_def.node if one.name not in places_by_name]
    for one in nodes:
        for i, ref in enumerate(one.input):
            # A reference may name an output, and so may an input: of a node here only ":0".
            one.input[i] = places_by_name.get(ref) or f"{name}/numbers/{ref}"
        one.name = name if one.name == "numbers" else f"{name}/numbers/{one.name}"
    nodes.sort(key=lambda one: one.name == name)
    nodes[-1].input.extend(ref for ref in node.input if ref.startswith("^"))
    functions = list(graph_def.library.function)
    _name_by_content(nodes, functions)
    return nodes, functions


def functions_of(draw: Callable[..., Any], kinds: Sequence[Kind]) -> list[Any]:
    """Returns a function as a FunctionDef, followed by those that it calls.

    Args:
      draw: makes the operations.
      kinds: the types and shapes of its arguments.
    """
    with tf.Graph().as_default() as graph:
        tf.function(draw, autograph=False)(*(tf.compat.v1.placeholder(*kind) for kind in kinds))
    graph_def = graph.as_graph_def()
    functions = list(graph_def.library.function)
    (call,) = (one for one in graph_def.node if one.op != "Placeholder")
    _name_by_content([call], functions)
    return sorted(functions, key=lambda one: one.signature.name != call.attr["f"].func.name)


def _name_by_content(nodes: Sequence[tf.compat.v1.NodeDef], functions: Sequence[Any]) -> None:
    """Gives functions, and the nodes that call them, names that tell their content.

    TensorFlow numbers the functions of a process, and forgets them when Python's are freed.
    """
    references = [
        attribute.func
        for body in (nodes, *(function.node_def for function in functions))
        for node in body
        for attribute in node.attr.values()
        if attribute.WhichOneof("value") == "func"
    ]
    old_names = [function.signature.name for function in functions]
    called_names = [reference.name for reference in references]
    for reference in references:
        reference.name = ""
    for function in functions:
        function.signature.name = ""
    contents = [function.SerializeToString(deterministic=True) for function in functions]
    digests = [hashlib.sha256(content).hexdigest() for content in contents]
    whole = hashlib.sha256("".join(sorted(digests)).encode()).hexdigest()[:16]
    new_names = {
        name: f"{_FUNCTIONS}{whole}_{digest[:16]}" for name, digest in zip(old_names, digests)
    }
    for function, name in zip(functions, old_names):
        function.signature.name = new_names[name]
    for reference, name in zip(references, called_names):
        reference.name = new_names[name]
