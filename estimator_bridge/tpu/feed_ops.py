"""The operations of a TPU's infeed and outfeed, under their names in tf.contrib.tpu.

With a TPU, they are TensorFlow's own. Without one, ``emulated_feeds`` replaces them.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

from estimator_bridge.runtime import tpu_present
from estimator_bridge.tensorflow_private.graphs import operations_made_otherwise
from estimator_bridge.tensorflow_private.names import TPUInfeedQueue, tpu_ops
from estimator_bridge.tpu.emulated_feeds import FEEDS, current_core

__all__ = [
    "InfeedQueue",
    "infeed_dequeue",
    "infeed_dequeue_tuple",
    "infeed_enqueue",
    "infeed_enqueue_tuple",
    "outfeed_dequeue",
    "outfeed_dequeue_tuple",
    "outfeed_enqueue",
    "outfeed_enqueue_tuple",
]


def infeed_dequeue(dtype: Any, shape: Any, name: str | None = None) -> tf.Tensor:
    """Returns one tensor that the host enqueues for this core; see ``infeed_dequeue_tuple``."""
    with _feeds():
        return tpu_ops.infeed_dequeue(dtype, tf.TensorShape(shape), name=name)


def infeed_dequeue_tuple(
    dtypes: Sequence[Any], shapes: Sequence[Any], name: str | None = None
) -> list[tf.Tensor]:
    """Waits for the tensors that the host enqueues for this core, and returns them.

    Args:
      dtypes: the dtypes of the tensors that the host enqueues.
      shapes: the static shapes of the tensors.
      name: a name for the operation.

    Returns:
      The tensors.

    Raises:
      TypeError: a TPU does not support a dtype.
      ValueError: the operation is not created for a core (by ``tpu.rewrite``, ``replicate``,
        ``shard`` or ``batch_parallel``), a shape is not static, or the host enqueues tensors of
        other dtypes or shapes.
    """
    with _feeds():
        return tpu_ops.infeed_dequeue_tuple(dtypes, _shapes(shapes), name=name)


def infeed_enqueue(
    input: Any,
    shape: Any = (),
    layout: Sequence[int] = (),
    device_ordinal: int = -1,
    name: str | None = None,
) -> tf.Operation:
    """Enqueues one tensor for a core; see ``infeed_enqueue_tuple``."""
    with _feeds():
        return tpu_ops.infeed_enqueue(
            input, tf.TensorShape(shape), list(layout), device_ordinal, name=name
        )


def infeed_enqueue_tuple(
    inputs: Sequence[Any],
    shapes: Sequence[Any],
    layouts: Sequence[int] = (),
    device_ordinal: int = -1,
    name: str | None = None,
) -> tf.Operation:
    """Enqueues tensors for a core, on the host.

    Args:
      inputs: the tensors.
      shapes: the static shapes of the tensors.
      layouts: the order of the tensors' dimensions in a TPU's memory; ignored without a TPU.
      device_ordinal: the number of the core, among those of this process.
      name: a name for the operation.

    Returns:
      The operation. Without a TPU, it waits while the core's queue holds 16 tuples.

    Raises:
      ValueError: device_ordinal is missing, a shape is not static or not the tensor's, or the
        core dequeues tensors of other dtypes or shapes.
    """
    with _feeds():
        return tpu_ops.infeed_enqueue_tuple(
            inputs, _shapes(shapes), list(layouts), device_ordinal, name=name
        )


def outfeed_dequeue(
    dtype: Any, shape: Any, device_ordinal: int = -1, name: str | None = None
) -> tf.Tensor:
    """Returns one tensor that a core sends to the host; see ``outfeed_dequeue_tuple``."""
    with _feeds():
        return tpu_ops.outfeed_dequeue(
            dtype, tf.TensorShape(shape), device_ordinal=device_ordinal, name=name
        )


def outfeed_dequeue_tuple(
    dtypes: Sequence[Any],
    shapes: Sequence[Any],
    device_ordinal: int = -1,
    name: str | None = None,
) -> list[tf.Tensor]:
    """Waits for the tensors that a core sends to the host, and returns them.

    Args:
      dtypes: the dtypes of the tensors that the core enqueues.
      shapes: the static shapes of the tensors.
      device_ordinal: the number of the core, among those of this process.
      name: a name for the operation.

    Returns:
      The tensors.

    Raises:
      ValueError: device_ordinal is missing, a shape is not static, or the core enqueues tensors
        of other dtypes or shapes.
    """
    with _feeds():
        return tpu_ops.outfeed_dequeue_tuple(
            dtypes, _shapes(shapes), device_ordinal=device_ordinal, name=name
        )


def outfeed_enqueue(input: Any, name: str | None = None) -> tf.Operation:
    """Sends one tensor from this core to the host; see ``outfeed_enqueue_tuple``."""
    with _feeds():
        return tpu_ops.outfeed_enqueue(input, name=name)


def outfeed_enqueue_tuple(inputs: Sequence[Any], name: str | None = None) -> tf.Operation:
    """Sends tensors from this core to the host.

    Args:
      inputs: the tensors, with static shapes.
      name: a name for the operation.

    Returns:
      The operation, which the computation returns. Without a TPU, it waits while the queue to the
      host holds 16 tuples.

    Raises:
      ValueError: the operation is not created for a core (by ``tpu.rewrite``, ``replicate``,
        ``shard`` or ``batch_parallel``), a shape is not static, or the host dequeues tensors of
        other dtypes or shapes.
    """
    with _feeds():
        return tpu_ops.outfeed_enqueue_tuple(inputs, name=name)


class InfeedQueue(TPUInfeedQueue):
    """The infeed of a batch: its dtypes and shapes, its split over the cores, its operations.

    This is TensorFlow's own class; without a TPU, its operations are emulated. The function of
    each core may then dequeue, as it is called once for each core. By default, shard N is for core
    N; TensorFlow chooses the core from the device of the tensors.

    Args:
      number_of_tuple_elements: the number of tensors in a batch.
      tuple_types: the dtypes of the tensors.
      tuple_shapes: the shapes of the tensors, of the batch for all cores.
      shard_dimensions: the dimension along which each tensor is split; 0 by default.
      number_of_partitions: the number of cores per replica.
      name: a name for the operations.
    """

    def __init__(
        self,
        number_of_tuple_elements: int | None = None,
        tuple_types: Sequence[Any] | None = None,
        tuple_shapes: Sequence[Any] | None = None,
        shard_dimensions: Sequence[int] | None = None,
        number_of_partitions: int | None = None,
        name: str | None = None,
    ):
        super().__init__(
            number_of_tuple_elements,
            tuple_types,
            tuple_shapes,
            shard_dimensions,
            number_of_partitions,
            name,
        )
        self._dequeued_on: set[int | None] = set()

    def generate_dequeue_op(self, tpu_device: int | None = 0) -> list[tf.Tensor]:
        """Returns the tensors that the host enqueues for this core; call it once for each core.

        Raises:
          ValueError: dtypes or shapes are not set, or this core already has the operation.
        """
        if tpu_present():
            return super().generate_dequeue_op(tpu_device)
        core = current_core()
        if core not in self._dequeued_on:
            self._generated_dequeue_op = False
        self._dequeued_on.add(core)
        with _feeds():
            return super().generate_dequeue_op(tpu_device=None)

    def generate_enqueue_ops(
        self,
        sharded_inputs: Sequence[Sequence[tf.Tensor]],
        tpu_ordinal_function: Callable[[int], int] | None = None,
        placement_function: Callable[[int], Any] | None = None,
    ) -> list[tf.Operation]:
        """Enqueues a batch that is already split: a list of tensors for each core.

        Args:
          sharded_inputs: a list of tensors for each shard.
          tpu_ordinal_function: maps a shard's number to that of its core.
          placement_function: maps a shard's number to the device of its host; ignored without a
            TPU.

        Returns:
          An operation for each shard.

        Raises:
          ValueError: shapes differ from each other or from the configured ones, or the operations
            already exist.
          TypeError: dtypes differ from each other or from the configured ones.
        """
        if tpu_present():
            return super().generate_enqueue_ops(
                sharded_inputs, tpu_ordinal_function, placement_function
            )
        with _feeds():
            return super().generate_enqueue_ops(
                sharded_inputs, tpu_ordinal_function or _same, _no_device
            )

    def split_inputs_and_generate_enqueue_ops(
        self,
        inputs: Sequence[tf.Tensor],
        device_assignment: Any = None,
        placement_function: Callable[[int], Any] | None = None,
        tpu_ordinal_function: Callable[[int], int] | None = None,
    ) -> list[tf.Operation]:
        """Splits a batch along ``shard_dimensions`` and enqueues each core's part.

        Args:
          inputs: the tensors of the batch for all cores.
          device_assignment: the core of each shard.
          placement_function: see ``generate_enqueue_ops``.
          tpu_ordinal_function: see ``generate_enqueue_ops``.

        Returns:
          An operation for each shard.

        Raises:
          ValueError: shapes differ from the configured ones, or the operations already exist.
          TypeError: dtypes differ from the configured ones.
        """
        if not tpu_present():
            placement_function = _no_device
            if device_assignment is None:
                tpu_ordinal_function = tpu_ordinal_function or _same
        with _feeds():
            return super().split_inputs_and_generate_enqueue_ops(
                inputs, device_assignment, placement_function, tpu_ordinal_function
            )


def _same(number: int) -> int:
    return number


def _no_device(number: int) -> str:
    del number
    return ""


def _shapes(shapes: Sequence[Any]) -> list[tf.TensorShape]:
    return [tf.TensorShape(shape) for shape in shapes]


def _feeds() -> contextlib.AbstractContextManager[None]:
    return contextlib.nullcontext() if tpu_present() else operations_made_otherwise(FEEDS)
