"""Monitors as hooks."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from estimator_bridge_contrib.learn.monitor_files import SummarySaver
from estimator_bridge_contrib.learn.monitor_outputs import PrintTensor

__all__ = ["RunHookAdapterForMonitors", "get_default_monitors", "replace_monitors_with_hooks"]

_v1 = tf.compat.v1
_Hook: Any = _v1.train.SessionRunHook


class RunHookAdapterForMonitors(_Hook):
    """Calls monitors as a hook.

    Args:
      monitors: the monitors.
    """

    def __init__(self, monitors: Sequence[Any]):
        self._monitors = monitors
        self._next_step: int | None = None
        self._global_step: Any = None

    def begin(self) -> None:
        """Calls `begin` of the monitors."""
        self._next_step = None
        self._global_step = _v1.train.get_global_step()
        for monitor in self._monitors:
            monitor.begin(max_steps=None)

    def before_run(self, run_context: Any) -> Any:
        """Calls `step_begin` of the monitors, and requests what they return.

        Raises:
          ValueError: a monitor does not return a list, or a tensor of another graph.
        """
        if self._next_step is None:
            self._next_step = int(run_context.session.run(self._global_step)) + 1
        fetches = {}
        for monitor in self._monitors:
            requests = monitor.step_begin(self._next_step) or []
            if not isinstance(requests, list):
                raise ValueError(
                    f"Monitor.step_begin should return a list. {type(monitor).__name__} returned "
                    f"{requests!r}."
                )
            fetches.update({_key(each): _element(each) for each in requests})
        return _v1.train.SessionRunArgs({"step": self._global_step, "monitors": fetches})

    def after_run(self, run_context: Any, run_values: Any) -> None:
        """Calls `step_end` and `post_step` of the monitors."""
        outputs, step = run_values.results["monitors"], self._next_step or 0
        for monitor in self._monitors:
            if monitor.step_end(step, outputs):
                run_context.request_stop()
        for monitor in self._monitors:
            monitor.post_step(step, run_context.session)
        reached = int(run_values.results["step"])
        if reached < step:  # with v2 behavior, it was read before the step
            reached = int(run_context.session.run(self._global_step))
        self._next_step = reached + 1

    def end(self, session: Any) -> None:
        """Calls `end` of the monitors; those of programs may take no session."""
        self._next_step = None
        for monitor in self._monitors:
            if "session" in inspect.signature(monitor.end).parameters:
                monitor.end(session=session)
            else:
                monitor.end()


def _key(request: Any) -> str:
    """Returns a request's name, since tensors are no keys of dicts with v2 behavior."""
    return request if isinstance(request, str) else request.name


def _element(request: Any) -> Any:
    graph = _v1.get_default_graph()
    if not isinstance(request, str):
        if getattr(request, "graph", None) is not graph:
            raise ValueError(
                f"Passed {request} should have graph attribute that is equal to current graph "
                f"{graph}. Return tensors of the model's graph from step_begin, or their names."
            )
        return request
    if ":" in request:
        return graph.as_graph_element(request)
    operation = graph.get_operation_by_name(request)
    if len(operation.outputs) > 1:
        raise ValueError(
            f"Name {request} is ambiguous, as this `Operation` has multiple outputs (at least 2). "
            f"Use {request}:0 for the first."
        )
    return graph.as_graph_element(f"{request}:0")


def replace_monitors_with_hooks(monitors_or_hooks: Sequence[Any] | None, estimator: Any) -> list:
    """Returns hooks, and monitors as a hook.

    Args:
      monitors_or_hooks: hooks and monitors, or None.
      estimator: the estimator that they are for.

    Returns:
      The hooks; then, if there are monitors, one hook for all of them. Where the estimator is not
      the chief, only monitors that run on all workers are used.

    Raises:
      TypeError: a value is neither a hook nor a monitor.
    """
    entries = list(monitors_or_hooks or [])
    hooks = [each for each in entries if isinstance(each, _v1.train.SessionRunHook)]
    monitors = [each for each in entries if not isinstance(each, _v1.train.SessionRunHook)]
    for each in monitors:
        if not hasattr(each, "step_begin"):
            raise TypeError(
                f"{each!r} is neither a monitor nor a hook. Pass a tf.train.SessionRunHook, or a "
                "monitor of tf.contrib.learn.monitors."
            )
    if monitors and not estimator.config.is_chief:
        monitors = [each for each in monitors if each.run_on_all_workers]
    for monitor in monitors:
        monitor.set_estimator(estimator)
    return hooks + ([RunHookAdapterForMonitors(monitors)] if monitors else [])


def get_default_monitors(
    loss_op: Any = None,
    summary_op: Any = None,
    save_summary_steps: int = 100,
    output_dir: str | None = None,
    summary_writer: Any = None,
) -> list:
    """Makes the monitors that log the loss and write summaries.

    Args:
      loss_op: the loss; None for no log.
      summary_op: see `SummarySaver`; None for no summaries.
      save_summary_steps: as well.
      output_dir: as well.
      summary_writer: as well.
    """
    monitors: list[Any] = []
    if loss_op is not None:
        monitors.append(PrintTensor({"loss": loss_op.name}))
    if summary_op is not None:
        monitors.append(SummarySaver(summary_op, save_summary_steps, output_dir, summary_writer))
    return monitors
