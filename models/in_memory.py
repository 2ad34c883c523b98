"""Small data sets that are held in memory, as inputs of a task."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

import tensorflow as tf

from estimator_bridge.data.input_fn import batch_size_for
from models.task import InputRequest

__all__ = ["Split", "input_fn_of"]


@dataclasses.dataclass(frozen=True)
class Split:
    """The examples of a split.

    Attributes:
        features: an array, or arrays by name, each [count, ...].
        labels: the same for the labels.
    """

    features: Any
    labels: Any

    @property
    def size(self) -> int:
        """The number of examples."""
        return len(tf.nest.flatten(self.features)[0])


def input_fn_of(
    splits: Mapping[str, Split],
    request: InputRequest,
    transform: Callable[[Any, Any], Any] | None = None,
) -> Callable[..., Any]:
    """Makes the input_fn of a request.

    Numbers of examples are shuffled and batched, and the arrays are read once a batch: reading
    single examples would take more time than the step of a small model.

    Args:
        splits: the examples by split.
        request: which examples, and in which order.
        transform: called with the features and the labels of each batch.
    """
    chosen = splits[request.split]

    def batches(params: Any = None) -> tf.data.Dataset:
        arrays = tf.nest.map_structure(
            lambda values: tf.constant(values[: request.first]), (chosen.features, chosen.labels)
        )
        size = chosen.size if request.first is None else min(request.first, chosen.size)
        numbers = tf.data.Dataset.range(size)
        if request.training:
            numbers = numbers.shuffle(size, seed=request.seed).repeat()
        numbers = numbers.batch(batch_size_for(params, request.batch_size), request.training)

        def read(places: tf.Tensor) -> Any:
            batch = tf.nest.map_structure(lambda values: tf.gather(values, places), arrays)
            return batch if transform is None else transform(*batch)

        return numbers.map(read).prefetch(tf.data.AUTOTUNE)

    return batches
