"""Traced models of an estimator, kept between its calls."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from estimator_bridge.training.program import Program

__all__ = ["KeptPrograms"]


class KeptPrograms:
    """Programs by mode. One that is in use is not there: a call that comes meanwhile traces anew.

    Only what was traced for a checkpoint is kept, since its values are restored in each call, and
    only where no hook was there: hooks add operations of their own to a graph, and expect to do so
    once. Nor is what threads filled: its queues are closed afterwards.
    """

    def __init__(self) -> None:
        self._programs: dict[str, Program] = {}

    @contextlib.contextmanager
    def use(
        self,
        mode: str,
        trace: Callable[[], Program],
        input_fn: Callable[..., Any],
        params: Mapping[str, Any],
        may_keep: bool,
    ) -> Iterator[Program]:
        """A program for an input: the one that is kept, where it was traced for the like.

        Args:
          mode: one of ModeKeys.
          trace: makes a new program.
          input_fn: the user's.
          params: a copy of its own for this call.
          may_keep: whether there is a checkpoint, and the caller has no hooks.
        """
        program = self._reused(mode, input_fn, params) if may_keep else None
        program, is_whole = program or trace(), False
        try:
            try:
                yield program
                is_whole = True
            except GeneratorExit:  # who asked for predictions wants no more
                is_whole = True
                raise
        finally:
            hooks = {"eval": program.spec.evaluation_hooks, "infer": program.spec.prediction_hooks}
            is_used_up = hooks[mode] or program.session.queues.started
            if is_whole and may_keep and not is_used_up:
                program.end_input()
                self._programs[mode] = program
            else:
                program.close()

    def _reused(
        self, mode: str, input_fn: Callable[..., Any], params: Mapping[str, Any]
    ) -> Program | None:
        kept = self._programs.pop(mode, None)
        program = kept and kept.with_input(input_fn, params)
        if kept and not program:
            kept.close()
        return program
