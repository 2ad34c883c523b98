"""Converts a function that returns a Dataset to batches of arrays."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import tensorflow as tf

from estimator_bridge.data import GraphInput, call_input_fn
from estimator_bridge.graph import LiftedSession
from estimator_bridge.runtime import default_strategy
from estimator_bridge.tensorflow_private.datasets import end_iterator, watch_ends
from estimator_bridge.tensorflow_private.names import eager_mode

__all__ = ["is_dataset_fn", "numpy_batches"]


def is_dataset_fn(data: Any) -> bool:
    """Returns whether data are a Dataset or a function, instead of arrays or a generator."""
    if isinstance(data, tf.data.Dataset):
        return True
    return callable(data) and not hasattr(data, "__getitem__") and not hasattr(data, "__next__")


def numpy_batches(
    dataset_fn: Any,
    name: str,
    steps: int | None,
    steps_name: str,
    should_repeat: bool = False,
) -> Iterator[Any]:
    """Yields the batches of the dataset that a function returns.

    Args:
      dataset_fn: the Dataset, or a function that returns it, called in its own graph.
      name: name of the argument, for errors.
      steps: batches per epoch; required.
      steps_name: name of the `steps` argument, for errors.
      should_repeat: whether to start over at the end.

    Raises:
      ValueError: ``steps`` is None.
    """
    if steps is None:
        raise ValueError(
            f"When using tf.data as input to a model ({name} is a function that returns a Dataset),"
            f" you should specify the {steps_name} argument: the number of batches per epoch."
        )
    return _batches(dataset_fn, should_repeat)


def _batches(dataset_fn: Any, should_repeat: bool) -> Iterator[Any]:
    if isinstance(dataset_fn, tf.data.Dataset):
        graph = tf.data.experimental.to_variant(dataset_fn).graph
        graph_input = GraphInput(graph, dataset_fn)
    else:
        graph = tf.Graph()
        with graph.as_default():
            graph_input = call_input_fn(dataset_fn, graph)
    session = LiftedSession(graph, default_strategy())
    with graph.as_default():
        session.run(tf.compat.v1.tables_initializer())
    dataset = graph_input.dataset(session)
    while True:
        watch_ends()
        with eager_mode():
            iterator = iter(dataset)
        try:
            while True:
                with eager_mode():
                    batch = next(iterator, None)
                    if batch is None:
                        break
                    arrays = tf.nest.map_structure(lambda tensor: tensor.numpy(), batch)
                yield arrays
        finally:
            end_iterator(iterator)
        if not should_repeat:
            return
