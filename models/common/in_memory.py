"""Small data sets that are held in memory, as inputs of a task: each host reads its own rows."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Mapping
from typing import Any

import tensorflow as tf

import estimator_bridge as eb
from estimator_bridge.data.input_fn import batch_size_for
from estimator_bridge.data.reader_parts import reader_part
from models.common.task import InputRequest

__all__ = ["Split", "input_fn_of"]

# Rows that training gathers at once: a table's row costs more than its copy if gathered alone.
_BLOCK_ROWS, _BLOCK_BYTES = 2048, 1 << 20

InputFn = Callable[..., tf.data.Dataset]


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


def input_fn_of(splits: Mapping[str, Split], request: InputRequest) -> InputFn:
    """Makes the input_fn of a request.

    Args:
        splits: the examples by split.
        request: which examples, and in which order.
    """
    split = splits[request.split]

    def own_arrays(params: Any, input_context: tf.distribute.InputContext | None) -> Any:
        index, count = reader_part(params, input_context)
        rows = slice(index, request.first, count)
        return tf.nest.map_structure(lambda values: values[rows], (split.features, split.labels))

    def in_order(params: Any, input_context: tf.distribute.InputContext | None) -> tf.data.Dataset:
        return tf.data.Dataset.from_tensor_slices(own_arrays(params, input_context))

    def shuffled(
        params: Any = None,
        mode: str | None = None,
        input_context: tf.distribute.InputContext | None = None,
    ) -> tf.data.Dataset:
        del mode
        batch_size = batch_size_for(params, request.batch_size)
        return _shuffled_batches(own_arrays(params, input_context), batch_size, request.seed)

    if request.training:
        return shuffled
    return eb.data.input_fn(in_order, training=False, batch_size=request.batch_size)


def _shuffled_batches(arrays: Any, batch_size: int, seed: int | None) -> tf.data.Dataset:
    """Shuffles each epoch's rows at once, gathers those of several batches, and cuts them.

    `train.py` saves the input's position, so that the library leaves the dataset as it is: row by
    row, a table of 15 columns would make training wait. Batches cross the borders of epochs.
    """
    tensors = tf.nest.map_structure(tf.constant, arrays)
    flat = tf.nest.flatten(tensors)
    rows = int(flat[0].shape[0])
    row_bytes = sum(tensor.dtype.size * math.prod(tensor.shape[1:]) for tensor in flat)
    block_rows = min(_BLOCK_ROWS, _BLOCK_BYTES // max(row_bytes, 1))
    block = batch_size * max(1, block_rows // batch_size)

    def order(epoch_seed: tf.Tensor) -> tf.Tensor:
        return tf.argsort(tf.random.stateless_uniform([rows], tf.stack([epoch_seed, 0])))

    def gather(numbers: tf.Tensor) -> Any:
        """Returns the batches of a block, stacked."""
        numbers = tf.reshape(numbers, [-1, batch_size])
        return tf.nest.map_structure(lambda tensor: tf.gather(tensor, numbers), tensors)

    # A saved position has the state of these seeds, also of those that no seed of ours decides.
    epochs = tf.data.Dataset.random(seed=seed).take(-1 if rows else 0)
    blocks = epochs.map(order).rebatch(block, drop_remainder=True).map(gather).prefetch(1)
    # Nothing is left to tune or to fuse; to try costs a third of what a batch of a table costs.
    options = tf.data.Options()
    options.autotune.enabled = False
    options.experimental_optimization.apply_default_optimizations = False
    # Not by rebatch: tf.distribute takes a rebatch at a dataset's end for its own, and drops it.
    return blocks.unbatch().with_options(options)
