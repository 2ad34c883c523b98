"""What the nodes that replace random ops are made of."""

from __future__ import annotations

import numpy as np
import tensorflow as tf

__all__ = [
    "MASK",
    "OF_THE_DEVICE",
    "PHILOX",
    "REPLICA_KEY",
    "RNG_STEP",
    "STRIDE",
    "RandomNodes",
    "number_type",
    "replica_counter",
    "shape_type",
]

RNG_STEP = "estimator_bridge/rng_step"  # int64 scalar: how often the step has run before
REPLICA_KEY = "estimator_bridge/replica_key"  # uint64 [1]: 0 on the first replica

PHILOX, OF_THE_DEVICE = 1, 3  # tf.random.Algorithm
STRIDE = 256  # of a stream's position, for each number
MASK = (1 << 64) - 1

_NUMBERS = {
    "Multinomial": "output_dtype",
    "RandomGamma": "T",
    "RandomShuffle": "T",
    "RandomUniformInt": "Tout",
}


def number_type(node: tf.compat.v1.NodeDef) -> tf.DType:
    """Returns the type of the numbers that a random op draws."""
    return tf.as_dtype(node.attr[_NUMBERS.get(node.op, "dtype")].type)


def shape_type(node: tf.compat.v1.NodeDef) -> tf.DType:
    """Returns the type of the shape that a random op of ``DRAWS`` takes."""
    return tf.as_dtype(node.attr["S" if node.op == "RandomGamma" else "T"].type)


def replica_counter(position: tf.Tensor, seed2: int, replica: tf.Tensor) -> tf.Tensor:
    """Returns the counter of a stream (uint64 [2]) whose kernel is stateful on other runtimes.

    Args:
      position: the first number (int64 scalar).
      seed2: the second number on the first replica.
      replica: the replica's key; it changes the second number as it changes the kernel's seed.
    """
    low = tf.reshape(tf.cast(position, tf.uint64), [1])
    high = tf.bitwise.bitwise_xor(tf.constant([seed2 & MASK], tf.uint64), replica)
    high = tf.bitwise.bitwise_and(high, tf.constant(MASK >> 1, tf.uint64))
    return tf.concat([low, high], 0)


class RandomNodes:
    """NodeDefs made for one random node, named below it.

    Attributes:
      nodes: the NodeDefs made so far.
    """

    def __init__(self, prefix: str):
        self._prefix = prefix
        self.nodes: list[tf.compat.v1.NodeDef] = []

    def add(self, op: str, inputs: list[str], **attrs: tf.DType | bool | int) -> str:
        """Adds a node, and returns a reference of its output."""
        node = tf.compat.v1.NodeDef(name=f"{self._prefix}/draw_{len(self.nodes)}", op=op)
        node.input.extend(inputs)
        for name, value in attrs.items():
            if isinstance(value, tf.DType):
                node.attr[name].type = value.as_datatype_enum
            elif isinstance(value, bool):
                node.attr[name].b = value
            else:
                node.attr[name].i = value
        self.nodes.append(node)
        return node.name

    def one_row(self, shape: str, kind: int) -> str:
        """Returns a shape with its first size replaced by 1; the shape of a scalar is unchanged."""
        number = tf.as_dtype(kind)
        zero, one = (self.const(np.array([n], np.int32)) for n in (0, 1))
        head = self.add("StridedSlice", [shape, zero, one, one], T=number, Index=tf.int32)
        tail = self.add("StridedSlice", [shape, one, one, one], T=number, Index=tf.int32,
                        end_mask=1)  # fmt: skip
        first_size = self.add("OnesLike", [head], T=number)
        axis = self.const(np.int32(0))
        return self.add("ConcatV2", [first_size, tail, axis], T=number, N=2, Tidx=tf.int32)

    def const(self, value: np.generic | np.ndarray) -> str:
        """Adds a constant, and returns a reference of it."""
        name = self.add("Const", [], dtype=tf.as_dtype(value.dtype))
        self.nodes[-1].attr["value"].tensor.CopyFrom(tf.make_tensor_proto(value))
        return name

    def cast(self, ref: str, source: int, target: tf.DType) -> str:
        """Returns a reference of another type, if the source has another one."""
        if source == target.as_datatype_enum:
            return ref
        return self.add("Cast", [ref], SrcT=tf.as_dtype(source), DstT=target, Truncate=False)
