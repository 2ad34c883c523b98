"""Chooses the runtime of a strategy's steps: TensorFlow, or JAX."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from estimator_bridge.graph import LiftedSession
from estimator_bridge.runtime.loop import StepLoop
from estimator_bridge.runtime.on_jax.strategy import JaxStrategy
from estimator_bridge.runtime.step_values import BatchLayout, LoopRequest, Step

__all__ = ["is_on_jax", "step_loop"]


def is_on_jax(strategy: tf.distribute.Strategy) -> bool:
    """Returns whether JAX runs the steps of the strategy's replicas."""
    return isinstance(strategy, JaxStrategy)


def step_loop(
    session: LiftedSession,
    strategy: tf.distribute.Strategy,
    step: Step,
    layout: BatchLayout,
    request: LoopRequest,
) -> Any:
    """Returns the loop of a step in the strategy's runtime; see ``StepLoop`` for the arguments."""
    if isinstance(strategy, JaxStrategy):
        from estimator_bridge.runtime.on_jax.loop import JaxLoop  # JAX is loaded for it alone

        return JaxLoop(session, strategy, step, layout, request)
    return StepLoop(session, strategy, step, layout, request)
