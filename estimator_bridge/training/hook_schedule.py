"""Computes when a session-run hook next has to be called; a loop may run until then.

A hook's ``before_run`` and ``after_run`` used to be called around every step. TensorFlow's own
hooks act only at times that their timers tell. Hooks of other types are called at every step.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import tensorflow as tf

from estimator_bridge.tensorflow_private.hooks import (
    count_logged_calls,
    final_step,
    has_waited,
    logged_calls,
    move_next_step,
    timer_of,
    timer_periods,
    watched_loss,
)
from estimator_bridge.training.own_hooks import CountingHook

__all__ = [
    "NEVER",
    "NOW",
    "Due",
    "DueHooks",
    "HookSchedule",
    "any_hook_due",
    "counts_steps",
    "due",
    "due_by_timer",
    "skip",
]

_train = tf.compat.v1.train


class Due(NamedTuple):
    """The time of a hook's next call.

    Attributes:
      steps: the number of steps until then, that step included; infinity for never.
      now: whether its clock says that it is due, at any step.
    """

    steps: float = math.inf
    now: bool = False


class DueHooks(NamedTuple):
    """Hooks, each with the time of its next call.

    Attributes:
      pairs: the hooks in the order of their calls.
    """

    pairs: list[tuple[Any, Due]]

    @property
    def steps(self) -> float:
        """The number of steps until the first of them is due; infinity for none."""
        # A list: this runs for each call of hooks, and a generator calls once per element.
        return min([due.steps for _, due in self.pairs], default=math.inf)

    def within(self, steps: int) -> list[Any]:
        """Returns the hooks that a chunk of this many steps has to call."""
        return [hook for hook, due in self.pairs if due.now or due.steps <= steps]


class HookSchedule:
    """The hooks of a run, and when to call them.

    Args:
      hooks: in the order of their calls.
      loss: the loss tensor, which loops watch for NaN; None if they do not.
    """

    def __init__(self, hooks: Sequence[Any], loss: tf.Tensor | None):
        self._hooks, self._loss = hooks, loss
        self._counting = [hook for hook in hooks if counts_steps(hook)]

    def due_hooks(self, step: int) -> DueHooks:
        """Returns all hooks with the times of their next calls, from a step on."""
        return DueHooks([(hook, due(hook, step, self._loss)) for hook in self._hooks])

    def skip_before(self, hooks: Sequence[Any], steps: int, step: int) -> None:
        """Informs the counting hooks that are called about the chunk's steps before the last.

        Args:
          hooks: the hooks that are called at the end of the chunk.
          steps: the number of steps of the chunk.
          step: the global step before it.
        """
        for hook in self._counting:
            if hook in hooks:
                skip(hook, steps - 1, step + steps - 1)

    def skip_all(self, hooks: Sequence[Any], steps: int, step: int) -> None:
        """Informs the counting hooks that are not called about the chunk; see ``skip_before``."""
        for hook in self._counting:
            if hook not in hooks:
                skip(hook, steps, step + steps)

    @property
    def nan_hooks(self) -> list[Any]:
        """The NanTensorHooks of the loss, which loops watch in their place."""
        return [
            hook
            for hook in self._hooks
            if _known_as(hook) is _train.NanTensorHook and watched_loss(hook) is self._loss
        ]


NEVER = Due()
NOW = Due(now=True)
_EVERY_STEP = Due(steps=1)


def due(hook: Any, step: int, loss: tf.Tensor | None = None) -> Due:
    """Returns when a hook is due.

    Args:
      hook: a SessionRunHook.
      step: the global step before the next step.
      loss: the loss tensor, for which loops watch for NaN by themselves.
    """
    # This library's hooks, and those that declare their cadence. `__getattr__` declares nothing.
    if hasattr(type(hook), "steps_until_due") or "steps_until_due" in hook.__dict__:
        until_due = hook.steps_until_due(step)
        return until_due if isinstance(until_due, Due) else Due(steps=until_due)
    kind = _known_as(hook)
    if kind is None:
        return _EVERY_STEP
    if kind is _train.SessionRunHook:
        return NEVER
    if kind is _train.NanTensorHook and watched_loss(hook) is loss:
        return NEVER
    last_step = final_step(hook) if kind is _train.StopAtStepHook else None
    if last_step is not None:
        return Due(steps=last_step - step)
    if kind is _train.GlobalStepWaiterHook and has_waited(hook):
        return NEVER
    if kind is _train.LoggingTensorHook:
        return due_by_timer(timer_of(hook), logged_calls(hook) - 1)
    if kind in _BY_GLOBAL_STEP:
        return due_by_timer(timer_of(hook), step)
    return _EVERY_STEP


_BY_GLOBAL_STEP = (
    _train.CheckpointSaverHook,
    _train.ProfilerHook,
    _train.StepCounterHook,
    _train.SummarySaverHook,
)

_BY_NEXT_STEP = (_train.ProfilerHook, _train.SummarySaverHook)

_KNOWN = (
    _train.SessionRunHook,
    _train.NanTensorHook,
    _train.StopAtStepHook,
    _train.GlobalStepWaiterHook,
    _train.LoggingTensorHook,
    *_BY_GLOBAL_STEP,
)


def any_hook_due(hooks: Sequence[Any]) -> bool:
    """Whether any hook has a before_run or after_run; also valid before its begin()."""
    return any(due(hook, 0) != NEVER for hook in hooks)


def counts_steps(hook: Any) -> bool:
    """Whether a hook needs ``skip``."""
    counting = (_train.LoggingTensorHook, *_BY_NEXT_STEP)
    return isinstance(hook, CountingHook) or _known_as(hook) in counting


def skip(hook: Any, steps: int, step: int) -> None:
    """Informs a hook that counts its calls about steps that ran without it.

    Args:
      hook: the hook.
      steps: the number of such steps.
      step: the global step after them.
    """
    if isinstance(hook, CountingHook):
        hook.skip(steps)
        return
    kind = _known_as(hook)
    if kind is _train.LoggingTensorHook:
        count_logged_calls(hook, steps)
    elif kind in _BY_NEXT_STEP:
        move_next_step(hook, step + 1)


def _known_as(hook: Any) -> Any:
    """Returns the TensorFlow class whose before_run and after_run a hook has; None if none."""
    own = getattr(hook, "__dict__", ())
    if "before_run" in own or "after_run" in own:  # patched on the hook itself, past its class
        return None
    kind = type(hook)
    if kind not in _known_classes:
        _known_classes[kind] = _class_known_as(kind)
    return _known_classes[kind]


_CALLS = ("before_run", "after_run")
_known_classes: dict[Any, Any] = {}  # each hook is looked up at each call of a loop


def _class_known_as(kind: Any) -> Any:
    for base in _KNOWN:
        # The class of a mock or a proxy may have none.
        if all(getattr(kind, call, None) is getattr(base, call) for call in _CALLS):
            return base
    return None


def due_by_timer(timer: Any, step: int) -> Due:
    """Returns when a SecondOrStepTimer next triggers, checked at the last step of a run.

    Args:
      timer: the timer of a hook.
      step: the step that the hook counts by.
    """
    periods = timer_periods(timer)
    if periods is None:
        return _EVERY_STEP
    every_steps, every_seconds = periods
    last = timer.last_triggered_step()
    if every_steps is None and every_seconds is None:
        return NEVER  # a NeverTriggerTimer: the hook acts only at the end
    if last is None:
        return _EVERY_STEP
    if every_steps is not None:
        return Due(steps=max(last + every_steps - step, 1))
    return Due(now=timer.should_trigger_for_step(last + 1))
