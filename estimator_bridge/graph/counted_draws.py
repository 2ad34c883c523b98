"""Nodes that call functions with random ops, with the position of each op."""

from __future__ import annotations

from collections.abc import Iterable, Set
from typing import Any

import numpy as np
import tensorflow as tf

from estimator_bridge.graph.draw_counts import constant_counts
from estimator_bridge.graph.draw_functions import DrawFunctions, NotCountedError, first_counter
from estimator_bridge.graph.random_nodes import REPLICA_KEY, RNG_STEP, RandomNodes
from estimator_bridge.graph.snapshot import Snapshot

__all__ = ["CountedDraws"]

_COUNTERS = "/estimator_bridge_counters"


class CountedDraws:
    """Loops, branches and calls whose random ops have a position.

    Args:
      snapshot: the traced graph.
      callers: names of the nodes that call functions with random ops.
      given_refs: references whose values come from outside.
      has_counters: see ``RandomStreams``.
      functions: rewrites the functions.

    Attributes:
      counters: by variable of counters, its size.
    """

    def __init__(
        self,
        snapshot: Snapshot,
        callers: Iterable[str],
        given_refs: Set[str],
        has_counters: bool,
        functions: DrawFunctions,
    ):
        self._library, self._functions = snapshot.library, functions
        # By node, how many numbers each op draws in a step; None if not always as many.
        self._counts: dict[str, list[int] | None] = {}
        self.counters: dict[str, int] = {}
        outside = given_refs | snapshot.constants.keys()  # these have no values in their nodes
        for name in callers:
            try:
                count = functions.count(snapshot.nodes[name])
            except NotCountedError:
                continue
            if not count:
                continue
            counts = constant_counts(snapshot.nodes, outside, functions, name, count)
            if counts is None:
                if not has_counters:
                    continue
                self.counters[name + _COUNTERS] = count
            self._counts[name] = counts

    @property
    def names(self) -> Set[str]:
        """Those of the callers that get positions."""
        return self._counts.keys()

    @property
    def library(self) -> Any:
        """The graph's functions, and those that rewritten nodes call."""
        if not self._functions.new_functions:
            return self._library
        library = type(self._library)()
        library.CopyFrom(self._library)
        library.function.extend(self._functions.new_functions)
        return library

    def inputs_of(self, name: str) -> list[str]:
        """Returns the references that a node with counters in a variable takes from outside."""
        handle = name + _COUNTERS
        return [f"{handle}:0", REPLICA_KEY + ":0"] if handle in self.counters else []

    def rewritten(self, node: tf.compat.v1.NodeDef) -> list[tf.compat.v1.NodeDef]:
        """Returns the NodeDefs that replace a caller; the last has its name and outputs."""
        maker, counts = RandomNodes(node.name), self._counts[node.name]
        if counts is not None:
            starts = [
                maker.add("Mul", [RNG_STEP, maker.const(np.int64(count))], T=tf.int64)
                for count in counts
            ]
            return [*maker.nodes, self._functions.rewritten(node, starts, REPLICA_KEY)]
        handle = node.name + _COUNTERS
        size = self.counters[handle]
        values = maker.add("ReadVariableOp", [handle], dtype=tf.int64)
        before = maker.add("Unpack", [values], T=tf.int64, num=size, axis=0)
        starts = [f"{before}:{i}" for i in range(size)]
        rewritten = self._functions.rewritten(node, starts, REPLICA_KEY)
        first = first_counter(rewritten, size)
        results = [f"{node.name}:{first + i}" for i in range(size)]
        after = maker.add("Pack", results, T=tf.int64, N=size, axis=0)
        maker.add("AssignVariableOp", [handle, after], dtype=tf.int64)
        return [*maker.nodes, rewritten]
