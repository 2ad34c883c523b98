"""Runs the compiled step of a training on JAX by itself, on batches that are on the device."""

from __future__ import annotations

import time
from types import TracebackType
from typing import Any

from estimator_bridge.runtime.on_jax.program import StepsProgram, with_x64

__all__ = ["StepAlone"]


class StepAlone:
    """Takes a program from a training in this process, with copies of what it was called with.

    Use it in a ``with`` block around the training.

    Attributes:
      is_wanted: whether to take the next calls', up to one that is at least half full.
    """

    is_wanted = False
    _block = 0, 0

    def __enter__(self) -> StepAlone:
        self._call = call = StepsProgram.__call__

        def noting(program: StepsProgram, *arguments: Any) -> Any:
            steps, rows = arguments[0]
            if self.is_wanted and steps > self._block[0]:
                self.is_wanted = 2 * steps < rows  # a call's first block may be short
                self._take(program, *arguments)
            return call(program, *arguments)

        StepsProgram.__call__ = noting  # type: ignore[method-assign]
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        where: TracebackType | None,
    ) -> None:
        StepsProgram.__call__ = self._call  # type: ignore[method-assign]

    def _take(
        self,
        program: StepsProgram,
        block: tuple[int, int],
        position: int,
        before: Any,
        batches: Any,
        fed: Any,
        fixed: Any,
        updated: Any,
    ) -> None:
        import jax
        import jax.numpy as jnp

        del before  # of steps that this one does not follow
        self._program, self._block, self._position = program, block, position
        self._batches = [jax.device_put(*pair) for pair in zip(batches, program.parts)]
        self._fed, self._fixed = fed, fixed
        self._updated = [jnp.array(array, copy=True) for array in updated]

    def __call__(self, steps: int) -> float:
        """Runs at least some steps; returns the seconds of one."""
        import jax

        with with_x64():
            results, count = self._program.start(), 0
            start = time.perf_counter()
            while count < steps:
                results, self._updated = self._call(
                    self._program, self._block, self._position, results, self._batches, self._fed,
                    self._fixed, self._updated,
                )  # fmt: skip
                count += self._block[0]
            jax.block_until_ready(self._updated)
            return (time.perf_counter() - start) / count
