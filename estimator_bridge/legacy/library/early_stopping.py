"""Names of ``early_stopping``."""

from __future__ import annotations

from collections.abc import Callable

from estimator_bridge.experimental.stopping import StopOnPredicateHook

__all__ = ["OriginalStopOnPredicateHook"]


class OriginalStopOnPredicateHook(StopOnPredicateHook):
    """Stops training, and tells workers to, when a function says so.

    Args:
      should_stop_fn: takes nothing, returns whether to stop.
      run_every_secs: how often it is called.
      run_every_steps: how often it is called, instead.
    """

    def __init__(
        self,
        should_stop_fn: Callable[[], bool],
        run_every_secs: float | None = 60,
        run_every_steps: int | None = None,
    ):
        super().__init__(should_stop_fn, run_every_secs, run_every_steps)
