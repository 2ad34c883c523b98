"""Sequential: a network that calls its parts one after the other."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import tensorflow as tf

from estimator_bridge.tensorflow_private.names import function_utils
from estimator_bridge_contrib.eager.networks import Network

__all__ = ["Sequential"]

_Layer: Any = tf.compat.v1.layers.Layer


class Sequential(Network):
    """A network that calls layers and functions one after the other.

    Args:
      layers_funcs: the layers and functions; each gets the result of the one before it.
      name: see `Network`.
    """

    def __init__(
        self, layers_funcs: Iterable[Callable[..., Any]] | None = None, name: str | None = None
    ):
        super().__init__(name=name)
        self._parts: list[tuple[bool, Callable[..., Any]]] = []
        for each in layers_funcs or ():
            self.add(each)

    def add(self, layer_func: Any) -> None:
        """Adds a layer or a function at the end.

        Args:
          layer_func: the layer or the function. If it has an argument ``training``, it gets that
            of the network's call.

        Raises:
          TypeError: it is neither.
        """
        is_layer = isinstance(layer_func, _Layer)
        if not is_layer and not callable(layer_func):
            raise TypeError(
                "Sequential.add() takes only tf.layers.Layer objects or callables; not "
                f"'{layer_func}' of type '{type(layer_func)}'."
            )
        arguments = function_utils.fn_args(layer_func.call if is_layer else layer_func)
        if is_layer:
            self.track_layer(layer_func)
        self._parts.append(("training" in arguments, layer_func))

    def call(self, inputs: Any, training: Any = None) -> Any:
        """Returns the result of the last part.

        Args:
          inputs: the first part's input.
          training: if not None, the second argument of each part that has one of that name.

        Returns:
          Anything; the inputs if there are no parts.
        """
        for has_training, part in self._parts:
            if has_training and training is not None:
                inputs = part(inputs, training)
            else:
                inputs = part(inputs)
        return inputs
