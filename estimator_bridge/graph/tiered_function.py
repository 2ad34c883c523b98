"""A session's function: interpreted for its first runs, and then compiled."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import tensorflow as tf

from estimator_bridge.graph.lift import JoinFn, Lifted
from estimator_bridge.graph.resources import Resources, host_device
from estimator_bridge.tensorflow_private.eager import flat_call
from estimator_bridge.tensorflow_private.names import eager_mode

__all__ = ["TieredFunction"]

# Compiling takes longer than this many runs node by node, and most programs initialize, save or
# restore less often.
_RUNS_ALONE = 16


class TieredFunction:
    """Computes lifted nodes on the host.

    Args:
      lifted: the nodes.
      resources: the variables and tables behind them.
      feeds: the types of the values that a call supplies, by reference, in the order of the values.
      keep: the positions of the fetches that are tensors.
      join: see ``Lifted.__call__``.
      may_run_alone: whether the first calls may run node by node.
    """

    def __init__(
        self,
        lifted: Lifted,
        resources: Resources,
        feeds: Mapping[str, tf.TensorSpec],
        keep: Sequence[int],
        join: JoinFn,
        may_run_alone: bool,
    ):
        self._lifted = lifted
        self._resources = resources
        self._feeds = feeds
        self._keep = keep
        self._join = join
        self._runs_alone = _RUNS_ALONE if may_run_alone and lifted.runs_alone else 0
        self._compiled: Any = None
        if not self._runs_alone:
            self._compile()

    def __call__(self, feed_values: Sequence[tf.Tensor], rng_step: int) -> list[tf.Tensor]:
        """Returns the eager tensors of ``keep``."""
        if self._compiled is None and self._runs_alone:
            self._runs_alone -= 1
            results = self._lifted.interpret(self._values(feed_values), rng_step)
            return [results[i] for i in self._keep]
        if self._compiled is None:
            self._compile()
        return self._compiled(tf.constant(rng_step, tf.int64), *feed_values)

    @property
    def is_compiled(self) -> bool:
        """Whether ``call_bare`` can be used."""
        return self._compiled is not None

    def call_bare(self) -> list[tf.Tensor]:
        """Returns the same for a call without feeds and draws: three times faster."""
        return self._compiled(self._first_draw)

    def _compile(self) -> None:
        def function(rng_step: tf.Tensor, *feed_values: tf.Tensor) -> list[tf.Tensor]:
            results = self._lifted(self._values(feed_values), self._join, rng_step=rng_step)
            operations = [r for r in results if isinstance(r, tf.Operation)]
            with tf.control_dependencies(operations):
                return [tf.identity(results[i]) for i in self._keep]

        signature = [tf.TensorSpec([], tf.int64), *self._feeds.values()]
        with eager_mode(), tf.device(host_device()):
            tf_function = tf.function(function, autograph=False)
            self._compiled = flat_call(tf_function.get_concrete_function(*signature))
            self._first_draw = tf.constant(0, tf.int64)

    def _values(self, feed_values: Sequence[tf.Tensor]) -> dict[str, tf.Tensor]:
        handles = self._resources.handles(self._lifted.input_refs)
        return {**handles, **dict(zip(self._feeds, feed_values))}
