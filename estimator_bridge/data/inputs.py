"""The result of an input_fn, as tensors for the trace and as a dataset for the run.

An input_fn is TF1 code and is called inside a graph. A dataset that it makes there is lifted: the
variant tensor that holds it is computed on the TF2 side and becomes an eager dataset. Returned
tensors are traced back to their sources: see ``lifted_inputs``.
"""

from __future__ import annotations

import contextlib
import functools
import reprlib
from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

from estimator_bridge.data.absent_components import AbsentComponents
from estimator_bridge.data.batch_input import BatchInput, placeholders
from estimator_bridge.data.graph_iterators import lifted_dataset, whole_dataset
from estimator_bridge.data.input_parts import DividedDatasets, Division
from estimator_bridge.data.lifted_inputs import dataset_of_tensors
from estimator_bridge.data.returned_tensors import ReturnedTensors, check_length, is_plain
from estimator_bridge.data.row_queues import RowQueueRunner
from estimator_bridge.data.self_contained import Outside, outside_of, outside_of_dataset
from estimator_bridge.graph import InputPart, LiftedSession, arrays_outside
from estimator_bridge.model import ModeKeys
from estimator_bridge.model.ancestors import ancestors
from estimator_bridge.model.fn_args import fn_args
from estimator_bridge.tensorflow_private.names import eager_mode

__all__ = ["GraphInput", "call_input_fn"]


def call_input_fn(input_fn: Callable, graph: tf.Graph, **values: Any) -> GraphInput:
    """Calls an input_fn inside the current default graph.

    Args:
      input_fn: returns a Dataset, features, or (features, labels).
      graph: the default graph.
      **values: values of the arguments that it may take: mode, params, config, input_context
        (None if the input is not shared, as in the original).

    Raises:
      TypeError: it is not a function, or it returned neither a dataset nor tensors.
      ValueError: it returned a tuple of a length other than 2.
    """
    if not callable(input_fn):
        advice = ""
        if isinstance(input_fn, tf.data.Dataset):
            advice = (
                " Make the dataset in a function and pass that one, without calling it: "
                "lambda: make_dataset()."
            )
        raise TypeError(
            f"input_fn must be a function that returns a tf.data.Dataset or (features, labels), "
            f"got {type(input_fn).__name__}: {reprlib.repr(input_fn)}.{advice}"
        )
    values.setdefault("input_context", None)
    arguments = {name: values[name] for name in fn_args(input_fn) if name in values}
    # The graph of a training is written to model_dir, with its constants.
    is_written = values.get("mode") not in (ModeKeys.EVAL, ModeKeys.PREDICT)
    aside = contextlib.nullcontext() if is_written else arrays_outside(graph)
    with tf.device("/cpu:0"), aside:
        result = input_fn(**arguments)
    if values.get("mode") == ModeKeys.PREDICT and isinstance(result, (tuple, list)):
        check_length(result)
        # The labels are not computed. Features that are a pair are not (features, labels).
        result = (result[0], None) if isinstance(result[0], (tuple, list)) else result[0]
    return GraphInput(graph, result)


class GraphInput(BatchInput):
    """The result of one call of an input_fn.

    Args:
      graph: the graph in which the input_fn was called.
      result: its result: a dataset, features or (features, labels).

    Attributes:
      initializer: the operation that opens the dataset's iterator in a session; None before
        ``graph_batch``, and if there is no such iterator.
    """

    initializer: tf.Operation | None = None

    def __init__(self, graph: tf.Graph, result: Any):
        self._known_division: Division | None = None
        self._dataset: Any = None
        self._absent: AbsentComponents | None = None
        self._tensors: ReturnedTensors | None = None
        if isinstance(result, tf.data.Dataset):
            check_length(result.element_spec)
            self._absent = AbsentComponents(result)
            self._dataset = self._absent.dataset
            super().__init__(graph, self._dataset.element_spec)
        else:
            self._tensors = ReturnedTensors(result)
            super().__init__(graph, self._tensors.spec)

    @property
    def is_packed(self) -> bool:
        """Whether batches lack the None that model_fn gets; see ``unpack``."""
        return self._absent is not None and self._absent.is_packed

    def unpack(self, batch: Any) -> Any:
        """Returns the argument of model_fn, given the tensors of a batch or of a replica's part."""
        return self._absent.restore(batch) if self._absent and self.is_packed else batch

    @property
    def is_eager(self) -> bool:
        """Whether the dataset was made outside of any graph."""
        return self._dataset is not None and hasattr(
            tf.data.experimental.to_variant(self._dataset), "numpy"
        )

    @property
    def reads_ahead(self) -> bool:
        """Whether the program's dataset ends with prefetch."""
        if self._dataset is None or self.is_eager:
            return False
        return tf.data.experimental.to_variant(self._dataset).op.type == "PrefetchDataset"

    @property
    def may_end(self) -> bool:
        """Whether the input can end: a dataset, or a queue that threads fill."""
        if self._tensors is None:
            return True
        behind = ancestors(leaf for leaf in self._tensors.leaves if not is_plain(leaf))
        runners = self._graph.get_collection(tf.compat.v1.GraphKeys.QUEUE_RUNNERS)
        return bool(runners) or any("Iterator" in operation.type for operation in behind)

    @functools.cached_property
    def outside(self) -> Outside:
        """What its elements depend on outside of it."""
        runners = self._graph.get_collection(tf.compat.v1.GraphKeys.QUEUE_RUNNERS)
        queues = {r.queue.queue_ref.op.name for r in runners if isinstance(r, RowQueueRunner)}
        if self._tensors is not None:
            leaves = [leaf for leaf in self._tensors.leaves if not is_plain(leaf)]
            return outside_of(self._graph, leaves, queues)
        if self.is_eager:
            return outside_of_dataset(self._dataset)
        variant = tf.data.experimental.to_variant(self._dataset)
        return outside_of(self._graph, [variant], queues)

    @property
    def has_plain_values(self) -> bool:
        """Whether model_fn receives values besides tensors; they stay in its graph."""
        return self._tensors is not None and any(map(is_plain, self._tensors.leaves))

    def graph_batch(self) -> Any:
        """Returns the tensors of one batch, in the graph: (features, labels) or features.

        They are the iterator's own tensors, as in the original, so that later operations get the
        same names and op-level seeds. Call it inside the graph.
        """
        if self._tensors is not None:
            return self._tensors.batch
        if self.is_eager:
            return placeholders(self.spec)
        iterator = tf.compat.v1.data.make_initializable_iterator(self._dataset)
        self.initializer = iterator.initializer
        return iterator.get_next()

    def names_of(self, batch: Any) -> list[str]:
        """Returns references of the tensors that components of ``dataset``'s elements stand for.

        Args:
          batch: the argument of model_fn: ``graph_batch()``, or placeholders instead.
        """
        if self._tensors is not None and batch is self._tensors.batch:
            return self._tensors.names
        return super().names_of(batch)

    def dataset(self, session: LiftedSession) -> tf.data.Dataset:
        """Returns the batches, as an eager dataset.

        Args:
          session: the session of the input's graph. The tables that the input uses are
            initialized, and the hooks that initialize its iterators have run.
        """
        with eager_mode():
            if self._tensors is not None:
                return dataset_of_tensors(session, self._tensors.leaves, self.spec)
            if self.is_eager:
                return self._dataset
            variant = tf.data.experimental.to_variant(self._dataset)
            return lifted_dataset(session, variant.name, self.spec)

    def whole_dataset(self, session: LiftedSession) -> tuple[tf.data.Dataset, bool]:
        """Returns the batches, and whether a ``prefetch`` is of no use; see ``BatchInput``."""
        if self._tensors is not None or self.is_eager:
            return super().whole_dataset(session)
        variant = tf.data.experimental.to_variant(self._dataset)
        with eager_mode():
            dataset, is_best = whole_dataset(session, variant.name, self.spec)
        return dataset, is_best or self.reads_ahead

    @property
    def is_whole(self) -> bool:
        """Whether one dataset gives all tensors; otherwise steps read only the parts they need."""
        return self._division is None or self._division.is_whole

    def drawn_parts(self) -> list[InputPart]:
        """Returns the parts that are read separately, as far as known before a read."""
        assert self._tensors is not None and self._division is not None
        names, division = self._tensors.names, self._division
        return [
            InputPart(nodes, tuple(names[n] for n in leaves))
            for leaves, nodes in zip(division.leaves, division.nodes)
        ]

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
        division = self._division
        with eager_mode():
            if self._tensors is None or division is None:
                return self.whole_dataset(session)[0], list(static)
            if not division.is_whole:
                return DividedDatasets.of(session, self._tensors.leaves, division)
            more: list[str] = []
            dataset = dataset_of_tensors(session, self._tensors.leaves, self.spec, more)
        return dataset, [InputPart(static[0].nodes, (*static[0].refs, *more))]

    @property
    def _division(self) -> Division | None:
        if self._tensors is not None and self._known_division is None:
            self._known_division = Division.of(self._tensors.leaves)
        return self._known_division
