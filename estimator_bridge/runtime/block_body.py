"""The traced function of many steps, of which XLA compiles whole blocks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from estimator_bridge.graph import Snapshot
from estimator_bridge.graph.compilable import lowering_error
from estimator_bridge.runtime.batch_source import BatchSource
from estimator_bridge.runtime.block_input import Block, BlockInput
from estimator_bridge.runtime.prepared_step import WatchedStep
from estimator_bridge.runtime.replicas import BatchLayout
from estimator_bridge.runtime.step_values import LoopRequest

__all__ = ["BlockBody", "may_be_blocks"]


class BlockBody:
    """The function of a loop whose steps XLA compiles, on one replica.

    The batches of several steps are drawn at once, and one compiled function runs these steps: a
    compiled step alone would be called, with its input and its variables, once a step. The next
    block is drawn while one runs. No batch is drawn that is not wanted, except that those of a
    block after a NaN loss, and of the block after it, are lost.

    Args:
      step: the step to run.
    """

    def __init__(self, step: WatchedStep):
        self._step = step

    def __call__(
        self,
        source: BatchSource,
        iterator: Any,
        steps: tf.Tensor,
        rng_step: tf.Tensor,
        limit: tf.Tensor,
        *fed: tf.Tensor,
    ) -> dict[str, Any]:
        """Traces the loop; see ``LoopBody``, whose arguments and results these are."""
        step, most = self._step, steps
        if step.counter:
            most = tf.minimum(steps, limit - step.read_counter())
        blocks = BlockInput(source, iterator, step.run.used_inputs, most)

        def run(block: Block, rng_step: tf.Tensor, fed: Sequence[tf.Tensor]) -> Any:
            return self._steps(
                block.count, lambda i: blocks.batch(block, i), rng_step=rng_step, fed=fed
            )

        # One function for all calls of the loop: XLA compiles it once.
        function = tf.function(run, autograph=False, jit_compile=True)

        def goes_on(state: dict[str, Any]) -> tf.Tensor:
            has_steps = state["block"].count > 0
            return has_steps & _is_a_number(state["loss"]) if step.loss else has_steps

        def body(state: dict[str, Any]) -> tuple[dict[str, Any]]:
            block, step_count = state["block"], state["done"]
            following = blocks.draw(step_count + block.count)
            with tf.device(step.strategy.extended.worker_devices[0]):
                ran, loss, needs = function(block, rng_step + step_count, fed)
            return ({"done": step_count + ran, "loss": loss, "needs": needs, "block": following},)

        none = tf.constant(0, tf.int64)
        start = {
            "done": none,
            "loss": tf.constant(0.0),
            "needs": step.fetches.no_needs(),
            "block": blocks.draw(none),
        }
        shapes = {
            "done": none.shape,
            "loss": start["loss"].shape,
            "needs": step.fetches.need_shapes,
            "block": blocks.shapes,
        }
        end = tf.while_loop(goes_on, body, (start,), shape_invariants=(shapes,), name="blocks")[0]
        step_count, loss = end["done"], end["loss"]
        is_short = step_count < most
        result: dict[str, Any] = {
            "done": step_count,
            "loss": loss,
            "ended": is_short & _is_a_number(loss) if step.loss else is_short,
            "left_over": [],
            "fetched": step.fetches.compute(end["needs"], tf.equal(step_count, steps)),
        }
        return {**result, "limit_value": step.read_counter()} if step.counter else result

    def check(self, fed: Sequence[tf.TensorSpec]) -> None:
        """Checks, eagerly, that XLA would compile a block, by compiling it up to HLO; nothing runs.

        A step that compiles alone may not do so inside of a loop, where fewer values are constants.

        Args:
          fed: the specs of the values that each call supplies.

        Raises:
          NotCompilableError: it would not.
        """
        run = self._step.run
        specs = run.used_specs

        def steps(count: tf.Tensor, rng_step: tf.Tensor, *tensors: tf.Tensor) -> Any:
            parts = dict(zip(run.used_inputs, tensors))
            flat = [parts.get(i) for i in range(run.inputs)]
            return self._steps(
                count,
                lambda i: [None if part is None else part[i] for part in flat],
                rng_step,
                tensors[len(parts) :],
            )

        function = tf.function(steps, autograph=False, jit_compile=True)
        number = tf.TensorSpec([], tf.int64)
        blocks = [tf.TensorSpec([2, *spec.shape], spec.dtype) for spec in specs]
        try:
            compiler_ir = function.experimental_get_compiler_ir(number, number, *blocks, *fed)
            with tf.device(self._step.strategy.extended.worker_devices[0]):
                compiler_ir(stage="hlo")
        except (ValueError, TypeError, tf.errors.OpError) as error:
            raise lowering_error(run.graph, error) from error

    def _steps(
        self,
        count: tf.Tensor,
        batch_of: Callable[[tf.Tensor], list[Any]],
        rng_step: tf.Tensor,
        fed: Sequence[tf.Tensor],
    ) -> tuple[tf.Tensor, tf.Tensor, list[tf.Tensor]]:
        """Traces the steps of a block, for XLA.

        Args:
          count: the number of steps.
          batch_of: returns the flat components of a step's batch, given the step's index.
          rng_step: the number of steps before the block.
          fed: the values that the call supplies.

        Returns:
          The number of steps that ran, the last one's loss and its fetches' needs.
        """
        step = self._step

        def goes_on(step_count: tf.Tensor, loss: tf.Tensor, _: list[tf.Tensor]) -> tf.Tensor:
            is_left = step_count < count
            return is_left & _is_a_number(loss) if step.loss else is_left

        def body(step_count: tf.Tensor, *_: Any) -> tuple[tf.Tensor, tf.Tensor, list[tf.Tensor]]:
            loss, needs = step(batch_of(step_count), rng_step + step_count, fed)
            return step_count + 1, loss, needs

        start = tf.constant(0, tf.int64), tf.constant(0.0), step.fetches.no_needs()
        return tf.while_loop(goes_on, body, start, name="steps")


def may_be_blocks(
    step: WatchedStep, layout: BatchLayout, request: LoopRequest, graph: tf.Graph
) -> bool:
    """Returns whether XLA may compile several steps as one, and whether that is quicker.

    Nothing may happen between two steps but arithmetic on one replica, on batches of static shapes.
    """
    is_alone = step.strategy.num_replicas_in_sync == 1 and not layout.hosts
    is_plain = (layout.elements or 1) == 1 and layout.full_batch is None and not layout.partitions
    only_steps = request.outputs is None and not step.run.has_host_part
    if not (request.jit_compile and request.in_blocks and is_alone and is_plain and only_steps):
        return False
    specs = step.run.used_specs
    if not (step.fetches.fit_xla and all(spec.shape.is_fully_defined() for spec in specs)):
        return False
    # For CPUs, XLA calls its library for convolutions outside of loops only. Inside, a small
    # convolutional network took eight times as long.
    on_gpu = "GPU" in step.strategy.extended.worker_devices[0]
    nodes = Snapshot.of(graph).nodes
    return on_gpu or not any("Conv" in nodes[name].op for name in step.run.names)


def _is_a_number(loss: tf.Tensor) -> tf.Tensor:
    """False for NaN, in one operation."""
    return loss <= np.inf
