"""Random ops whose draws depend only on seeds, replica and draw number.

A stateful random kernel keeps its position in its stream to itself: each compiled function of a
graph, and each resumed run, would start at the beginning. Its stream is Philox with the key
``seed`` and the counter ``(position, seed2)``, and drawing n numbers advances the position by 256 n
(tensorflow/core/kernels/random_op_cpu.h, ReserveRandomOutputs). The stateless ops have inputs for
key and counter, so this draws the same numbers, bit for bit::

    Stateless...V2(shape, key=[seed], counter=[rng_step * n * 256, seed2], alg=Philox)

``rng_step`` counts the runs of the step. Replica 0 keeps the program's key; the others modify it by
their number.

On a TPU, which has no kernel to agree with, the device chooses the algorithm. Philox there takes
some 170 operations a number, where the chip's own generator takes one or two, and each op takes
seconds to compile. The chip's generator ignores the counter's second number, so seed2 becomes part
of the key.

Ops without such a form (shuffles, gamma, candidate samplers), and ops inside function bodies or
beside v1 control flow, stay stateful. Replicas other than the first get their own seeds for them.
"""

from __future__ import annotations

import dataclasses
import random

import numpy as np
import tensorflow as tf

from estimator_bridge.graph.function_library import called_functions, functions_where
from estimator_bridge.graph.kernel_draws import draw_nodes, has_kernel_draws
from estimator_bridge.graph.op_kinds import DRAWS
from estimator_bridge.graph.snapshot import Snapshot, is_stateful

__all__ = [
    "REPLICA_KEY",
    "RNG_STEP",
    "RandomStreams",
    "Randomness",
    "has_same_draws",
    "is_seeded",
    "replica_key",
]

RNG_STEP = "estimator_bridge/rng_step"  # int64 scalar: how often the step has run before
REPLICA_KEY = "estimator_bridge/replica_key"  # uint64 [1]: 0 on the first replica

_PHILOX, _OF_THE_DEVICE = 1, 3  # tf.random.Algorithm
_STRIDE = 256
_GOLDEN = 0x9E3779B97F4A7C15  # odd, so distinct replicas get distinct keys
_MASK = (1 << 64) - 1


def replica_key(replica: int | tf.Tensor) -> tf.Tensor:
    """Returns the uint64 [1] that a replica's id (an int or int32 scalar) adds to each key."""
    return tf.reshape(tf.cast(replica, tf.uint64) * tf.constant(_GOLDEN, tf.uint64), [1])


@dataclasses.dataclass(frozen=True)
class RandomStreams:
    """The kind of a step's random streams.

    Attributes:
      alike: whether all replicas, and all rows along a tensor's first dimension, draw the same
        numbers. The split of a batch over replicas then makes no difference.
      for_tpu: whether a TPU draws, with its own generator.
      for_xla: whether XLA draws, whose floats of the same bits differ from those of TensorFlow's
        kernels.
    """

    alike: bool = False
    for_tpu: bool = False
    for_xla: bool = False


class Randomness:
    """The random ops of one lifted subgraph, made reproducible.

    Args:
      snapshot: the traced graph.
      names: the nodes to make stateless, if they have a stateless form.
      streams: the kind of random streams.

    Attributes:
      stateless: the nodes that are made stateless.
      inputs: references that rewritten nodes take from outside.
    """

    def __init__(self, snapshot: Snapshot, names: list[str], streams: RandomStreams):
        self._alike, self._for_tpu = streams.alike, streams.for_tpu
        self._for_xla = streams.for_xla
        self.inputs = [RNG_STEP + ":0", *([] if self._alike else [REPLICA_KEY + ":0"])]
        self._random_functions = functions_where(snapshot.library, is_seeded)
        self.stateless = {n for n in names if snapshot.nodes[n].op in DRAWS}
        self._entropy = random.SystemRandom()

    def rewritten(self, node: tf.compat.v1.NodeDef) -> list[tf.compat.v1.NodeDef]:
        """Returns the NodeDefs that replace a random node; the last has its name and outputs."""
        seed, seed2 = node.attr["seed"].i, node.attr["seed2"].i
        if not seed and not seed2:  # unseeded: every trace draws other numbers
            seed, seed2 = self._entropy.getrandbits(63), self._entropy.getrandbits(63)
        maker = _Nodes(node.name)
        shape = maker.one_row(node.input[0], node.attr["T"].type) if self._alike else node.input[0]
        size = maker.add("Prod", [maker.cast(shape, node.attr["T"].type, tf.int64),
                                 maker.const(np.zeros([1], np.int32))],
                        T=tf.int64, Tidx=tf.int32, keep_dims=False)  # fmt: skip
        stride = maker.add("Mul", [size, maker.const(np.int64(_STRIDE))], T=tf.int64)
        position = maker.add("Mul", [stride, RNG_STEP], T=tf.int64)
        low = maker.cast(position, tf.int64.as_datatype_enum, tf.uint64)
        high = maker.const(np.uint64(seed2 & _MASK))
        counter = maker.add("Pack", [low, high], T=tf.uint64, N=2, axis=0)
        own_seed = seed ^ _mix(seed2) if self._for_tpu else seed
        key = maker.const(np.array([own_seed & _MASK], np.uint64))
        if not self._alike:
            key = maker.add("BitwiseXor", [key, REPLICA_KEY], T=tf.uint64)
        algorithm = maker.const(np.int32(_OF_THE_DEVICE if self._for_tpu else _PHILOX))
        name = f"{node.name}/row" if self._alike else node.name
        draw = tf.compat.v1.NodeDef(name=name, op=DRAWS[node.op])
        data = [i for i in node.input if not i.startswith("^")]
        draw.input.extend([shape, key, counter, algorithm, *data[1:]])
        draw.input.extend(i for i in node.input if i.startswith("^"))
        draw.attr["Tshape"].CopyFrom(node.attr["T"])
        kind = "dtype" if node.op != "RandomUniformInt" else "Tout"
        draw.attr["dtype"].CopyFrom(node.attr[kind])
        last = [draw]
        number_type = tf.as_dtype(node.attr[kind].type)
        if self._for_xla and has_kernel_draws(node.op, number_type):
            last = draw_nodes(node, number_type, name, [shape, key, counter])
        if not self._alike:
            return [*maker.nodes, *last]
        rows = tf.compat.v1.NodeDef(name=node.name, op="BroadcastTo")
        rows.input.extend([name, node.input[0]])
        rows.attr["T"].CopyFrom(node.attr[kind])
        rows.attr["Tidx"].CopyFrom(node.attr["T"])
        return [*maker.nodes, *last, rows]

    def for_replica(self, graph_def: tf.compat.v1.GraphDef, replica: int) -> tf.compat.v1.GraphDef:
        """Returns a copy of the GraphDef in which ops that stay stateful draw another stream.

        Args:
          graph_def: a part of the lifted graph, with its library.
          replica: the replica's number; 0 returns the GraphDef itself.
        """
        if not replica or not any(
            is_seeded(n) or called_functions(n) & self._random_functions for n in graph_def.node
        ):
            return graph_def
        copy = tf.compat.v1.GraphDef()
        copy.CopyFrom(graph_def)
        for node in copy.node:
            self._set_seed(node, replica)
        for function in graph_def.library.function:
            if function.signature.name in self._random_functions:
                clone = copy.library.function.add()
                clone.CopyFrom(function)
                clone.signature.name = _clone_name(function.signature.name, replica)
                for node in clone.node_def:
                    self._set_seed(node, replica)
        return copy

    def _set_seed(self, node: tf.compat.v1.NodeDef, replica: int) -> None:
        if is_seeded(node) and (node.attr["seed"].i or node.attr["seed2"].i):
            seed = (node.attr["seed2"].i ^ (replica * _GOLDEN)) & (_MASK >> 1)
            node.attr["seed2"].i = seed or 1
        if node.op in self._random_functions:
            node.op = _clone_name(node.op, replica)
        for attr in node.attr.values():
            kind = attr.WhichOneof("value")
            references = [attr.func] if kind == "func" else attr.list.func if kind == "list" else []
            for function in references:
                if function.name in self._random_functions:
                    function.name = _clone_name(function.name, replica)


def has_same_draws(node: tf.compat.v1.NodeDef) -> bool:
    """Returns whether ``RandomStreams.for_xla`` gives a node the numbers of its kernel."""
    if node.op == "RandomUniformInt":
        return True
    return has_kernel_draws(node.op, tf.as_dtype(node.attr["dtype"].type))


def _clone_name(function: str, replica: int) -> str:
    return f"{function}_replica_{replica}"


def is_seeded(node: tf.compat.v1.NodeDef) -> bool:
    """Returns whether a node draws from its own stream, which differs between replicas."""
    return (
        "seed" in node.attr
        and "seed2" in node.attr
        and "shared_name" not in node.attr  # all replicas share a shuffling queue
        and is_stateful(node.op)
    )


def _mix(number: int) -> int:
    """Returns 64 bits that differ in about half of their places between any two numbers.

    They are SplitMix64's (Steele, Lea, Flood, "Fast splittable pseudorandom number generators",
    OOPSLA 2014). A product alone would give equal keys to ops of different replicas.
    """
    state = (number + _GOLDEN) & _MASK
    state = ((state ^ (state >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
    state = ((state ^ (state >> 27)) * 0x94D049BB133111EB) & _MASK
    return state ^ (state >> 31)


class _Nodes:
    """NodeDefs made for one random node, named below it."""

    def __init__(self, prefix: str):
        self._prefix = prefix
        self.nodes: list[tf.compat.v1.NodeDef] = []

    def add(self, op: str, inputs: list[str], **attrs: tf.DType | bool | int) -> str:
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
        name = self.add("Const", [], dtype=tf.as_dtype(value.dtype))
        self.nodes[-1].attr["value"].tensor.CopyFrom(tf.make_tensor_proto(value))
        return name

    def cast(self, ref: str, source: int, target: tf.DType) -> str:
        if source == target.as_datatype_enum:
            return ref
        return self.add("Cast", [ref], SrcT=tf.as_dtype(source), DstT=target, Truncate=False)
