"""Redirects the functions of tf.compat.v1.tpu, which need a TPU, to this library's."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

__all__ = ["redirect_tpu_functions"]

_NAMES = (
    "batch_parallel",
    "cross_replica_sum",
    "initialize_system",
    "replicate",
    "rewrite",
    "shard",
    "shutdown_system",
)


def redirect_tpu_functions(namespace: Any) -> None:
    """Replaces the functions in a ``tf.compat.v1`` namespace; TensorFlow's modules keep theirs.

    Args:
      namespace: the module. Repeated calls change nothing.
    """
    for name in _NAMES:
        own = getattr(namespace.tpu, name)
        if not hasattr(own, "of_tensorflow"):
            setattr(namespace.tpu, name, _leading_here(name, own))


def _leading_here(name: str, own: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(own)
    def function(*args: Any, **kwargs: Any) -> Any:
        from estimator_bridge import tpu  # loaded only when a program calls it

        return getattr(tpu, name)(*args, **kwargs)

    function.of_tensorflow = own  # type: ignore[attr-defined]
    return function
