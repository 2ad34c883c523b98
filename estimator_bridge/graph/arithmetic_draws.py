"""Random ops that have no stateless form, by ordinary operations that XLA compiles.

Such an op's position moves on by as much as its kernel's does, which depends on its inputs' shapes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import tensorflow as tf

from estimator_bridge.graph.categorical_draws import categorical, categorical_advance
from estimator_bridge.graph.draw_nodes import Kind, functions_of, nodes_of
from estimator_bridge.graph.random_nodes import (
    MASK,
    REPLICA_KEY,
    RNG_STEP,
    number_type,
    replica_counter,
)
from estimator_bridge.graph.shuffle_draws import shuffle_advance, shuffled

__all__ = ["BY_ARITHMETIC", "arithmetic_functions", "arithmetic_nodes"]


class _Draw(NamedTuple):
    """A type of op.

    Attributes:
      inputs: returns the types and shapes of a node's inputs.
      advance: of the inputs, by how much a run moves the op's position on (int64 scalar).
      numbers: of the inputs, the key and the counter, what it draws.
    """

    inputs: Callable[[tf.compat.v1.NodeDef], list[Kind]]
    advance: Callable[..., tf.Tensor]
    numbers: Callable[..., tf.Tensor]


BY_ARITHMETIC = {
    "Multinomial": _Draw(
        lambda node: [(tf.as_dtype(node.attr["T"].type), [None, None]), (tf.int32, [])],
        categorical_advance,
        categorical,
    ),
    "RandomShuffle": _Draw(
        lambda node: [(tf.as_dtype(node.attr["T"].type), None)], shuffle_advance, shuffled
    ),
}
_POSITION_AND_KEY: list[Kind] = [(tf.int64, []), (tf.uint64, [1])]


def arithmetic_nodes(
    node: tf.compat.v1.NodeDef, seed: int, seed2: int
) -> tuple[list[tf.compat.v1.NodeDef], list[Any]]:
    """Returns NodeDefs that replace a node in a step, and FunctionDefs that they call.

    Args:
      node: of a type of ``BY_ARITHMETIC``. The last NodeDef has its name and output.
      seed: the key of its stream.
      seed2: the second number of its counter; other replicas change it.
    """
    kind = BY_ARITHMETIC[node.op]

    @tf.function(autograph=False)  # whose loops are v2's, whatever the program has chosen
    def draw(*places: tf.Tensor) -> tf.Tensor:
        *inputs, step, replica = places
        position = kind.advance(*inputs) * step
        return _numbers(node, inputs, position, seed, seed2, replica)

    data = [ref for ref in node.input if not ref.startswith("^")]
    kinds = [*kind.inputs(node), *_POSITION_AND_KEY]
    return nodes_of(node, draw, kinds, node.name, [*data, RNG_STEP, REPLICA_KEY])


def arithmetic_functions(node: tf.compat.v1.NodeDef, seed: int, seed2: int) -> list[Any]:
    """Returns the function that draws a node's numbers, see ``draw_functions``, and what it calls.

    Args:
      node: of a type of ``BY_ARITHMETIC``.
      seed: the key of its stream.
      seed2: the second number of its counter; other replicas change it.
    """
    kind = BY_ARITHMETIC[node.op]

    def draw(*places: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        *inputs, position, replica = places
        numbers = _numbers(node, inputs, position, seed, seed2, replica)
        return numbers, position + kind.advance(*inputs)

    return functions_of(draw, [*kind.inputs(node), *_POSITION_AND_KEY])


def _numbers(
    node: tf.compat.v1.NodeDef,
    inputs: list[tf.Tensor],
    position: tf.Tensor,
    seed: int,
    seed2: int,
    replica: tf.Tensor,
) -> tf.Tensor:
    counter = replica_counter(position, seed2, replica)
    key = tf.constant([seed & MASK], tf.uint64)
    numbers = BY_ARITHMETIC[node.op].numbers(*inputs, key, counter)
    return tf.cast(numbers, number_type(node))
