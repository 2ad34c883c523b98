"""The consumers of a graph's operations, looked up once."""

from __future__ import annotations

import collections

import tensorflow as tf

from estimator_bridge_contrib.quantize.common import SKIPPED_PREFIXES

__all__ = ["InputToOps"]


class InputToOps:
    """The operations that take each tensor of a graph, as they are when this is made.

    Operations of gradients, optimizers and summaries are left out.

    Args:
      graph: the graph.
    """

    def __init__(self, graph: tf.Graph):
        # By reference: tensors that compare by value have no hash.
        self.mapping: dict[object, set[tf.Operation]] = collections.defaultdict(set)
        for op in graph.get_operations():
            if not op.name.startswith(SKIPPED_PREFIXES):
                for tensor in op.inputs:
                    self.mapping[tensor.ref()].add(op)

    def ConsumerOperations(self, producer_op: tf.Operation) -> set[tf.Operation]:
        """Returns the operations that take an output of an operation."""
        consumers = [self.mapping.get(tensor.ref(), set()) for tensor in producer_op.outputs]
        return set().union(*consumers)
