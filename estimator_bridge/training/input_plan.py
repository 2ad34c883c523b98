"""The input of a program: the result of an input_fn, its layout, and how steps draw from it."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

from estimator_bridge.data import BatchInput, drawing_nodes, placeholders
from estimator_bridge.data.static_shapes import pad_batches
from estimator_bridge.graph import InputPart, LiftedSession, SessionInput, Snapshot
from estimator_bridge.model import ModeKeys
from estimator_bridge.runtime import BatchLayout
from estimator_bridge.tensorflow_private.datasets import watch_ends
from estimator_bridge.tensorflow_private.names import eager_mode

__all__ = ["InputPlan", "ProgramInput", "TracedBatch", "split_batch_structure"]

_v1 = tf.compat.v1
_INITIALIZED = (_v1.GraphKeys.LOCAL_VARIABLES, _v1.GraphKeys.TABLE_INITIALIZERS)


@dataclasses.dataclass(frozen=True)
class TracedBatch:
    """One replica's batch in the traced graph.

    Attributes:
      features: the features for model_fn.
      labels: the labels for model_fn; None if there are none.
      refs: the tensors that an element's flat components stand for, by reference.
      valid_size: the number of real examples in a padded batch; None: all.
    """

    features: Any
    labels: Any
    refs: tuple[str, ...]
    valid_size: tf.Tensor | None = None


@dataclasses.dataclass(frozen=True)
class InputPlan:
    """The result of an input_fn, and its layout for the steps of a mode.

    Attributes:
      input: the result.
      layout: the layout of an element's flat components over the replicas.
      replicas: the number of replicas that share the input.
      examples: the size of a global batch, if known.
      divides: whether a step draws only those parts of the input that it needs.
      replica_spec: the spec of one replica's batch, for placeholders; None: the input's tensors
        are the batch.
      padded_to: the size to which each host's batch is padded, as the last may be short; None if
        none is padded.
      prefetches: whether batches are read ahead.
    """

    input: BatchInput
    layout: BatchLayout
    replicas: int = 1
    examples: int | None = None
    divides: bool = False
    replica_spec: Any = None
    padded_to: int | None = None
    prefetches: bool = False

    @property
    def tells_size(self) -> bool:
        """Whether each step receives the number of real examples in its padded batch."""
        return self.padded_to is not None and self.layout.full_batch is None

    @property
    def refusal(self) -> str | None:
        """Why a session run cannot draw a batch; None if it can."""
        if self.replicas > 1 or self.layout.hosts:
            return (
                f"the input feeds {self.replicas} replicas, and a session runs on the host alone. "
                "Fetch it in the step itself, from a hook's before_run; or train on one replica."
            )
        if self.layout.full_batch is not None:
            return (
                "batches are padded to one size here, which only the step can tell. Fetch it in "
                "the step itself, from a hook's before_run; or set use_tpu=False."
            )
        return None

    def trace_batch(self, mode: str) -> TracedBatch:
        """Makes one replica's batch in the default graph."""
        size = None
        if self.tells_size:
            size = tf.compat.v1.placeholder(tf.int64, [], name="valid_size")
        if self.replica_spec is None:
            batch = self.input.graph_batch()
        else:
            batch = placeholders(self.replica_spec)
        refs = [*self.input.names_of(batch), *([] if size is None else [size.name])]
        features, labels = split_batch_structure(self.input.unpack(batch))
        if mode == ModeKeys.PREDICT:
            labels = None
        return TracedBatch(features, labels, tuple(refs), size)

    def dataset(self, session: LiftedSession, may_be_ahead: bool) -> Any:
        """Returns the batches for the compiled loop; HostDatasets if other machines feed.

        Args:
          session: see ``BatchInput.dataset``.
          may_be_ahead: see ``on_demand``.
        """
        prepare = functools.partial(self._prepare, session, may_be_ahead)
        if self.padded_to is None and not self.layout.hosts:
            return prepare(*self.input.whole_dataset(session))
        return self.input.batches(session, prepare, self.layout.full_batch is not None)

    def on_demand(self, session: LiftedSession, dataset: Any, may_be_ahead: bool) -> Any:
        """Returns a dataset that reads nothing ahead by itself, unless it may.

        Args:
          session: see ``BatchInput.dataset``.
          dataset: the batches, or ``DividedDatasets``.
          may_be_ahead: see ``BatchInput.may_be_read_ahead``.
        """
        # A saved position fits only the dataset that it comes from.
        if may_be_ahead or session.resources.inputs.keeps_positions:
            return dataset
        return dataset.with_options(_nothing_ahead())

    def _prepare(
        self,
        session: LiftedSession,
        may_be_ahead: bool,
        dataset: tf.data.Dataset,
        reads_ahead: bool,
    ) -> tf.data.Dataset:
        # A second buffer costs a tenth of a small step.
        needs_no_buffer = reads_ahead or not self.prefetches
        if self.padded_to is not None:
            dataset, needs_no_buffer = pad_batches(dataset, self.padded_to), False
            if self.tells_size:
                dataset = dataset.map(_size_last)
        if needs_no_buffer or not may_be_ahead:
            return self.on_demand(session, dataset, may_be_ahead)
        return dataset.prefetch(tf.data.AUTOTUNE)


@dataclasses.dataclass(frozen=True)
class ProgramInput:
    """The source of the batches of a program's steps.

    Attributes:
      plan: the plan of the input.
      session: the session of the graph in which the input_fn was called.
      is_apart: whether that graph differs from the model's, because the program is reused.
    """

    plan: InputPlan
    session: LiftedSession
    is_apart: bool = False

    def dataset(self, may_be_ahead: bool = False) -> Any:
        """Returns the batches for the compiled loop; the session is initialized.

        Args:
          may_be_ahead: see ``BatchInput.may_be_read_ahead``.
        """
        return self._with_threads(lambda: self.plan.dataset(self.session, may_be_ahead))

    def open_later(
        self,
        session: LiftedSession,
        refs: tuple[str, ...],
        make_iterator: Callable[[Any], Any] = iter,
        is_watched: Callable[[], bool] = lambda: True,
    ) -> SessionInput:
        """Lets a program's steps and session runs draw from one iterator.

        Args:
          session: the session of the program's graph.
          refs: that graph's tensors that a batch's flat components stand for.
          make_iterator: makes an iterator of a dataset, ``DividedDatasets`` or ``HostDatasets``.
            It is called just before the first batch is drawn.
          is_watched: see ``BatchInput.may_be_read_ahead``.

        Returns:
          The holder of the iterator, which is also the session's input now.
        """
        tensors = [session.graph.get_tensor_by_name(ref) for ref in refs if " " not in ref]
        whole = InputPart(drawing_nodes(tensors), refs)
        may_be_ahead = self.plan.input.may_be_read_ahead(is_watched)
        batch_input, divides = self.plan.input, self.plan.divides
        static = [whole] if not divides or batch_input.is_whole else batch_input.drawn_parts()

        def open_input() -> tuple[Any, Sequence[InputPart]]:
            if divides:
                dataset, parts = self._with_threads(
                    lambda: batch_input.datasets(self.session, static)
                )
                with eager_mode():
                    dataset = self.plan.on_demand(self.session, dataset, may_be_ahead)
            else:
                dataset, parts = self.dataset(may_be_ahead), static
            watch_ends()
            with eager_mode():
                return make_iterator(dataset), parts

        refusal = self.plan.refusal
        session.input = SessionInput(static, open_input, refusal, divides, not may_be_ahead)
        # A saved position is that of the iterator.
        keeps_position = self.session.resources.inputs.keeps_positions
        session.input.ahead.is_allowed = may_be_ahead and not (divides or keeps_position)
        return session.input

    def end(self) -> None:
        """Stops the input's threads; frees what only this input used."""
        graph = self.session.graph
        self.session.end_input()
        if graph is None:
            return
        if self.is_apart:
            self.session.close()
            Snapshot.forget(graph)
        else:
            Snapshot.forget_rows(graph, self.session.given_to_functions)

    def is_like(self, plan: InputPlan) -> bool:
        """Whether a program traced for this input can be used for another plan."""
        other, mine = plan.input, self.plan.input
        are_whole = not self.plan.divides or (other.is_whole and mine.is_whole)
        return other.spec == mine.spec and not other.has_plain_values and are_whole

    def _with_threads(self, make: Callable[[], Any]) -> Any:
        """Starts the threads of the input, and returns the result of ``make``."""
        graph = self.session.graph
        if self.is_apart and any(map(graph.get_collection, _INITIALIZED)):
            with graph.as_default():
                init = [_v1.local_variables_initializer(), _v1.tables_initializer()]
                self.session.run(init)
        # Datasets put their functions into the default graph too; the model's is finalized.
        with tf.Graph().as_default(), eager_mode():
            result = make()
        self.session.queues.start(self.session, self.plan.input.needless_runners())
        return result


def _nothing_ahead() -> tf.data.Options:
    """Returns options without the rewrites of tf.data that draw before they are asked."""
    options = tf.data.Options()
    rewrites = options.experimental_optimization
    rewrites.inject_prefetch = rewrites.map_parallelization = False
    rewrites.map_and_batch_fusion = rewrites.parallel_batch = False
    return options


def split_batch_structure(batch: Any) -> tuple[Any, Any]:
    """Returns the features and labels of an input's batch; labels are None if there are none."""
    if not isinstance(batch, (tuple, list)):  # named tuples too
        return batch, None
    return batch[0], batch[1] if len(batch) > 1 else None  # a spec omits labels of None


def _size_last(size: tf.Tensor, batch: Any) -> tuple[Any, tf.Tensor]:
    return batch, size
