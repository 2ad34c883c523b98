"""Which of an input's tensors are drawn together, and the datasets of those that are not.

In TF1 a run drew from the iterators and queues that its fetches reached, and from no others. So
tensors that share an iterator, a queue or a random operation are one part, with a dataset of its
own. Most inputs are one part, and have one dataset.
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
from estimator_bridge.tensorflow_private import eager_mode

__all__ = ["DividedDatasets", "Division", "drawing_nodes"]

_PLACEHOLDERS = frozenset({"Placeholder", "PlaceholderV2", "PlaceholderWithDefault"})


@dataclasses.dataclass
class Division:
    """The parts of an input.

    Attributes:
      leaves: by part, the numbers of its tensors among the input's flat components.
      nodes: by part, the nodes that draw it.
      is_whole: whether one dataset gives all components: there is one part at most, and none
        depends on a placeholder that hooks feed. Those that do are computed in the step.
    """

    leaves: list[list[int]]
    nodes: list[frozenset[str]]
    is_whole: bool

    @classmethod
    def of(cls, components: Sequence[tf.Tensor]) -> Division:
        """Finds the parts.

        Args:
          components: tensors of a graph, and plain values.
        """
        parts: list[tuple[list[int], set[str], set[str]]] = []  # leaves, what they share, nodes
        is_fed = False
        for number, leaf in enumerate(components):
            if is_plain(leaf):
                continue
            behind = ancestors([leaf])
            shared = {op.name for op in behind if _has_position(op)}
            if not shared:  # the same in all runs, or what hooks feed
                is_fed |= any(op.type in _PLACEHOLDERS for op in behind)
                continue
            nodes = _drawing(behind)
            alike = [part for part in parts if not part[1].isdisjoint(shared)]
            parts = [part for part in parts if part[1].isdisjoint(shared)]
            for _, theirs, their_nodes in alike:
                shared, nodes = shared | theirs, nodes | their_nodes
            joined = [n for leaves, _, _ in alike for n in leaves]
            parts.append(([*joined, number], shared, nodes))
        parts = sorted((sorted(leaves), shared, nodes) for leaves, shared, nodes in parts)
        is_one = len(parts) < 2 and not is_fed
        can_be_empty = all(leaf.dtype not in (tf.variant, tf.resource) for leaf in components)
        return cls(
            [leaves for leaves, _, _ in parts],
            [frozenset(nodes) for _, _, nodes in parts],
            is_one or not can_be_empty,
        )


def drawing_nodes(tensors: Sequence[tf.Tensor]) -> frozenset[str]:
    """The nodes by which a run shows that it draws one of these, which are drawn together."""
    own = {tensor.op.name for tensor in tensors if _is_place(tensor.op)}
    return frozenset(_drawing(ancestors(tensors)) | own)


class DividedDatasets:
    """One dataset for each part of an input; ``iter`` gives ``DividedIterators``.

    Args:
      datasets: of flat components.
    """

    def __init__(self, datasets: Sequence[tf.data.Dataset]):
        self._datasets = list(datasets)

    @classmethod
    def of(
        cls, session: LiftedSession, components: Sequence[tf.Tensor], division: Division
    ) -> tuple[DividedDatasets, list[InputPart]]:
        """The datasets, eagerly, and the parts with all that their elements stand for.

        Args:
          session: of the graph.
          components: of the input.
          division: of the input.
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
        """The like, with these options."""
        return DividedDatasets([dataset.with_options(options) for dataset in self._datasets])

    def __iter__(self) -> Iterator[Any]:
        flat = [list(dataset.element_spec) for dataset in self._datasets]
        with eager_mode():
            iterators = [iter(dataset) for dataset in self._datasets]
        return DividedIterators(iterators, [s for specs in flat for s in specs], [*map(len, flat)])


def _drawing(operations: Any) -> set[str]:
    """Those that draw: not the iterators and queues themselves, which an initializer reaches."""
    return {
        op.name
        for op in operations
        if _has_position(op) and not any(t.dtype == tf.resource for t in op.outputs)
    }


def _has_position(operation: tf.Operation) -> bool:
    """Whether runs find it in another state each time, or share it with others who draw."""
    kind = operation.type
    is_known = kind in READS or kind == "VarHandleOp" or "Table" in kind or kind in _PLACEHOLDERS
    return not is_known and operation.op_def.is_stateful


def _is_place(operation: tf.Operation) -> bool:
    return operation.type in _PLACEHOLDERS or _has_position(operation)
