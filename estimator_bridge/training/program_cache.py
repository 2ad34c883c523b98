"""Traced models of an estimator, kept between its calls."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from estimator_bridge.training.program import Program

__all__ = ["ProgramCache"]


class ProgramCache:
    """Programs by mode. One in use is absent: a concurrent call traces again.

    A program is kept only if it was traced for a checkpoint, whose values each call restores, and
    without hooks, which add operations to a graph and expect to do so once. A program whose input
    threads fill is not kept: its queues are closed afterwards.
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
        """Yields a program for an input: the kept one, if it was traced for the same structure.

        Args:
          mode: one of ModeKeys.
          trace: makes a new program.
          input_fn: the user's input_fn.
          params: a copy for this call.
          may_keep: whether there is a checkpoint and the caller has no hooks.
        """
        program = self._reuse(mode, input_fn, params) if may_keep else None
        program, is_whole = program or trace(), False
        try:
            try:
                yield program
                is_whole = True
            except GeneratorExit:  # the caller wants no more predictions
                is_whole = True
                raise
        finally:
            hooks = {"eval": program.spec.evaluation_hooks, "infer": program.spec.prediction_hooks}
            is_used_up = hooks[mode] or program.session.queues.are_running
            if is_whole and may_keep and not is_used_up:
                program.end_input()
                self._programs[mode] = program
            else:
                program.close()

    def _reuse(
        self, mode: str, input_fn: Callable[..., Any], params: Mapping[str, Any]
    ) -> Program | None:
        earlier = self._programs.pop(mode, None)
        program = earlier and earlier.with_input(input_fn, params)
        if earlier and not program:
            earlier.close()
        return program
