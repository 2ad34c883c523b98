"""Side effects of tf_keras layers: updates, regularization losses, frozen weights.

A ``tf.layers`` function adds them to the graph's collections. A tf_keras layer keeps them to
itself, and a model built inside a function is gone once the function returns. So the layers are
recorded while the function runs.
"""

from __future__ import annotations

import contextlib
import functools
import warnings
from collections.abc import Iterator
from typing import Any, Callable

import tensorflow as tf

from estimator_bridge.model.ancestors import ancestors

__all__ = ["KerasLayers", "watch_keras_layers"]

_HOOKS = ("add_weight", "add_loss", "add_update")


class KerasLayers:
    """The tf_keras layers used in a graph.

    Args:
      graph: the graph.
    """

    def __init__(self, graph: tf.Graph):
        self._graph = graph
        self._layers: dict[int, Any] = {}  # by id, as layers may define equality
        self._initial_placeholders = {operation.name for operation in _placeholders(graph)}

    def note(self, layer: Any) -> None:
        """Records a layer that builds in the graph, unless it uses the graph's collections."""
        import tf_keras

        others = (tf.compat.v1.layers.Layer, tf_keras.metrics.Metric)
        if tf.compat.v1.get_default_graph() is self._graph and not isinstance(layer, others):
            self._layers[id(layer)] = layer

    def updates(self) -> list[Any]:
        """Returns the updates for each training step, such as batch norm's moving averages."""
        return self._usable(update for layer in self._all() for update in layer.updates)

    def losses(self) -> list[tf.Tensor]:
        """Returns the regularization and other added losses, without duplicates."""
        return self._usable(loss for layer in self._all() for loss in layer.losses)

    def frozen(self) -> set[Any]:
        """Returns references (``variable.ref()``) of the weights that are not trainable."""
        return {weight.ref() for layer in self._all() for weight in layer.non_trainable_weights}

    def _all(self) -> list[Any]:
        return list(self._layers.values())

    def _usable(self, items: Iterator[Any]) -> list[Any]:
        # A functional model is first built on its own placeholders, which nothing feeds.
        inputs = {p for p in _placeholders(self._graph) if p.name not in self._initial_placeholders}
        distinct = {id(item): item for item in items}.values()
        return [item for item in distinct if not (inputs and inputs & ancestors([item]))]


@contextlib.contextmanager
def watch_keras_layers(training: bool) -> Iterator[KerasLayers]:
    """Records the tf_keras layers that build in the default graph.

    Args:
      training: the default of layers that are called without ``training=``.

    Yields:
      The recorded layers.
    """
    import tf_keras

    layers = KerasLayers(tf.compat.v1.get_default_graph())
    # The class of layers in graphs, which has no public name.
    owner = tf.compat.v1.layers.Layer.__base__
    originals = {name: vars(owner)[name] for name in _HOOKS}
    with contextlib.ExitStack() as stack:
        for name, original in originals.items():
            setattr(owner, name, _noting(layers, original))
            stack.callback(setattr, owner, name, original)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # deprecated for TF2, not for graphs
            stack.enter_context(tf_keras.backend.learning_phase_scope(int(training)))
        yield layers


def _noting(layers: KerasLayers, method: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(method)
    def wrapper(layer: Any, *args: Any, **kwargs: Any) -> Any:
        layers.note(layer)
        if method.__name__ == "add_loss" and args:
            losses = tf.nest.map_structure(_made_once, args[0])
            args = (losses, *args[1:])
        return method(layer, *args, **kwargs)

    return wrapper


def _made_once(loss: Any) -> Any:
    """Makes a loss that is a function return the same tensor on each call in a graph.

    Otherwise it would count once for the layer, for the model around it, and for the user's sum.
    """
    if not callable(loss):
        return loss
    tensors: dict[tf.Graph, Any] = {}

    def once() -> Any:
        graph = tf.compat.v1.get_default_graph()
        if graph not in tensors:
            tensors[graph] = loss()
        return tensors[graph]

    return once


def _placeholders(graph: tf.Graph) -> list[tf.Operation]:
    return [operation for operation in graph.get_operations() if operation.type == "Placeholder"]
