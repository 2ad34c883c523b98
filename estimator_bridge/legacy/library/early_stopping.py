"""Names of ``early_stopping``."""

from __future__ import annotations

from collections.abc import Callable

from estimator_bridge.experimental.stopping import StopOnPredicateHook

__all__ = ["OriginalStopOnPredicateHook"]


class OriginalStopOnPredicateHook(StopOnPredicateHook):
    """Stops training, and signals workers to stop, when a function returns True.

    Args:
      should_stop_fn: a function without arguments that returns whether to stop.
      run_every_secs: seconds between calls.
      run_every_steps: steps between calls instead.
    """

    def __init__(
        self,
        should_stop_fn: Callable[[], bool],
        run_every_secs: float | None = 60,
        run_every_steps: int | None = None,
    ):
        super().__init__(should_stop_fn, run_every_secs, run_every_steps)
