"""The global step as hooks see it: known after a chunk, and perhaps set by a hook."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from estimator_bridge.graph import LiftedSession
from estimator_bridge.tensorflow_private.names import existing_global_step_read

__all__ = ["GlobalStepView"]


class GlobalStepView:
    """Gives hooks the global step without a run of the session, if a loop returned it.

    TensorFlow's hooks read the step again in ``after_run``.

    Args:
      session: the session of the traced graph.
    """

    def __init__(self, session: LiftedSession):
        self._session = session
        read = existing_global_step_read(session.graph)
        self._read = None if read is None else (read.name, read.dtype.as_numpy_dtype)
        self._may_be_set = False  # by session runs of hooks

    def now(self, step: int) -> int:
        """Returns the step from which hooks count; in training they may set the global step.

        Args:
          step: the global step after the last chunk, before its hooks.
        """
        if not self._may_be_set or self._read is None:
            return step
        return int(self._session.evaluate([self._read[0]])[0])

    @contextlib.contextmanager
    def announce(self, step: int | None) -> Iterator[None]:
        """A context in which the session knows the step, until one of its runs may change it.

        Args:
          step: the global step; None if it is not known.
        """
        if step is not None and self._read is not None:
            name, kind = self._read
            self._session.host_values = {name: kind(step)}
        try:
            yield
        finally:  # a run of the session has emptied it
            self._may_be_set = step is not None and not self._session.host_values
            self._session.host_values = {}
