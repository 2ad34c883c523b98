"""What steps read and sessions do not: iterators, queues, and positions in random streams."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable

import tensorflow as tf

from estimator_bridge.graph.draw_counters import DrawCounters

__all__ = ["InputSources"]


@dataclasses.dataclass
class InputSources:
    """Iterators, queues and their datasets, and the positions of draws.

    Attributes:
      datasets: by iterator, the dataset (a variant tensor) that it was last initialized with.
      iterators_read: iterators whose datasets are read directly instead.
      nodes_replaced: nodes that draw from iterators and queues that are read directly instead.
      keeps_positions: whether the positions of iterators are saved, which depend on how a dataset
        is made.
      draw_counters: the variables in which steps count their draws.
    """

    datasets: dict[str, tf.Tensor] = dataclasses.field(default_factory=dict)
    iterators_read: set[str] = dataclasses.field(default_factory=set)
    nodes_replaced: set[str] = dataclasses.field(default_factory=set)
    keeps_positions: bool = False
    draw_counters: DrawCounters = dataclasses.field(default_factory=DrawCounters)

    def check_not_read_elsewhere(self, names: Iterable[str]) -> None:
        """Checks that no node would block on a queue, or read its own stream of the input.

        Raises:
          FailedPreconditionError: a node would.
        """
        conflicts = sorted(self.nodes_replaced.intersection(names))
        if conflicts:
            raise tf.errors.FailedPreconditionError(
                None,
                None,
                f"GetNext() failed: {conflicts[0]!r} draws from the program's input, which the "
                "steps read through a separate iterator, so its value is not part of their batch. "
                "Return the tensor among input_fn's features, and use it from there.",
            )

    def check_initialized_once(self, iterators: Iterable[str]) -> None:
        """Checks that steps do not read the dataset of an iterator that a run initializes.

        Raises:
          NotImplementedError: they do.
        """
        conflicts = sorted(self.iterators_read.intersection(iterators))
        if conflicts:
            raise NotImplementedError(
                f"The iterator {conflicts[0]!r} was initialized again while the model reads its "
                "dataset, which has no effect. To switch datasets, make the iterator with "
                "tf.compat.v1.data.Iterator.from_structure(types, shapes) and one "
                "iterator.make_initializer(dataset) for each dataset."
            )
