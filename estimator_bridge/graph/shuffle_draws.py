"""Shuffles by ordinary operations, which XLA compiles, in the order of TensorFlow's kernel.

The kernel (tensorflow/core/kernels/random_shuffle_op.cc) exchanges each row with itself or a later
one, in turn; XLA's own form sorts by random keys.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from estimator_bridge.graph.kernel_draws import nodes_of, philox_bits
from estimator_bridge.graph.random_nodes import (
    MASK,
    REPLICA_KEY,
    RNG_STEP,
    replica_counter,
)

__all__ = ["SHUFFLE", "shuffle_nodes"]

SHUFFLE = "RandomShuffle"
_FUNCTIONS = "estimator_bridge_shuffle_"  # the start of their names
_BLOCK = 4  # numbers of 32 bits; the kernel reserves whole blocks


def shuffle_nodes(
    node: tf.compat.v1.NodeDef, seed: int, seed2: int
) -> tuple[list[tf.compat.v1.NodeDef], list[Any]]:
    """Returns NodeDefs that replace a RandomShuffle, and FunctionDefs that they call.

    Args:
      node: the RandomShuffle. The last NodeDef has its name and output.
      seed: the key of its stream.
      seed2: the second number of its counter; other replicas change it.
    """

    @tf.function(autograph=False)
    def draw(rows: tf.Tensor, step: tf.Tensor, replica: tf.Tensor) -> tf.Tensor:
        exchanges = tf.maximum(tf.shape(rows)[0] - 1, 0)
        blocks = (exchanges + _BLOCK - 1) // _BLOCK
        counter = replica_counter(tf.cast(blocks, tf.int64) * step, seed2, replica)
        bits = philox_bits(exchanges, tf.constant([seed & MASK], tf.uint64), counter)[:exchanges]
        below = tf.cast(exchanges + 1 - tf.range(exchanges), tf.uint32)
        partners = tf.range(exchanges) + tf.cast(bits % below, tf.int32)
        partners = tf.concat([partners, [0]], 0)  # XLA compiles the loop even if it never runs

        # All that the loop reads is its own: TensorFlow numbers the names of captured values.
        def exchange(i: tf.Tensor, end: tf.Tensor, order: tf.Tensor, partners: tf.Tensor) -> Any:
            pair = tf.stack([i, partners[i]])
            values = tf.gather(order, pair[::-1])
            order = tf.tensor_scatter_nd_update(order, pair[:, None], values)
            return i + 1, end, order, partners

        start = tf.constant(0), exchanges, tf.range(exchanges + 1), partners
        _, _, order, _ = tf.while_loop(lambda i, end, *_: i < end, exchange, start)
        return tf.gather(rows, order[: tf.shape(rows)[0]])

    kinds: list[tuple[tf.DType, list[int | None] | None]] = [
        (tf.as_dtype(node.attr["T"].type), None),
        (tf.int64, []),
        (tf.uint64, [1]),
    ]
    (value,) = (ref for ref in node.input if not ref.startswith("^"))
    nodes, functions = nodes_of(node, draw, kinds, node.name, [value, RNG_STEP, REPLICA_KEY])
    _rename(nodes, functions)
    return nodes, functions


def _rename(nodes: Sequence[tf.compat.v1.NodeDef], functions: Sequence[Any]) -> None:
    """Gives functions names that tell their content.

    TensorFlow numbers the functions of a process, and forgets them when ``draw`` is freed.
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
