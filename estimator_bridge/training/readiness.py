"""Checks whether a session is ready, as the ready ops of a Scaffold do."""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from estimator_bridge.graph import LiftedSession

__all__ = ["finalize_scaffold", "not_ready"]

_v1 = tf.compat.v1
_keys = _v1.GraphKeys

# By graph, the default ready ops of a Scaffold, by name, with the variables that they check.
# Checking the variables directly avoids compiling the ops at start-up.
_by_default: weakref.WeakKeyDictionary[Any, Any] = weakref.WeakKeyDictionary()


def finalize_scaffold(scaffold: tf.compat.v1.train.Scaffold) -> None:
    """Finalizes a scaffold in the default graph."""
    graph = _v1.get_default_graph()
    makes_ready = scaffold.ready_op is None and not graph.get_collection(_keys.READY_OP)
    makes_local = scaffold.ready_for_local_init_op is None and not graph.get_collection(
        _keys.READY_FOR_LOCAL_INIT_OP
    )
    scaffold.finalize()
    looks_at = _by_default.setdefault(graph, {})
    if graph.get_collection(_keys.RESOURCES) or graph.get_collection(_keys.LOCAL_RESOURCES):
        return  # the ops check tables too
    if makes_local:
        looks_at[scaffold.ready_for_local_init_op.name] = _names(_v1.global_variables())
    if makes_ready:
        everything = [*_v1.global_variables(), *_v1.local_variables()]
        looks_at[scaffold.ready_op.name] = _names(everything)


def not_ready(session: LiftedSession, ready_op: Any) -> str | None:
    """Returns what a ready op finds missing; None if nothing is."""
    if ready_op is None:
        return None
    names = _by_default.get(session.graph, {}).get(getattr(ready_op, "name", None))
    if names is not None and session.resources.have_values(names):
        return None
    try:
        missing = session.run(ready_op)
    except tf.errors.FailedPreconditionError as error:
        if "uninitialized" not in str(error):
            raise
        return error.message.rstrip(".")
    if missing is None or missing.dtype == np.int32 or not missing.size:
        return None
    return "Variables not initialized: " + ", ".join(map(tf.compat.as_str, missing.flatten()))


def _names(variables: Sequence[tf.Variable]) -> set[str]:
    return {variable.op.name for variable in variables}
