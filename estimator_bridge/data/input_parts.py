"""Divides an input into parts that are read separately, each with its own dataset.

In TF1 a run read from the iterators and queues that its fetches reached, and from no others. So
tensors that share an iterator, a queue or a random operation form one part with its own dataset.
Most inputs have one part and one dataset.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from typing import Any

import tensorflow as tf

from estimator_bridge.data.lifted_inputs import dataset_of_tensors
from estimator_bridge.data.returned_tensors import is_plain
from estimator_bridge.graph import DividedIterators, InputPart, LiftedSession
from estimator_bridge.graph.op_kinds import READS
from estimator_bridge.model.ancestors import ancestors
from estimator_bridge.tensorflow_private.names import eager_mode

__all__ = ["DividedDatasets", "Division", "drawing_nodes"]

_PLACEHOLDERS = frozenset({"Placeholder", "PlaceholderV2", "PlaceholderWithDefault"})


@dataclasses.dataclass
class Division:
    """The parts of an input.

    Attributes:
      leaves: for each part, the indices of its tensors among the input's flat components.
      nodes: for each part, the nodes that read it.
      is_whole: whether one dataset gives all components: there is at most one part, and no
        component depends on a placeholder that hooks feed; the step computes those that do.
    """

    leaves: list[list[int]]
    nodes: list[frozenset[str]]
    is_whole: bool

    @classmethod
    def of(cls, components: Sequence[tf.Tensor]) -> Division:
        """Finds the parts.

        Args:
          components: tensors of a graph and plain values.
        """
        parts: list[tuple[list[int], set[str], set[str]]] = []  # leaves, shared sources, nodes
        is_fed = False
        for number, leaf in enumerate(components):
            if is_plain(leaf):
                continue
            behind = ancestors([leaf])
            shared = {op.name for op in behind if _has_position(op)}
            if not shared:  # the same in all runs, or fed by hooks
                is_fed |= any(op.type in _PLACEHOLDERS for op in behind)
                continue
            nodes = _drawing(behind)
            alike = [part for part in parts if not part[1].isdisjoint(shared)]
            parts = [part for part in parts if part[1].isdisjoint(shared)]
            for _, theirs, their_nodes in alike:
                shared, nodes = shared | theirs, nodes | their_nodes
            numbers = [n for leaves, _, _ in alike for n in leaves]
            parts.append(([*numbers, number], shared, nodes))
        parts = sorted((sorted(leaves), shared, nodes) for leaves, shared, nodes in parts)
        is_one = len(parts) < 2 and not is_fed
        can_be_empty = all(leaf.dtype not in (tf.variant, tf.resource) for leaf in components)
        return cls(
            [leaves for leaves, _, _ in parts],
            [frozenset(nodes) for _, _, nodes in parts],
            is_one or not can_be_empty,
        )


def drawing_nodes(tensors: Sequence[tf.Tensor]) -> frozenset[str]:
    """Returns the nodes of one part: a run that reaches one of them reads the part."""
    own = {tensor.op.name for tensor in tensors if _is_place(tensor.op)}
    return frozenset(_drawing(ancestors(tensors)) | own)


class DividedDatasets:
    """One dataset for each part of an input; ``iter`` gives ``DividedIterators``.

    Args:
      datasets: the datasets, with flat components.
    """

    def __init__(self, datasets: Sequence[tf.data.Dataset]):
        self._datasets = list(datasets)

    @classmethod
    def of(
        cls, session: LiftedSession, components: Sequence[tf.Tensor], division: Division
    ) -> tuple[DividedDatasets, list[InputPart]]:
        """Returns eager datasets, and the parts with the references that their elements stand for.

        Args:
          session: the session of the graph.
          components: the input's flat components.
          division: the parts of the input.
        """
        datasets, parts = [], []
        for numbers, nodes in zip(division.leaves, division.nodes):
            leaves = [components[n] for n in numbers]
            more: list[str] = []
            spec = tuple(tf.TensorSpec(leaf.shape, leaf.dtype) for leaf in leaves)
            datasets.append(dataset_of_tensors(session, leaves, spec, more))
            parts.append(InputPart(nodes, (*(leaf.name for leaf in leaves), *more)))
        return cls(datasets), parts

    def with_options(self, options: tf.data.Options) -> DividedDatasets:
        """Returns the same datasets with these options."""
        return DividedDatasets([dataset.with_options(options) for dataset in self._datasets])

    def __iter__(self) -> Iterator[Any]:
        flat = [list(dataset.element_spec) for dataset in self._datasets]
        with eager_mode():
            iterators = [iter(dataset) for dataset in self._datasets]
        return DividedIterators(iterators, [s for specs in flat for s in specs], [*map(len, flat)])


def _drawing(operations: Any) -> set[str]:
    """Returns the operations that read, without iterators and queues, which initializers reach."""
    return {
        op.name
        for op in operations
        if _has_position(op) and not any(t.dtype == tf.resource for t in op.outputs)
    }


def _has_position(operation: tf.Operation) -> bool:
    """Whether its state differs between runs, or is shared with other readers."""
    kind = operation.type
    is_known = kind in READS or kind == "VarHandleOp" or "Table" in kind or kind in _PLACEHOLDERS
    return not is_known and operation.op_def.is_stateful


def _is_place(operation: tf.Operation) -> bool:
    return operation.type in _PLACEHOLDERS or _has_position(operation)
