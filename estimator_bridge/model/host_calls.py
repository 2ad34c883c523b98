"""`eval_metrics` and `host_call`: a function, and the accelerator's tensors that it takes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Callable

import tensorflow as tf

from estimator_bridge.model.fn_args import binding_error, describe_fn
from estimator_bridge.model.spec_checks import check_graph

__all__ = ["HostCallHook", "SummaryWritersHook", "call_host_fn", "check_host_call"]

# Where TensorFlow's v1 graphs keep the operations that open summary writers.
_SUMMARY_WRITERS = "_SUMMARY_WRITER_V2"


def check_host_call(field: str, host_call: Any) -> tuple[Callable[..., Any], Any] | None:
    """Checks one (function, tensors) pair.

    Args:
      field: the name of the spec's field, for errors.
      host_call: the pair, whose tensors are a list or a dict; None passes.

    Returns:
      The pair as a tuple, or None.

    Raises:
      ValueError: it is not a pair, its tensors are not a list or dict, or one is from another
        graph.
      TypeError: its function is not callable, or does not take the dict's names.
      RuntimeError: its function does not take as many tensors as the list has.
    """
    if host_call is None:
        return None
    if not isinstance(host_call, (tuple, list)):
        raise ValueError(f"{field} should be tuple or list, (function, tensors); got {host_call!r}")
    if len(host_call) != 2:
        raise ValueError(
            f"{field} should have two elements. Got {len(host_call)}; write (function, [a, b]) or "
            "(function, {'a': a, 'b': b})."
        )
    fn, tensors = host_call
    if not callable(fn):
        raise TypeError(f"{field}[0] should be callable. Got {fn!r}")
    if not isinstance(tensors, (tuple, list, Mapping)):
        raise ValueError(f"{field}[1] should be tuple or list, or dict. Got {tensors!r}")
    _check_binding(field, fn, tensors)
    for tensor in tf.nest.flatten(tensors):
        check_graph(f"{field}[1]", tensor)
    return fn, tensors


def call_host_fn(fn: Callable[..., Any], tensors: Any) -> Any:
    """Calls the function of a checked pair with its tensors.

    Args:
      fn: the function.
      tensors: a list, passed by position, or a dict, passed by name.

    Returns:
      What the function returns.
    """
    return fn(**tensors) if isinstance(tensors, Mapping) else fn(*tensors)


class SummaryWritersHook(tf.compat.v1.train.SessionRunHook):
    """Opens and closes the graph's summary writers (those of create_file_writer)."""

    def __init__(self) -> None:
        self._open: list[tf.Operation] = []
        self._flush: list[tf.Operation] = []

    def begin(self) -> None:
        """Finds the writers, while the graph may still be added to."""
        self._open = list(tf.compat.v1.get_collection(_SUMMARY_WRITERS))
        self._flush = [tf.raw_ops.FlushSummaryWriter(writer=op.inputs[0]) for op in self._open]

    def after_create_session(self, session: Any, coord: Any) -> None:
        """Opens the writers."""
        session.run(self._open)

    def end(self, session: Any) -> None:
        """Flushes the writers."""
        session.run(self._flush)


class HostCallHook(SummaryWritersHook):
    """Runs the results of a host_call with each step.

    Args:
      fetches: tensors and operations, in any nesting that ``Session.run`` accepts.

    Raises:
      TypeError: `fetches` is None.
    """

    def __init__(self, fetches: Any):
        super().__init__()
        if fetches is None:
            raise TypeError(
                "The function of host_call returned None, so there is nothing to run. It must "
                "return tensors or operations, for summaries "
                "`return tf.compat.v1.summary.all_v2_summary_ops()`."
            )
        self.fetches = fetches

    def before_run(self, run_context: Any) -> tf.compat.v1.train.SessionRunArgs:
        """Requests the host_call's results with this step."""
        return tf.compat.v1.train.SessionRunArgs(self.fetches)


def _check_binding(field: str, fn: Callable[..., Any], tensors: Any) -> None:
    if isinstance(tensors, Mapping):
        reason = binding_error(fn, kwargs=tensors)
        if reason:
            raise TypeError(
                f"In TPUEstimatorSpec.{field}, the names of the tensors {sorted(tensors)} do not "
                f"match the function's arguments: {describe_fn(fn)} ({reason})."
            )
        return
    reason = binding_error(fn, tensors)
    if reason:
        raise RuntimeError(
            f"In TPUEstimatorSpec.{field}, length of tensors {len(tensors)} does not match method "
            f"args of the function, which takes {describe_fn(fn)} ({reason}). The tensors are "
            "passed by position, in the order of the list."
        )
