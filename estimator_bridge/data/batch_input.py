"""The protocol of an input, as programs use the result of an input_fn."""

from __future__ import annotations

import abc
from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

from estimator_bridge.data.row_queues import RowQueueRunner
from estimator_bridge.data.self_contained import Outside
from estimator_bridge.graph import InputPart, LiftedSession

__all__ = ["BatchInput", "placeholders"]


class BatchInput(abc.ABC):
    """An input whose batches come from one dataset.

    Args:
      graph: the graph in which the input_fn was called.
      spec: the TypeSpecs of one batch: (features, labels), or features alone.

    Attributes:
      spec: as given.
      is_stacked: whether a batch is made of the replicas' batches, one after the other.
    """

    is_stacked = False

    def __init__(self, graph: tf.Graph, spec: Any):
        self._graph, self.spec = graph, spec

    @property
    @abc.abstractmethod
    def is_eager(self) -> bool:
        """Whether the dataset was made outside of any graph."""

    @property
    @abc.abstractmethod
    def may_end(self) -> bool:
        """Whether the input can end: a dataset, or a queue that threads fill."""

    @property
    @abc.abstractmethod
    def outside(self) -> Outside:
        """What its elements depend on outside of it."""

    @property
    def is_self_contained(self) -> bool:
        """Whether nobody can notice when it is drawn from."""
        return self.outside is Outside.NOTHING

    def may_be_read_ahead(self, is_watched: Callable[[], bool]) -> bool:
        """Returns whether elements may be drawn before the step that uses them.

        Args:
          is_watched: returns whether code of the program runs between two steps, or in one: it may
            change a file that the next element comes from.
        """
        return self.is_self_contained or (self.outside is Outside.FILES and not is_watched())

    @abc.abstractmethod
    def dataset(self, session: LiftedSession) -> tf.data.Dataset:
        """Returns the batches, as an eager dataset.

        Args:
          session: the session of the input's graph. The tables that the input uses are
            initialized, and the hooks that initialize its iterators have run.
        """

    def whole_dataset(self, session: LiftedSession) -> tuple[tf.data.Dataset, bool]:
        """Returns the batches as an eager dataset of which no other is made.

        Args:
          session: see ``dataset``.

        Returns:
          The dataset, and whether a ``prefetch`` after it would be of no use.
        """
        return self.dataset(session), self.reads_ahead

    @property
    def reads_ahead(self) -> bool:
        """Whether the program's dataset ends with prefetch."""
        return False

    @property
    def has_plain_values(self) -> bool:
        """Whether model_fn receives values besides tensors; they stay in its graph."""
        return False

    def graph_batch(self) -> Any:
        """Returns the tensors of one batch, in the graph: (features, labels) or features."""
        return placeholders(self.spec)

    @property
    def is_packed(self) -> bool:
        """Whether batches hold other tensors than model_fn gets; see ``unpack``."""
        return False

    def unpack(self, batch: Any) -> Any:
        """Returns the argument of model_fn, given the tensors of a batch or of a replica's part."""
        return batch

    def names_of(self, batch: Any) -> list[str]:
        """Returns references of the tensors that components of ``dataset``'s elements stand for.

        Args:
          batch: the argument of model_fn: ``graph_batch()``, or placeholders instead.
        """
        return [leaf.name for leaf in tf.nest.flatten(batch, expand_composites=True)]

    def batches(
        self,
        session: LiftedSession,
        prepare: Callable[[tf.data.Dataset, bool], tf.data.Dataset],
        are_sized: bool,
    ) -> Any:
        """Returns the batches for a loop: a dataset, or ``HostDatasets``.

        Args:
          session: see ``dataset``.
          prepare: changes a dataset, given whether the program's dataset ends with prefetch.
          are_sized: whether elements are (size, padded batch) then.
        """
        del are_sized
        return prepare(self.dataset(session), self.reads_ahead)

    @property
    def is_whole(self) -> bool:
        """Whether one dataset gives all tensors; otherwise steps read only the parts they need."""
        return True

    def drawn_parts(self) -> list[InputPart]:
        """Returns the parts that are read separately, as far as known before a read."""
        return []

    def datasets(
        self, session: LiftedSession, static: Sequence[InputPart]
    ) -> tuple[Any, list[InputPart]]:
        """Returns the batches as ``dataset`` does, or parts of them, and what each stands for.

        An element has, after the input's tensors, the tensors that they are computed from.

        Args:
          session: see ``dataset``.
          static: the one part, if ``is_whole``.

        Returns:
          A dataset or ``DividedDatasets``, and the parts with all of their references.
        """
        return self.dataset(session), list(static)

    def needless_runners(self) -> list[RowQueueRunner]:
        """Returns the queue runners whose rows ``dataset`` reads itself, without their queues."""
        runners = self._graph.get_collection(tf.compat.v1.GraphKeys.QUEUE_RUNNERS)
        return [r for r in runners if isinstance(r, RowQueueRunner) and r.is_read_directly]


def placeholders(spec: Any) -> Any:
    """Returns placeholders for a structure of TypeSpecs, composite ones included."""
    flat = [
        tf.compat.v1.placeholder(s.dtype, s.shape)
        for s in tf.nest.flatten(spec, expand_composites=True)
    ]
    return tf.nest.pack_sequence_as(spec, flat, expand_composites=True)
