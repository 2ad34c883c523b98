"""The traced function of many steps, of which XLA compiles whole blocks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from estimator_bridge.runtime.batch_source import BatchSource
from estimator_bridge.runtime.block_input import Block, BlockInput
from estimator_bridge.runtime.watched_step import WatchedStep

__all__ = ["BlockBody"]


class BlockBody:
    """The function of a loop whose steps XLA compiles, on one replica.

    The batches of up to ``BlockInput.STEPS`` steps are drawn at once, and one compiled function
    runs these steps: a compiled step alone would be called, with its input and its variables, once
    a step. The next block is drawn while one runs. No batch is drawn that is not wanted, except
    that those after a NaN loss are lost.

    Args:
      step: the step to run, for XLA.
      plain: the same step, not compiled, for a batch whose shape differs from those beside it: to
        compile it for one more shape takes as long as hundreds of steps.
    """

    def __init__(self, step: WatchedStep, plain: WatchedStep):
        self._step, self._plain = step, plain

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
            most = tf.minimum(steps, limit - step.counted())
        blocks = BlockInput(source, iterator, step.run.used_inputs, most)

        def goes_on(state: dict[str, Any]) -> tf.Tensor:
            has_steps = state["block"].count > 0
            return has_steps & _is_a_number(state["loss"]) if step.loss else has_steps

        def body(state: dict[str, Any]) -> tuple[dict[str, Any]]:
            block, done = state["block"], state["done"]
            following, pending = blocks.draw(state["batch"], done + block.count)
            ran, loss, needs = self._run(blocks, block, rng_step + done, most, fed)
            return (
                {
                    "done": done + ran,
                    "loss": loss,
                    "needs": needs,
                    "block": following,
                    "batch": pending,
                },
            )

        none = tf.constant(0, tf.int64)
        first, pending = blocks.draw(blocks.first(), none)
        start = {
            "done": none,
            "loss": tf.constant(0.0),
            "needs": step.fetches.no_needs(),
            "block": first,
            "batch": pending,
        }
        shapes = {
            "done": none.shape,
            "loss": none.shape,
            "needs": step.fetches.need_shapes,
            "block": blocks.shapes,
            "batch": blocks.pending_shapes,
        }
        end = tf.while_loop(goes_on, body, (start,), shape_invariants=(shapes,), name="blocks")[0]
        done, loss = end["done"], end["loss"]
        is_short = done < most
        result: dict[str, Any] = {
            "done": done,
            "loss": loss,
            "ended": is_short & _is_a_number(loss) if step.loss else is_short,
            "left_over": [],
            "fetched": step.fetches.computed(end["needs"], tf.equal(done, steps)),
        }
        return {**result, "limit_value": step.counted()} if step.counter else result

    def _run(
        self,
        blocks: BlockInput,
        block: Block,
        rng_step: tf.Tensor,
        most: tf.Tensor,
        fed: Sequence[tf.Tensor],
    ) -> tuple[tf.Tensor, tf.Tensor, list[tf.Tensor]]:
        """Runs a block's steps.

        Returns:
          The number of steps that ran, the last one's loss and its fetches' needs.
        """

        def compiled() -> Any:
            function = tf.function(self._steps, autograph=False, jit_compile=True)
            with tf.device(self._step.strategy.extended.worker_devices[0]):
                return function(blocks, block, rng_step, fed)

        def plain() -> Any:
            loss, needs = self._plain(blocks.batch(block, 0), rng_step, fed)
            return tf.constant(1, tf.int64), loss, needs

        if not blocks.may_vary:
            return compiled()
        is_odd = (block.count == 1) & (most > 1) & (blocks.size(block) > 1)
        return tf.cond(is_odd, plain, compiled)

    def _steps(
        self, blocks: BlockInput, block: Block, rng_step: tf.Tensor, fed: Sequence[tf.Tensor]
    ) -> tuple[tf.Tensor, tf.Tensor, list[tf.Tensor]]:
        """Traces the steps of a block, for XLA."""
        step = self._step

        def goes_on(done: tf.Tensor, loss: tf.Tensor, _: list[tf.Tensor]) -> tf.Tensor:
            is_left = done < block.count
            return is_left & _is_a_number(loss) if step.loss else is_left

        def body(done: tf.Tensor, *_: Any) -> tuple[tf.Tensor, tf.Tensor, list[tf.Tensor]]:
            loss, needs = step(blocks.batch(block, done), rng_step + done, fed)
            return done + 1, loss, needs

        none = tf.constant(0, tf.int64), tf.constant(0.0), step.fetches.no_needs()
        done, loss, needs = tf.while_loop(goes_on, body, none, name="steps")
        return done, loss, needs


def _is_a_number(loss: tf.Tensor) -> tf.Tensor:
    """False for NaN, in one operation."""
    return loss <= np.inf
