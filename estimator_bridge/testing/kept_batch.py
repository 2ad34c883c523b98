"""Keeps one batch of an input_fn, so that all runs of a check see the same examples."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import tensorflow as tf

from estimator_bridge.graph import LiftedSession, trace_graph
from estimator_bridge.tensorflow_private.datasets import end_iterator, watch_ends
from estimator_bridge.tensorflow_private.names import eager_mode
from estimator_bridge.tpu.execution import TPUExecution

__all__ = ["KeptBatch"]

_v1 = tf.compat.v1


class KeptBatch:
    """The first host batch of an input_fn; also an input_fn that returns it.

    Args:
      execution: the layout of the model.
      input_fn: the user's input_fn.
      mode: one of ModeKeys.
      params: parameters for the input_fn.

    Attributes:
      graph: the graph of the last call.

    Raises:
      ValueError: the input_fn returns no batch, or its shapes are not static.
    """

    def __init__(
        self, execution: TPUExecution, input_fn: Callable, mode: str, params: Mapping[str, Any]
    ):
        self.graph: tf.Graph | None = None
        with trace_graph(execution.config.tf_random_seed, execution.shards) as graph:
            _v1.train.create_global_step(graph)
            plan = execution.plan_input(input_fn, graph, mode, params)
            init = [_v1.local_variables_initializer(), _v1.tables_initializer()]
        session = LiftedSession(graph, execution.strategy)
        try:
            session.run(init)
            with tf.Graph().as_default(), eager_mode():
                dataset = plan.input.dataset(session)
            session.queues.start(session, plan.input.needless_runners())
            watch_ends()
            with eager_mode():
                iterator = iter(dataset)
                batch = next(iterator, None)
            end_iterator(iterator)
        finally:
            session.close()
        if batch is None:
            raise ValueError(
                f"input_fn gave no batch in mode {mode!r}. Its dataset is empty, or has fewer "
                "examples than a batch and drop_remainder=True. Return at least one global batch."
            )
        self._spec, self._batch = plan.input.spec, batch
        self._axes = plan.layout.axes or ()

    def __call__(self, params: Mapping[str, Any]) -> tf.data.Dataset:
        """Returns the batch as a dataset with the user's declared shapes."""
        del params
        self.graph = _v1.get_default_graph()
        return self._dataset(self._batch)

    def in_other_orders(self) -> Iterator[tf.data.Dataset]:
        """Yields the same batch with its examples in other orders."""
        for order in _ORDERS:
            with eager_mode():
                flat = [
                    part if axis is None else order(part, axis)
                    for part, axis in zip(tf.nest.flatten(self._batch), self._axes)
                ]
            yield self._dataset(tf.nest.pack_sequence_as(self._batch, flat))

    def _dataset(self, batch: Any) -> tf.data.Dataset:
        shapes = [spec.shape for spec in tf.nest.flatten(self._spec)]

        def as_declared(*parts: Any) -> Any:
            # The shape says whether a batch may be short.
            structure = parts if len(parts) > 1 else parts[0]
            flat = [
                tf.raw_ops.PlaceholderWithDefault(input=part, shape=shape)
                for part, shape in zip(tf.nest.flatten(structure), shapes)
            ]
            return tf.nest.pack_sequence_as(structure, flat)

        with tf.Graph().as_default(), eager_mode():
            return tf.data.Dataset.from_tensors(batch).map(as_declared)


def _reverse(part: tf.Tensor, axis: int) -> tf.Tensor:
    return tf.reverse(part, [axis])


def _roll(part: tf.Tensor, axis: int) -> tf.Tensor:
    return tf.roll(part, 1, axis)


def _halves_exchanged(part: tf.Tensor, axis: int) -> tf.Tensor:
    return tf.roll(part, part.shape.as_list()[axis] // 2, axis)


def _even_before_odd(part: tf.Tensor, axis: int) -> tf.Tensor:
    numbers = range(part.shape.as_list()[axis])
    return tf.gather(part, [*numbers[::2], *numbers[1::2]], axis=axis)


_ORDERS = (_reverse, _roll, _halves_exchanged, _even_before_odd)
