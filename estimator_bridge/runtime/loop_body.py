"""The traced function of many steps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from estimator_bridge.graph import is_on_tpu
from estimator_bridge.graph.snapshot import is_stateful
from estimator_bridge.runtime.batch_source import BatchSource, HostBatchSource
from estimator_bridge.runtime.prepared_step import WatchedStep
from estimator_bridge.runtime.step_outputs import StepOutputs
from estimator_bridge.runtime.workers import workers_of

__all__ = ["LoopBody"]


class LoopBody:
    """The function of a loop.

    Every operation here runs once a step, and costs a small model's step about a percent. The next
    batch is drawn ahead, at the end of the previous step and only if another step is wanted: so the
    loop's condition sees the input's end, no batch is lost, and the step needs no branch around
    it. The draw runs beside the step, unless somebody could notice: then it waits for the step.

    A NaN loss ends the loop, except on a TPU. There the host starts steps without waiting for their
    results, so the loop goes on to its last step, as the original's did, and returns the first NaN.

    Args:
      step: the step to run.
      counts_up: whether the step adds one to its counter and nothing else writes it. Then the limit
        is a number of steps; checking the counter in each step costs 8 percent.
      full_batch: see ``BatchLayout``.
      graph: the traced graph, which identifies the workers' collectives.
      outputs: takes the fetches of each step; without it, the last step's are returned.
    """

    def __init__(
        self,
        step: WatchedStep,
        counts_up: bool,
        full_batch: int | None,
        graph: tf.Graph,
        outputs: StepOutputs | None = None,
    ):
        self._step, self._counts_up, self._full_batch = step, counts_up, full_batch
        self._graph, self._outputs = graph, outputs
        self._workers = workers_of(step.strategy)
        self._ends_at_nan = bool(step.loss) and not is_on_tpu(step.strategy)

    def __call__(
        self,
        source: BatchSource,
        iterator: Any,
        steps: tf.Tensor,
        rng_step: tf.Tensor,
        limit: tf.Tensor,
        *fed: tf.Tensor,
    ) -> dict[str, Any]:
        """Traces the loop.

        Args:
          source: reads batches.
          iterator: the source of batches.
          steps: the largest number of steps.
          rng_step: the position in the random streams at the start.
          limit: the counter's value at which it ends.
          *fed: values of the references that are fed.

        Returns:
          The state after the last step, for ``StepLoop`` to read.
        """
        is_on_hosts = isinstance(source, HostBatchSource)
        takes_full_only = self._full_batch is not None and not is_on_hosts
        counter, most = self._step.counter, steps
        if counter and self._counts_up:
            most = tf.minimum(steps, limit - self._step.read_counter())

        def is_wanted(state: dict[str, Any], whatever_loss: bool = False) -> tf.Tensor:
            condition = state["done"] < most
            if counter and not self._counts_up:
                condition &= self._step.read_counter() < limit
            if self._ends_at_nan and not whatever_loss:
                condition &= _is_a_number(state["loss"])
            if takes_full_only:
                condition &= tf.equal(state["short_size"], 0)
            return condition

        def with_next_batch(
            state: dict[str, Any], meeting: int = 1, ahead: Any = None
        ) -> dict[str, Any]:
            if self._workers.count == 1:
                wants_batch = is_wanted(state, whatever_loss=not source.is_in_order)
                return {**state, "batch": source.read(iterator, wants_batch, ahead)}
            wants_batch = is_wanted(state)
            batch = source.read(iterator, wants_batch, ahead)
            has_one = batch[-1].has_value() | ~wants_batch
            # A worker that went on alone would wait in its step's sums for the others.
            loss, all_have_one = self._meet(meeting, state["loss"], has_one)
            is_kept = wants_batch & _is_a_number(loss) & all_have_one
            return {
                **state,
                "loss": loss,
                "batch": tf.cond(is_kept, lambda: batch, source.nothing),
            }

        def body(state: dict[str, Any]) -> tuple[dict[str, Any]]:
            batch, ahead = source.take(iterator, state["batch"])
            run_step = self._run_step_if_full if takes_full_only else self._run_step
            # Drawn in order, the next batch waits for whatever of this step somebody can notice.
            graph = tf.compat.v1.get_default_graph()
            first = len(graph.get_operations()) if source.is_in_order else 0
            state = run_step(state, batch, rng_step, fed)
            effects = _effects(graph.get_operations()[first:]) if source.is_in_order else []
            with tf.control_dependencies(effects):
                return (with_next_batch(state, ahead=ahead),)

        def goes_on(state: dict[str, Any]) -> tf.Tensor:
            has_batch = source.has_batch(state["batch"])
            if is_on_hosts:  # nothing is drawn ahead
                return has_batch & is_wanted(state)
            return has_batch & _is_a_number(state["loss"]) if self._ends_at_nan else has_batch

        start = with_next_batch(self._start(iterator, takes_full_only), meeting=0)
        shapes = {
            **tf.nest.map_structure(lambda t: t.shape, {**start, "batch": start["done"]}),
            "needs": [] if self._outputs else self._step.fetches.need_shapes,
            "batch": source.specs,
        }
        end = tf.while_loop(goes_on, body, (start,), shape_invariants=(shapes,), name="steps")[0]
        batch, needs = end.pop("batch"), end.pop("needs")
        end["left_over"], may_go_on = source.left_over(batch), is_wanted(end)
        end["ended"] = may_go_on & source.has_ended(batch)
        if is_on_hosts:
            end["ahead"], end["is_short"] = batch[0], may_go_on & ~end["ended"]
        end["fetched"] = []
        if not self._outputs:
            end["fetched"] = self._step.fetches.compute(needs, tf.equal(end["done"], steps))
        return {**end, "limit_value": self._step.read_counter()} if counter else end

    def _start(self, iterator: Any, takes_full_only: bool) -> dict[str, Any]:
        """Returns the loop's state before the first step."""
        start: dict[str, Any] = {
            "done": tf.constant(0, tf.int64),
            "loss": tf.constant(0.0),
            "needs": [] if self._outputs else self._step.fetches.no_needs(),
        }
        if self._outputs:
            start["outputs"] = self._outputs.none()
        if takes_full_only:
            _, spec = iterator.element_spec
            start["short_size"] = tf.constant(0, tf.int64)
            start["short_batch"] = [tf.zeros(s.shape, s.dtype) for s in tf.nest.flatten(spec)]
        return start

    def _meet(
        self, meeting: int, loss: tf.Tensor, has_batch: tf.Tensor
    ) -> tuple[tf.Tensor, tf.Tensor]:
        """Returns the workers' mean loss, and whether each has a batch: none continues alone."""
        workers = self._workers
        first_key, _ = workers.keys.of(self._graph)
        mine = tf.stack([loss, tf.cast(has_batch, tf.float32)])
        total = workers.sum_over_hosts(mine, first_key + meeting)
        return total[0] / workers.count, total[1] > workers.count - 0.5

    def _run_step(
        self, state: dict[str, Any], batch: Any, rng_step: tf.Tensor, fed: Sequence[tf.Tensor]
    ) -> dict[str, Any]:
        loss, needs = self._step(batch, rng_step + state["done"], fed)
        new = {**state, "done": state["done"] + 1, "needs": needs}
        if self._ends_at_nan:
            new["loss"] = loss
        elif self._step.loss:
            new["loss"] = tf.where(_is_a_number(state["loss"]), loss, state["loss"])
        if self._outputs:
            values = self._step.fetches.compute(needs)
            new["outputs"], new["needs"] = self._outputs.append(state["outputs"], values), []
        return new

    def _run_step_if_full(
        self, state: dict[str, Any], sized_batch: Any, rng_step: tf.Tensor, fed: Sequence[tf.Tensor]
    ) -> dict[str, Any]:
        ((size, components),) = sized_batch
        flat = tf.nest.flatten(components, expand_composites=True)
        others = {key: value for key, value in state.items() if key != "batch"}
        return tf.cond(
            tf.equal(size, self._full_batch),
            lambda: self._run_step(others, flat, rng_step, fed),
            lambda: {**others, "short_size": size, "short_batch": flat},
        )


def _effects(operations: Sequence[tf.Operation]) -> list[tf.Operation]:
    return [operation for operation in operations if is_stateful(operation.type)]


def _is_a_number(loss: tf.Tensor) -> tf.Tensor:
    """False for NaN, in one operation."""
    return loss <= np.inf
