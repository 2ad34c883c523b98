"""Combines the requests of hooks for a step: fetches, feeds, options."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

from estimator_bridge.graph import LiftedSession
from estimator_bridge.graph.fetches import Fetches
from estimator_bridge.graph.profiling import asks_for_trace, profile_run
from estimator_bridge.tensorflow_private.hooks import profile_path
from estimator_bridge.training.own_hooks import ReachedHook

__all__ = ["HookRequests", "as_numpy"]

_v1 = tf.compat.v1
_train = _v1.train


class HookRequests:
    """The requests of the hooks that are due at the end of a call of a loop.

    Args:
      session: the session of the traced graph.
      hooks: the due hooks, in the order of their calls.
      original_args: the estimator's own fetches.
      before: the previous call, whose fetches are reused if the hooks' requests are the same.

    Attributes:
      fetches: the fetches of all hooks, one per request.
      feeds: the fed values by tensor reference.

    Raises:
      RuntimeError: two hooks feed the same tensor.
    """

    def __init__(
        self,
        session: LiftedSession,
        hooks: Sequence[Any],
        original_args: Any,
        before: HookRequests | None = None,
    ):
        self._context = _train.SessionRunContext(original_args=original_args, session=session)
        self._requests = [(hook, hook.before_run(self._context)) for hook in hooks]
        requests = [(hook, request) for hook, request in self._requests if request]
        # A FeedFnHook fetches None.
        self._fetches_of_hooks = [[] if r.fetches is None else r.fetches for _, r in requests]
        self._identity = _identity(self._fetches_of_hooks)
        is_same = before is not None and before._identity == self._identity
        self.fetches: Fetches = (
            before.fetches if before and is_same else Fetches(session.graph, self._fetches_of_hooks)
        )
        self.feeds = _merge_feeds(session, requests)
        self._options, self._trace_folder = _merge_options(requests)
        self._metadata = _v1.RunMetadata()

    @property
    def stop_requested(self) -> bool:
        """Whether a hook asked for an end."""
        return self._context.stop_requested

    def trace(self) -> contextlib.AbstractContextManager[Any]:
        """A context that traces the call if a hook's options request it."""
        if asks_for_trace(self._options):
            return profile_run(self._metadata, self._trace_folder)
        return contextlib.nullcontext()

    def finish(self, fetch_values: dict[str, Any], progress: Callable[[], Any]) -> None:
        """Gives each hook the values that it requested.

        Args:
          fetch_values: the values by reference.
          progress: makes the result for this library's hooks of class `ReachedHook`.
        """
        values = [as_numpy(fetch_values.get(ref)) for ref in self.fetches.refs]
        results = iter(self.fetches.build(values))
        for hook, request in self._requests:
            result = next(results) if request else None
            if request and request.fetches is None:
                result = None
            if request is None and isinstance(hook, ReachedHook):
                result = progress()
            hook.after_run(
                self._context, _train.SessionRunValues(result, self._options, self._metadata)
            )


def _identity(structure: Any) -> Any:
    """Returns a value that differs if the fetches differ, even in the same list or dict."""
    if isinstance(structure, dict):
        return [(key, _identity(value)) for key, value in structure.items()]
    if isinstance(structure, (list, tuple)):
        return [type(structure), *map(_identity, structure)]
    return id(structure)


def _merge_feeds(session: LiftedSession, requests: Sequence[tuple[Any, Any]]) -> dict[str, Any]:
    feeds: dict[str, Any] = {}
    fed_by: dict[str, Any] = {}
    for hook, request in requests:
        if not request.feed_dict:
            continue
        for ref, value in session.feeds(request.feed_dict).items():
            if ref in feeds:
                raise RuntimeError(
                    f"Same tensor is fed by two hooks: {ref!r}, by {type(fed_by[ref]).__name__} "
                    f"and {type(hook).__name__}. Let one of them feed it."
                )
            feeds[ref], fed_by[ref] = value, hook
    return feeds


def _merge_options(requests: Sequence[tuple[Any, Any]]) -> tuple[Any, str | None]:
    """Returns the strongest of the hooks' options, and the folder of a ProfilerHook among them."""
    merged, folder = _v1.RunOptions(), None
    for hook, request in requests:
        options = request.options
        if options is None:
            continue
        merged.trace_level = max(merged.trace_level, options.trace_level)
        merged.timeout_in_ms = max(merged.timeout_in_ms, options.timeout_in_ms)
        merged.output_partition_graphs |= options.output_partition_graphs
        merged.report_tensor_allocations_upon_oom |= options.report_tensor_allocations_upon_oom
        if asks_for_trace(options) and isinstance(hook, _train.ProfilerHook):
            folder = os.path.dirname(profile_path(hook))
    return merged, folder


def as_numpy(value: Any) -> Any:
    """Returns an array for a tensor, and anything else as it is."""
    return value if value is None or not hasattr(value, "numpy") else value.numpy()
