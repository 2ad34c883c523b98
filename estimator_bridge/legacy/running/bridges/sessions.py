"""A program's own sessions on emulated cores: there, a session is one of this process."""

from __future__ import annotations

import functools
from typing import Any

import tensorflow as tf
from absl import logging

__all__ = ["let_feeds_be_queues", "let_sessions_be_on_cores"]


def let_sessions_be_on_cores() -> None:
    """Lets `tf.Session(resolver.get_master())` work where the resolver gives emulated cores.

    What runs in it is what `tf.contrib.tpu.rewrite` and its like make, which need no TPU then.
    """
    for kind in (tf.compat.v1.Session, tf.compat.v1.InteractiveSession):
        if not hasattr(kind.__init__, "__wrapped__"):
            kind.__init__ = _with_cores(kind.__init__)


def let_feeds_be_queues() -> None:
    """Emulates infeed and outfeed however a program makes them: by tf.raw_ops, by deep imports."""
    from estimator_bridge.runtime import tpu_present
    from estimator_bridge.tensorflow_private import Maker, make_operations_otherwise
    from estimator_bridge.tpu.feeds import FEEDS

    def unless_there_is_a_tpu(make: Maker) -> Any:
        return lambda *args: None if tpu_present() else make(*args)

    make_operations_otherwise({kind: unless_there_is_a_tpu(make) for kind, make in FEEDS.items()})


def _with_cores(initialize: Any) -> Any:
    @functools.wraps(initialize)
    def __init__(self: Any, target: Any = "", *args: Any, **kwargs: Any) -> None:
        from estimator_bridge.runtime import parse_local

        if isinstance(target, str) and parse_local(target):
            logging.warning("No TPU in use: a session for %r is one of this machine's CPU.", target)
            target = ""
        initialize(self, target, *args, **kwargs)

    return __init__
