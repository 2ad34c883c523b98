"""Lets a program's own sessions run in this process when it uses emulated cores."""

from __future__ import annotations

import functools
from typing import Any

import tensorflow as tf
from tensorflow.compat.v1 import logging

from estimator_bridge.base.jax_names import parse_jax_name
from estimator_bridge.errors import INSTEAD_OF_JAX, NotOnJaxError

__all__ = ["emulate_feeds", "run_sessions_on_cores"]


def run_sessions_on_cores() -> None:
    """Lets `tf.Session(resolver.get_master())` work if the resolver names emulated cores.

    Such sessions run the results of functions such as `tf.contrib.tpu.rewrite`, which need no
    TPU then. `tf.Session.reset(master)`, which detection models call to clean up a TPU first,
    does nothing for emulated cores: their state belongs to this process.
    """
    for kind in (tf.compat.v1.Session, tf.compat.v1.InteractiveSession):
        if not hasattr(kind.__init__, "__wrapped__"):
            kind.__init__ = _with_cores(kind.__init__)
    session = tf.compat.v1.Session
    if not hasattr(session.reset, "__wrapped__"):
        session.reset = staticmethod(_not_on_cores(session.reset))


def _is_of_cores(target: Any) -> bool:
    from estimator_bridge.runtime import parse_local

    return isinstance(target, str) and bool(parse_local(target))


def _check_not_on_jax(target: str) -> None:
    if parse_jax_name(target):
        raise NotOnJaxError(
            f"A session for {target!r}: JAX runs the steps of TPUEstimator only, not those of a "
            f"session of the program's own. {INSTEAD_OF_JAX}"
        )


def _not_on_cores(reset_containers: Any) -> Any:
    @functools.wraps(reset_containers)
    def reset(target: Any, *args: Any, **kwargs: Any) -> None:
        if not _is_of_cores(target):
            reset_containers(target, *args, **kwargs)

    return reset


def emulate_feeds() -> None:
    """Emulates infeed and outfeed, also for programs that use tf.raw_ops or private modules."""
    from estimator_bridge.tensorflow_private.graphs import make_operations_otherwise

    kinds = [f"{feed}{way}" for feed in ("Infeed", "Outfeed") for way in ("Enqueue", "Dequeue")]
    kinds += [f"{kind}Tuple" for kind in kinds]
    make_operations_otherwise({kind: functools.partial(_make_feedable, kind) for kind in kinds})


def _make_feedable(kind: str, *args: Any) -> Any:
    """Returns the replacement of an infeed or outfeed operation; loads its modules on first use."""
    from estimator_bridge.runtime import tpu_present
    from estimator_bridge.tpu.emulated_feeds import FEEDS

    return None if tpu_present() else FEEDS[kind](*args)


def _with_cores(initialize: Any) -> Any:
    @functools.wraps(initialize)
    def __init__(self: Any, target: Any = "", *args: Any, **kwargs: Any) -> None:
        if _is_of_cores(target):
            _check_not_on_jax(target)
            logging.warning("No TPU in use: the session for %r runs on this machine's CPU.", target)
            target = ""
        initialize(self, target, *args, **kwargs)

    return __init__
