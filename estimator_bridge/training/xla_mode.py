"""Reads from the environment and the RunConfig whether XLA compiles the steps."""

from __future__ import annotations

import contextlib
import enum
import os
from typing import Any

import tensorflow as tf

from estimator_bridge.graph import for_tpu, is_on_tpu

__all__ = ["XLA_VARIABLE", "XlaMode", "tracing_context", "xla_mode"]

XLA_VARIABLE = "ESTIMATOR_BRIDGE_XLA"


class XlaMode(enum.Enum):
    """Whether XLA compiles the steps on CPUs and GPUs."""

    OFF = "off"
    # Every training step, or an error.
    ON = "on"
    # Both ways are measured, and the faster one is used.
    AUTO = "auto"
    # The steps that can be compiled: what global_jit_level has always meant.
    WHERE_POSSIBLE = "where possible"


_OF_VARIABLE = {mode.value: mode for mode in (XlaMode.OFF, XlaMode.ON, XlaMode.AUTO)}


def xla_mode(config: Any, strategy: tf.distribute.Strategy) -> XlaMode:
    """Returns the mode that ESTIMATOR_BRIDGE_XLA sets, or else RunConfig's session_config.

    In session_config, ``global_jit_level`` ON_1 and ON_2 mean WHERE_POSSIBLE. On a TPU, XLA
    compiles everything in any case, and the mode is OFF.

    Args:
      config: the RunConfig of the estimator.
      strategy: runs the replicas.

    Raises:
      ValueError: the environment variable has another value.
    """
    value = os.environ.get(XLA_VARIABLE, "").strip().lower()
    if value and value not in _OF_VARIABLE:
        raise ValueError(
            f"The environment variable {XLA_VARIABLE} must be 'auto', 'on' or 'off'; got {value!r}."
        )
    if is_on_tpu(strategy):
        return XlaMode.OFF
    if value:
        return _OF_VARIABLE[value]
    options = config.session_config and config.session_config.graph_options.optimizer_options
    return XlaMode.WHERE_POSSIBLE if options and options.global_jit_level > 0 else XlaMode.OFF


def tracing_context(
    mode: XlaMode, strategy: tf.distribute.Strategy
) -> contextlib.AbstractContextManager[None]:
    """Returns a context for the call of model_fn: XLA compiles only loops that are traced for it.

    Such loops consist of other operations, so unseeded random operations that the program makes
    after a loop get other seeds.
    """
    return contextlib.nullcontext() if mode is XlaMode.OFF else for_tpu(strategy)
