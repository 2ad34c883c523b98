"""Repeated calls of a session, without ``Session.run``'s work in Python for each of them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

import numpy as np
import tensorflow as tf

# The description of a prepared call; no public name.
from tensorflow.core.protobuf.config_pb2 import CallableOptions

__all__ = ["SessionCalls"]

_v1 = tf.compat.v1
_RUNS = {_v1.Session: _v1.Session.run, _v1.train.MonitoredSession: _v1.train.MonitoredSession.run}
_HANDLES = (tf.resource, tf.variant)
_PREEMPTION_ERRORS = (tf.errors.AbortedError, tf.errors.UnavailableError)


class SessionCalls:
    """``session.run(fetches, feeds)``, prepared once for each session and set of tensors.

    Results and errors are those of ``run``, at a fifth of its time for a small model. Whatever is
    special goes to ``run`` itself: a session of another type, hooks, a replaced ``run``, a value
    other than an array or a list, a tensor that cannot be fed or fetched.
    """

    def __init__(self) -> None:
        # By the names of fetches and feeds: a session, and its function of the fed values or None.
        self._functions: dict[tuple[tuple[str, ...], ...], tuple[Any, Any]] = {}

    def run(
        self, session: Any, fetches: Mapping[str, tf.Tensor], feeds: Mapping[tf.Tensor, Any]
    ) -> dict[str, Any]:
        """Returns the values of tensors by the same keys, as ``session.run`` does.

        Args:
          session: a session of their graph.
          fetches: tensors by key.
          feeds: values by tensor.
        """
        native = _native_session(session)
        if native is None or any(t.graph is not native.graph for t in (*fetches.values(), *feeds)):
            return session.run(fetches, feed_dict=feeds)
        names = tuple(dict.fromkeys(tensor.name for tensor in fetches.values()))
        key = names, tuple(tensor.name for tensor in feeds)
        of_session, function = self._functions.get(key, (None, None))
        if of_session is not native:
            function = _function(native, fetches.values(), feeds, *key)
            self._functions[key] = native, function
        arrays = None if function is None else _arrays(feeds)
        if arrays is None:
            return session.run(fetches, feed_dict=feeds)
        try:
            values = native._do_call(function, *arrays)
        except _PREEMPTION_ERRORS:
            if native is session:
                raise
            return session.run(fetches, feed_dict=feeds)  # tries until it succeeds
        by_name = dict(zip(names, values))
        return {key: by_name[tensor.name] for key, tensor in fetches.items()}


def _function(
    session: Any,
    fetches: Collection[tf.Tensor],
    feeds: Iterable[tf.Tensor],
    fetched_names: tuple[str, ...],
    fed_names: tuple[str, ...],
) -> Any:
    """Prepares a call; None if ``Session.run`` treats one of the tensors in a way of its own."""
    graph = session.graph
    is_plain = (
        bool(fetched_names)
        and not {*fetched_names} & {*fed_names}
        and all(tensor.dtype not in _HANDLES for tensor in (*fetches, *feeds))
        and all(graph.is_fetchable(tensor.op) for tensor in fetches)
        and all(graph.is_feedable(tensor) for tensor in feeds)
    )
    if not is_plain:
        return None
    options = CallableOptions(feed=fed_names, fetch=fetched_names)
    return session._make_callable_from_options(options)


def _native_session(session: Any) -> Any:
    """Returns the tf.Session that a call may use directly; None if ``session.run`` does more."""
    kind = type(session)
    if kind.run is not _RUNS.get(kind) or "run" in vars(session):
        return None
    if kind is _v1.Session:
        return None if session._closed else session
    return None if session._hooks or session.should_stop() else session._tf_sess()


def _arrays(feeds: Mapping[tf.Tensor, Any]) -> list[np.ndarray] | None:
    """Returns the values as arrays; None if ``Session.run`` treats one otherwise, or rejects it."""
    arrays = []
    for tensor, value in feeds.items():
        if not isinstance(value, (np.ndarray, list)):
            return None
        try:
            array = np.asarray(value, dtype=tensor.dtype.as_numpy_dtype)
        except (TypeError, ValueError):
            return None
        if not tensor.shape.is_compatible_with(array.shape):
            return None
        arrays.append(array)
    return arrays
