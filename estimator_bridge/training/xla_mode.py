"""Whether XLA compiles the steps: as the environment or the RunConfig asks, where it can."""

from __future__ import annotations

import contextlib
import enum
import os
from collections.abc import Callable
from typing import Any

import tensorflow as tf
from tensorflow.compat.v1 import logging

from estimator_bridge.errors import NotCompilableError
from estimator_bridge.graph import for_tpu, is_on_tpu
from estimator_bridge.runtime import StepLoop

__all__ = ["XlaMode", "XlaRefusals", "make_compiled_loop", "tracing_context", "xla_mode"]

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


class XlaRefusals:
    """Says what XLA does not compile, each reason once: loops differ only in their fetches."""

    def __init__(self) -> None:
        self._lines: set[str] = set()

    def say(self, text: str, error: Exception) -> None:
        """Writes one line, unless the same one was written before."""
        line = f"{text} {' '.join(str(error).split())}"
        if line not in self._lines:
            self._lines.add(line)
            logging.warning("%s", line)


def make_compiled_loop(
    make: Callable[..., StepLoop],
    refusals: XlaRefusals,
    step_name: str,
    make_required: Callable[[], StepLoop] | None = None,
) -> StepLoop:
    """Returns a loop of compiled steps, or of uncompiled ones if XLA cannot compile them.

    Args:
      make: makes the loop.
      refusals: writes why XLA does not compile them.
      step_name: the name of the steps' mode.
      make_required: makes a loop that XLA has to compile, without the fetches of hooks; they may
        be what cannot be compiled.

    Raises:
      NotCompilableError: XLA cannot compile the required loop.
    """
    try:
        loop = make(jit_compile=True, in_blocks=True)
        loop.check_compiles()
    except NotCompilableError as error:
        if make_required is not None:
            _require(make_required)
        refusals.say(f"XLA is asked for, but a {step_name} step runs without it.", error)
        return make()
    try:
        loop.check_blocks()
    except NotCompilableError as error:
        refusals.say(f"XLA compiles each {step_name} step by itself, not several as one.", error)
        return make(jit_compile=True)
    return loop


def _require(make: Callable[[], StepLoop]) -> None:
    """Raises an error if XLA cannot compile a loop."""
    try:
        make().check_compiles()
    except NotCompilableError as error:
        raise NotCompilableError(
            f"{XLA_VARIABLE}=on (train.py --xla=on) requires that XLA compiles the training step. "
            f"{error}\nTo train without XLA where it cannot compile the step, use 'auto'."
        ) from error
