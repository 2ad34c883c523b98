"""The compiled loops of a run, by what they fetch and are fed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from estimator_bridge.runtime import StepLoop

__all__ = ["LoopCache"]

# The number of single steps for which a loop that fetches more than wanted may replace a new one.
_WORTH_A_LOOP = 100


class LoopCache:
    """Compiles loops, and uses one again where it returns what is wanted.

    Args:
      make_loop: returns the compiled loop with these fetches, feeds and sums; see LoopRequest.
      may_do_more: whether a loop that fetches more than wanted may be used. Where each sum is an
        exchange with other workers, it may not.
    """

    def __init__(self, make_loop: Callable[..., StepLoop], may_do_more: bool):
        self._make_loop, self._may_do_more = make_loop, may_do_more
        self._loops: list[StepLoop] = []
        self._last: tuple[Any, StepLoop | None] = (None, None)  # what was asked for, and returned
        # The number of single steps taken by a loop with more fetches, by the fetches wanted.
        self._served: Counter[tuple[str, ...]] = Counter()

    def loop(
        self,
        refs: Sequence[str],
        fed: tuple[str, ...],
        sums: Sequence[str] = (),
        is_single: bool = False,
    ) -> StepLoop:
        """Returns a loop.

        Additional fetches are computed once a call, so calls of a single step pay for them.

        Args:
          refs: the references to fetch.
          fed: the references that calls supply.
          sums: CrossReplicaSum nodes that the loop has to compute.
          is_single: whether the loop is for a call of a single step.
        """
        key = tuple(refs)
        asked = key, fed, tuple(sums)
        if self._last[1] is not None and self._last[0] == asked:  # as at most steps
            return self._last[1]
        wanted = set(refs)
        alike = [
            loop for loop in self._loops if fed == loop.request.fed and loop.sums.issuperset(sums)
        ]
        for loop in alike:
            if wanted == set(loop.request.fetches):
                self._last = asked, loop
                return loop
        if self._may_do_more and self._served[key] < _WORTH_A_LOOP:
            for loop in alike:
                if wanted.issubset(loop.request.fetches) and not (
                    loop.has_effects or loop.draws_more
                ):
                    self._served[key] += is_single
                    return loop
        self._loops.append(self._make_loop(key, fed, sums))
        self._last = asked, self._loops[-1]
        return self._loops[-1]
