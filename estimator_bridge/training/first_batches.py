"""Batches for hooks before the first step: k-means chooses its first clusters from them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import tensorflow as tf

from estimator_bridge.model.ancestors import ancestors
from estimator_bridge.tensorflow_private.names import eager_mode
from estimator_bridge.training.own_hooks import FirstBatchesHook

__all__ = ["give_hooks_the_input"]


def give_hooks_the_input(program: Any, hooks: Iterable[Any], iterator: Any) -> None:
    """Calls ``use_input(run)`` of this library's hooks that read first batches.

    ``run(fetch)`` computes an operation or a tensor of the model's graph. If it reads the input, it
    takes the next batch, and no step sees that one.

    Args:
      program: traced for training; its variables have their values.
      hooks: all hooks of the run.
      iterator: the iterator of the run.
    """
    for hook in hooks:
        if isinstance(hook, FirstBatchesHook):
            hook.use_input(_runner(program, iterator))


def _runner(program: Any, iterator: Any) -> Callable[[Any], Any]:
    inputs = [program.graph.get_tensor_by_name(name) for name in program.inputs]

    def run(fetch: Any) -> Any:
        behind = {id(operation) for operation in ancestors([fetch])}
        if not any(id(tensor.op) in behind for tensor in inputs):
            return program.session.run(fetch)
        return program.session.run(fetch, dict(zip(inputs, _next_batch(iterator))))

    return run


def _next_batch(iterator: Any) -> list[Any]:
    with eager_mode():
        batch = next(iterator, None)
        if batch is None:
            raise tf.errors.OutOfRangeError(
                None,
                None,
                "End of sequence: the input ended before the first step, while the model chose its "
                "first values of its batches. Give it more data: .repeat() the dataset.",
            )
        return [part.numpy() for part in tf.nest.flatten(batch, expand_composites=True)]
