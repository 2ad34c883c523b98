"""Layers of tf.layers: their names, and the scopes in which they make variables."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

# The scopes of a graph's variables that were opened so far; a name in use is found only there.
from tensorflow.python.ops.variable_scope import get_variable_scope_store

__all__ = [
    "has_automatic_name",
    "layer_name_counts",
    "layer_scope",
    "place_layer",
    "rename_layer",
    "use_resource_variables",
    "variable_scope_counts",
]


def has_automatic_name(layer: Any) -> bool:
    """Returns whether a layer's name has been made from its class's name."""
    return layer._name != layer._base_name


def layer_name_counts() -> Any:
    """Returns the numbers of layers of each name in the current graph, which layers' names use."""
    from tf_keras.src import backend  # loading Keras takes a second; most imports do not need it

    return backend.get_default_graph_uid_map()


def layer_scope(layer: Any) -> Any:
    """Returns the scope of a layer's variables; None if the layer has not been called."""
    return layer._scope


def place_layer(layer: Any, scope: Any) -> None:
    """Sets the scope of a layer's variables."""
    layer._scope = scope


def rename_layer(
    layer: Any, counts: Any, names_in_use: Collection[str], namespace: str = ""
) -> None:
    """Names a layer after its class, with a number if that name is in use.

    Args:
      layer: the layer.
      counts: the numbers of layers of each name, which is updated.
      names_in_use: other names in use.
      namespace: the scope that the counts apply to.
    """
    layer._name, layer._base_name = layer._make_unique_name(
        name_uid_map=counts, avoid_names=names_in_use, namespace=namespace, zero_based=True
    )


def use_resource_variables(layer: Any) -> None:
    """Makes a layer's later variables resource variables."""
    layer._use_resource_variables = True


def variable_scope_counts() -> dict[str, int]:
    """Returns how often each scope of variables was opened in the current graph.

    TensorFlow goes on changing this dict until a scope object is entered again.
    """
    return get_variable_scope_store().variable_scopes_count
