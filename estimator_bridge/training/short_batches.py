"""Evaluates a smaller last batch by a step of its size.

The model is traced once more, for that size: a ``metric_fn`` needs no masks, and no examples are
dropped. If the examples cannot be divided over the replicas, each replica sees all of them and the
first one's results count.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tensorflow as tf
from tensorflow.compat.v1 import logging

from estimator_bridge.graph import continue_trace
from estimator_bridge.graph.snapshot import Snapshot, node_name
from estimator_bridge.model import ModeKeys
from estimator_bridge.runtime import StepLoop
from estimator_bridge.tensorflow_private.datasets import end_iterator, watch_ends
from estimator_bridge.tensorflow_private.names import eager_mode
from estimator_bridge.training.program import Program
from estimator_bridge.training.trace_program import trace_program

__all__ = ["ShortStep", "evaluate_short_batch", "short_step", "trace_short"]


def evaluate_short_batch(
    program: Program, batch: list[tf.Tensor], fetches: Sequence[str] = ()
) -> dict[str, Any] | None:
    """Evaluates the last batch at its own size, with the model traced for that size.

    Its examples are divided over the replicas if possible. Otherwise each replica sees all of
    them, and one replica's results count.

    Args:
      program: traced for full batches.
      batch: its flat components.
      fetches: the references that hooks fetch from this step.

    Returns:
      The fetches' values by reference; None if they cannot be computed for such a batch.
    """
    structure = tf.nest.pack_sequence_as(program.plan.input.spec, batch)
    with eager_mode():
        elements = tf.data.Dataset.from_tensors(structure)
    return short_step(program, elements)(elements, fetches)


def short_step(program: Program, elements: tf.data.Dataset) -> ShortStep:
    """Returns the cached step for batches of the elements' static size."""
    size, steps = _size_of(elements), program.loops.short_steps
    if size not in steps:
        short = trace_short(program, elements)
        with continue_trace(short.graph, program.execution.shards):  # each trace has its own tables
            short.session.run(tf.compat.v1.tables_initializer())
        steps[size] = ShortStep(program, short)
    return steps[size]


def trace_short(program: Program, elements: tf.data.Dataset) -> Program:
    """Traces the model for batches of the elements' static size."""
    dataset, source = elements, program.plan.input
    if source.is_packed:  # the loop reads the packed ones

        def unpack(*batch: Any) -> Any:
            return source.unpack(batch if len(batch) > 1 else batch[0])

        with eager_mode():
            dataset = elements.map(unpack)
    return trace_program(
        program.execution.for_batch_of(_size_of(elements)),
        program.source.model_fn,
        lambda params: dataset,
        ModeKeys.EVAL,
        program.source.params,
        shared=program.session.resources,
    )


def _size_of(elements: tf.data.Dataset) -> int:
    return tf.nest.flatten(elements.element_spec)[0].shape.as_list()[0]


class ShortStep:
    """Runs the model that was traced for a short batch.

    Args:
      whole: traced for full batches; hooks know its graph.
      short: traced for batches of one smaller size, with the same variables.
    """

    def __init__(self, whole: Program, short: Program):
        self._whole, self._short = whole, short
        self._loops: dict[tuple[str, ...], StepLoop] = {}

    def __call__(
        self, batches: tf.data.Dataset, fetches: Sequence[str] = ()
    ) -> dict[str, Any] | None:
        """Runs one step.

        Args:
          batches: begins with a batch of the smaller size.
          fetches: references of the whole program's graph.

        Returns:
          Their values by reference. The session computes those of nodes that hooks have added,
          after the step. None, with a warning, if one of them needs the batch.
        """
        nodes = Snapshot.of(self._short.graph).nodes
        here = tuple(ref for ref in fetches if node_name(ref) in nodes)
        watch_ends()
        with eager_mode():
            iterator = iter(batches)
            try:
                result = self.loop(here)(iterator, 1)
            finally:
                end_iterator(iterator)
        extra_refs = [ref for ref in fetches if ref not in here]
        values = self._of_session(extra_refs)
        return None if values is None else {**(result.fetch_values or {}), **values}

    def loop(self, fetches: tuple[str, ...] = ()) -> StepLoop:
        """Returns the compiled loop with these fetches."""
        if fetches not in self._loops:
            self._loops[fetches] = self._short.make_loop(fetches)
        return self._loops[fetches]

    def _of_session(self, refs: Sequence[str]) -> dict[str, Any] | None:
        graph = self._whole.graph
        elements = {ref: graph.as_graph_element(ref.lstrip("^")) for ref in refs}
        try:
            values = self._whole.session.run(elements) if elements else {}
        except (tf.errors.FailedPreconditionError, tf.errors.InvalidArgumentError) as error:
            logging.warning(
                "Hooks are not called for the last batch, which is short: a hook fetches %s, which "
                "it computes from the tensors of a full batch. Create it in model_fn, and let the "
                "hook fetch it. (%s)",
                sorted(elements),
                error.message,
            )
            return None
        with eager_mode():
            return {ref: tf.convert_to_tensor(v) for ref, v in values.items() if v is not None}
