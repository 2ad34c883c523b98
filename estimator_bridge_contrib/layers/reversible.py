"""Layers that compute their inputs from their outputs, so that gradients need no activations.

Gomez, Ren, Urtasun, Grosse, "The Reversible Residual Network" (2017).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

from estimator_bridge_contrib.layers.own_gradient import used_variables, with_own_gradient

__all__ = ["RevBlock", "rev_block"]

v1 = tf.compat.v1
Function = Callable[..., Any]


def rev_block(
    x1: Any,
    x2: Any,
    f: Function | Sequence[Function],
    g: Function | Sequence[Function],
    num_layers: int = 1,
    f_side_input: Sequence[Any] | None = None,
    g_side_input: Sequence[Any] | None = None,
    is_training: bool = True,
) -> tuple[Any, Any]:
    """Applies reversible layers: y1 = x1 + f(x2), y2 = x2 + g(y1).

    The gradient calls f and g again, so they must compute the same again: no dropout, and no
    updates of batch normalization.

    Args:
      x1: the first half of the inputs.
      x2: the second half, of the shape of the first.
      f: a function that keeps a tensor's shape; its arguments are the tensor and, if given,
        f_side_input. Or a list of functions, one a layer.
      g: the same for the other half, with g_side_input.
      num_layers: the number of layers.
      f_side_input: tensors that f reads in each layer.
      g_side_input: tensors that g reads in each layer.
      is_training: whether the gradient computes each layer's inputs again; False keeps them in
        memory.

    Returns:
      Both halves of the outputs.

    Raises:
      ValueError: the number of functions is not that of the layers.
    """
    block = RevBlock(f, g, num_layers, f_side_input, g_side_input, is_training)
    return block.forward(x1, x2)


class RevBlock:
    """Reversible layers, forwards and backwards; ``rev_block`` describes the arguments.

    Their variables are resource variables.

    Args:
      f: a function, or one a layer.
      g: a function, or one a layer.
      num_layers: the number of layers.
      f_side_input: tensors that f reads.
      g_side_input: tensors that g reads.
      use_efficient_backprop: whether the gradient computes each layer's inputs again.
      name: the variable scope.

    Raises:
      ValueError: the number of functions is not that of the layers.
    """

    def __init__(
        self,
        f: Function | Sequence[Function],
        g: Function | Sequence[Function],
        num_layers: int = 1,
        f_side_input: Sequence[Any] | None = None,
        g_side_input: Sequence[Any] | None = None,
        use_efficient_backprop: bool = True,
        name: str = "revblock",
    ):
        sides = [list(f_side_input or []), list(g_side_input or [])]
        functions = [_one_a_layer("f", f, num_layers), _one_a_layer("g", g, num_layers)]
        self._layers = [
            [_with_side(function, side) for function, side in zip(pair, sides)]
            for pair in zip(*functions)
        ]
        self._side_inputs = sides[0] + sides[1]
        self._is_efficient, self._name = use_efficient_backprop, name
        self._variables: dict[tuple[int, str], list[Any]] = {}

    def forward(self, x1: Any, x2: Any) -> tuple[Any, Any]:
        """Returns the outputs of inputs."""
        x1, x2 = tf.convert_to_tensor(x1), tf.convert_to_tensor(x2)
        with v1.variable_scope(None, self._name, use_resource=True):
            y1, y2 = x1, x2
            for number in range(len(self._layers)):
                y1 += self._call(number, "f", y2)
                y2 += self._call(number, "g", y1)
            if not self._is_efficient:
                return y1, y2
            inputs = [x1, x2, *self._side_inputs]
            variables = used_variables([y1, y2], inputs)

            def gradient(gradients: list[Any]) -> list[Any]:
                return self._gradient([y1, y2], gradients, variables)

            outputs = with_own_gradient([y1, y2], [*inputs, *variables], gradient)
        return outputs[0], outputs[1]

    def backward(self, y1: Any, y2: Any) -> tuple[Any, Any]:
        """Returns the inputs of outputs."""
        x1, x2 = tf.convert_to_tensor(y1), tf.convert_to_tensor(y2)
        with v1.variable_scope(None, self._name, use_resource=True):
            for number in reversed(range(len(self._layers))):
                x2 -= self._call(number, "g", x1)
                x1 -= self._call(number, "f", x2)
        return x1, x2

    def _call(self, number: int, half: str, x: Any) -> Any:
        """Calls a layer's function: at first with new variables, and later with the same ones.

        Later calls get them in the order of the first one. To enter its scope once more would
        count as another scope of that name, and change the names of variables made later.
        """
        is_first = (number, half) not in self._variables
        variables = iter(self._variables.setdefault((number, half), []))

        def get(getter: Callable[..., Any], name: str, **kwargs: Any) -> Any:
            if not is_first:
                return next(variables)
            variable = getter(name, **kwargs)
            self._variables[number, half].append(variable)
            return variable

        with v1.variable_scope(f"revlayer_{number}/{half}", custom_getter=get):
            return self._layers[number]["fg".index(half)](x)

    def _gradient(
        self, outputs: list[Any], gradients: list[Any], variables: list[Any]
    ) -> list[Any]:
        """Returns the gradients of the inputs, the side inputs and the variables."""
        sources = [*self._side_inputs, *variables]
        sums: list[list[Any]] = [[] for _ in sources]

        def through(number: int, half: str, x: Any, gradient: Any) -> tuple[Any, Any]:
            """Returns a function's output and the gradient of its input."""
            x = tf.stop_gradient(x)
            output = self._call(number, half, x)
            first, *others = tf.gradients(output, [x, *sources], gradient)
            for each, part in zip(sums, others):
                each.append(part)
            return output, tf.zeros_like(x) if first is None else first

        y1, y2 = outputs
        d1, d2 = gradients
        with v1.variable_scope(None, f"{self._name}_gradient"):
            for number in reversed(range(len(self._layers))):
                # All of a layer's inputs and gradients before any of the one below it: otherwise
                # the inputs of all layers could be in memory.
                y1, y2, d1, d2 = tf.tuple([y1, y2, d1, d2])
                output, more = through(number, "g", y1, d2)
                y2, d1 = y2 - output, d1 + more
                output, more = through(number, "f", y2, d1)
                y1, d2 = y1 - output, d2 + more
        return [d1, d2, *(_sum(parts) for parts in sums)]


def _one_a_layer(name: str, functions: Any, layers: int) -> list[Function]:
    per_layer = list(functions) if isinstance(functions, (list, tuple)) else [functions] * layers
    if len(per_layer) != layers:
        raise ValueError(
            f"{name} is a list of {len(per_layer)} functions, num_layers is {layers}. Give "
            "one function for all layers, or one for each."
        )
    return per_layer


def _with_side(function: Function, side: list[Any]) -> Function:
    return (lambda x: function(x, side)) if side else function


def _sum(gradients: list[Any]) -> Any:
    terms = [each for each in gradients if each is not None]
    return tf.add_n([tf.convert_to_tensor(each) for each in terms]) if terms else None
