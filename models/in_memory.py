"""Small data sets that are held in memory, as inputs of a task: each host reads its own rows."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

import tensorflow as tf

import estimator_bridge as eb
from estimator_bridge.data.reader_parts import reader_part
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


def input_fn_of(splits: Mapping[str, Split], request: InputRequest) -> Callable[..., Any]:
    """Makes the input_fn of a request.

    Args:
        splits: the examples by split.
        request: which examples, and in which order.
    """
    chosen = splits[request.split]

    def examples(params: Any, input_context: tf.distribute.InputContext | None) -> tf.data.Dataset:
        index, count = reader_part(params, input_context)
        rows = slice(index, request.first, count)
        arrays = tf.nest.map_structure(
            lambda values: values[rows], (chosen.features, chosen.labels)
        )
        dataset = tf.data.Dataset.from_tensor_slices(arrays)
        if request.training:
            size = request.first or chosen.size
            dataset = dataset.shuffle(size, seed=request.seed).repeat()
        return dataset

    return eb.data.input_fn(examples, training=request.training, batch_size=request.batch_size)
