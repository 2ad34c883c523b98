"""Reads from the environment and the RunConfig whether XLA compiles the steps."""

from __future__ import annotations

import contextlib
import enum
import os
from typing import Any

import tensorflow as tf

from estimator_bridge.graph import for_tpu, is_on_tpu

__all__ = ["XLA_VARIABLE", "XlaWish", "traced_for_xla", "xla_wish"]

XLA_VARIABLE = "ESTIMATOR_BRIDGE_XLA"


class XlaWish(enum.Enum):
    """Whether XLA compiles the steps on CPUs and GPUs."""

    OFF = "off"
    ON = "on"
    AUTO = "auto"


def xla_wish(config: Any, strategy: tf.distribute.Strategy) -> XlaWish:
    """Returns the wish: that of ESTIMATOR_BRIDGE_XLA, or else of RunConfig's session_config.

    In session_config, ``global_jit_level`` ON_1 and ON_2 mean on. On a TPU, XLA compiles everything
    in any case, and the answer is OFF.

    Args:
      config: the RunConfig of the estimator.
      strategy: runs the replicas.

    Raises:
      ValueError: the environment variable has another value.
    """
    said = os.environ.get(XLA_VARIABLE, "").strip().lower()
    known = {wish.value: wish for wish in XlaWish}
    if said and said not in known:
        raise ValueError(
            f"The environment variable {XLA_VARIABLE} must be 'auto', 'on' or 'off'; got {said!r}."
        )
    if is_on_tpu(strategy):
        return XlaWish.OFF
    if said:
        return known[said]
    options = config.session_config and config.session_config.graph_options.optimizer_options
    return XlaWish.ON if options and options.global_jit_level > 0 else XlaWish.OFF


def traced_for_xla(
    wish: XlaWish, strategy: tf.distribute.Strategy
) -> contextlib.AbstractContextManager[None]:
    """Returns a context for the call of model_fn: XLA compiles only loops that are traced for it.

    Such loops consist of other operations, so unseeded random operations that the program makes
    after a loop get other seeds.
    """
    return contextlib.nullcontext() if wish is XlaWish.OFF else for_tpu(strategy)
