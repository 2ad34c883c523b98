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

In a function's body (of a loop, a branch, a tf.function) the position of each op is an argument and
a result (``draw_functions``). It begins at ``rng_step`` times the numbers that a step draws, if
these are always as many (``draw_counts``). Otherwise a variable of each replica keeps the position,
as the kernel would: it starts at zero in each process, or where a hook saved it.

JAX draws ``tf.random.categorical`` and ``tf.random.shuffle`` by arithmetic (``arithmetic_draws``).
TensorFlow's kernels of both stay stateful, like ops without such a form (Poisson, candidate
samplers) and ops beside v1 control flow. Replicas other than the first get their own seeds for
them.
"""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Set
from typing import Any

import tensorflow as tf

from estimator_bridge.graph.arithmetic_draws import (
    BY_ARITHMETIC,
    arithmetic_functions,
    arithmetic_nodes,
)
from estimator_bridge.graph.counted_draws import CountedDraws
from estimator_bridge.graph.draw_body import draw_functions
from estimator_bridge.graph.draw_functions import DrawFunctions
from estimator_bridge.graph.function_library import called_functions, functions_where
from estimator_bridge.graph.kernel_draws import has_kernel_draws
from estimator_bridge.graph.op_kinds import DRAWS, DRAWS_OF_ROWS, GAMMA
from estimator_bridge.graph.random_nodes import MASK, REPLICA_KEY, RNG_STEP, number_type
from estimator_bridge.graph.snapshot import Snapshot, is_stateful
from estimator_bridge.graph.stateless_draws import stateless_nodes

__all__ = [
    "REPLICA_KEY",
    "RNG_STEP",
    "RandomStreams",
    "Randomness",
    "has_same_draws",
    "is_seeded",
    "replica_key",
]

_GOLDEN = 0x9E3779B97F4A7C15  # odd, so distinct replicas get distinct keys


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
      has_counters: whether a step may count its draws in variables, where they are not always as
        many.
      needs_positions: whether ops that keep a state are replaced where they can be, because the
        runtime that XLA draws for has none.
    """

    alike: bool = False
    for_tpu: bool = False
    for_xla: bool = False
    has_counters: bool = False
    needs_positions: bool = False


class Randomness:
    """The random ops of one lifted subgraph, made reproducible.

    Args:
      snapshot: the traced graph.
      names: the nodes to make stateless, if they have a stateless form.
      streams: the kind of random streams.
      given_refs: references whose values come from outside.

    Attributes:
      stateless: the nodes that are made stateless.
      inputs: references that rewritten nodes take from outside.
      counters: by variable of counters, their number; its handle is taken from outside too.
      computed_ops: types of ops without a kernel of XLA, which computes them.
    """

    def __init__(
        self,
        snapshot: Snapshot,
        names: list[str],
        streams: RandomStreams,
        given_refs: Set[str] = frozenset(),
    ):
        self._streams = streams
        self.inputs = [RNG_STEP + ":0", *([] if streams.alike else [REPLICA_KEY + ":0"])]
        self._random_functions = functions_where(snapshot.library, is_seeded)
        replaced = DRAWS_OF_ROWS if streams.alike else frozenset(DRAWS)
        if streams.needs_positions and not streams.alike:
            replaced |= BY_ARITHMETIC.keys()
        self.computed_ops = frozenset({GAMMA} & replaced if streams.needs_positions else ())
        self._new_functions: list[Any] = []
        self.stateless = {n for n in names if snapshot.nodes[n].op in replaced}
        self._entropy = random.SystemRandom()
        callers = [n for n in names if called_functions(snapshot.nodes[n]) & self._random_functions]
        self._caller_draws = CountedDraws(
            snapshot,
            [] if streams.alike else callers,
            given_refs,
            streams.has_counters,
            DrawFunctions(
                snapshot.library,
                self._random_functions,
                is_seeded,
                replaced,
                self._draw,
                has_kernels=not streams.needs_positions,
            ),
        )
        self.stateless |= self._caller_draws.names
        self.counters = self._caller_draws.counters

    @property
    def library(self) -> Any:
        """The graph's functions, and those that rewritten nodes call."""
        library = self._caller_draws.library
        if self._new_functions:
            whole = type(library)()
            whole.CopyFrom(library)
            whole.function.extend(self._new_functions)
            return whole
        return library

    def rewritten(self, node: tf.compat.v1.NodeDef) -> list[tf.compat.v1.NodeDef]:
        """Returns the NodeDefs that replace a random node; the last has its name and outputs."""
        if node.name in self._caller_draws.names:
            return self._caller_draws.rewritten(node)
        seed, seed2 = self._seeds(node)
        if node.op in BY_ARITHMETIC:
            nodes, functions = arithmetic_nodes(node, seed, seed2)
            self._new_functions += functions
            return nodes
        streams = self._streams
        nodes, functions = stateless_nodes(
            node, seed, seed2, streams.alike, streams.for_tpu, streams.for_xla
        )
        self._new_functions += functions
        return nodes

    def inputs_of(self, name: str) -> list[str]:
        """Returns the references that a rewritten node takes from outside."""
        return self._caller_draws.inputs_of(name) or self.inputs

    def _draw(self, node: tf.compat.v1.NodeDef) -> list[Any]:
        seed, seed2 = self._seeds(node)
        if node.op in BY_ARITHMETIC:
            return arithmetic_functions(node, seed, seed2)
        return draw_functions(node, seed, seed2, self._streams.for_tpu, self._streams.for_xla)

    def _seeds(self, node: tf.compat.v1.NodeDef) -> tuple[int, int]:
        """Returns the key of a node's stream, and the second number of its counter."""
        seed, seed2 = node.attr["seed"].i, node.attr["seed2"].i
        if not seed and not seed2:  # unseeded: every trace draws other numbers
            return self._entropy.getrandbits(63), self._entropy.getrandbits(63)
        if self._streams.for_tpu and node.op not in BY_ARITHMETIC:
            return seed ^ _mix(seed2), seed2  # the chip's generator ignores the second number
        return seed, seed2

    def for_replica(self, graph_def: tf.compat.v1.GraphDef, replica: int) -> tf.compat.v1.GraphDef:
        """Returns a copy of the GraphDef in which ops that stay stateful draw another stream.

        Args:
          graph_def: a part of the lifted graph, with its library.
          replica: the replica's number; 0 returns the GraphDef itself.
        """
        random_functions = functions_where(graph_def.library, is_seeded) if replica else set()
        if not replica or not any(
            is_seeded(n) or called_functions(n) & random_functions for n in graph_def.node
        ):
            return graph_def
        copy = tf.compat.v1.GraphDef()
        copy.CopyFrom(graph_def)
        for node in copy.node:
            _set_seed(node, replica, random_functions)
        for function in graph_def.library.function:
            if function.signature.name in random_functions:
                clone = copy.library.function.add()
                clone.CopyFrom(function)
                clone.signature.name = _clone_name(function.signature.name, replica)
                for node in clone.node_def:
                    _set_seed(node, replica, random_functions)
        return copy


def _set_seed(node: tf.compat.v1.NodeDef, replica: int, random_functions: Set[str]) -> None:
    """Gives a node, or the functions that it calls, the seeds of a replica."""
    if is_seeded(node) and (node.attr["seed"].i or node.attr["seed2"].i):
        seed = (node.attr["seed2"].i ^ (replica * _GOLDEN)) & (MASK >> 1)
        node.attr["seed2"].i = seed or 1
    if node.op in random_functions:
        node.op = _clone_name(node.op, replica)
    for attr in node.attr.values():
        kind = attr.WhichOneof("value")
        references = [attr.func] if kind == "func" else attr.list.func if kind == "list" else []
        for function in references:
            if function.name in random_functions:
                function.name = _clone_name(function.name, replica)


def has_same_draws(node: tf.compat.v1.NodeDef) -> bool:
    """Returns whether ``RandomStreams.for_xla`` gives a node the numbers of its kernel."""
    if node.op == "RandomUniformInt" or node.op in BY_ARITHMETIC:
        return True
    return has_kernel_draws(node.op, number_type(node))


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
    state = (number + _GOLDEN) & MASK
    state = ((state ^ (state >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    state = ((state ^ (state >> 27)) * 0x94D049BB133111EB) & MASK
    return state ^ (state >> 31)
