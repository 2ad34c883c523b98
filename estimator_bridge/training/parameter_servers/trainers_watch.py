"""Looks whether any process of a job still trains, so that no process waits for it without end."""

from __future__ import annotations

from collections.abc import Sequence

from tensorflow.compat.v1 import logging

from estimator_bridge.errors import WorkerError
from estimator_bridge.runtime.addresses import problems_at

__all__ = ["TrainersWatch"]

_LOOK_SECS = 30.0  # between two looks for the processes that train
_TELL_SECS = 600.0


class TrainersWatch:
    """Looks now and then whether anybody trains.

    Args:
      place: this process's name in messages, such as 'ps 0'.
      addresses: of the processes that train.
      limit_secs: the longest time in which none answers.
      complaint: what the process has done for that long, such as 'served nobody'.
      advice: what to do then.
      now: the time in seconds.
    """

    def __init__(
        self,
        place: str,
        addresses: Sequence[str],
        limit_secs: float,
        complaint: str,
        advice: str,
        now: float,
    ):
        self._place, self._addresses, self._limit = place, addresses, limit_secs
        self._complaint, self._advice = complaint, advice
        self._last_answer = self._last_look = self._last_line = now

    def note_life(self, now: float) -> None:
        """Notes a sign of the job's life.

        Args:
          now: the time in seconds.
        """
        self._last_answer = self._last_line = now

    def look(self, now: float) -> None:
        """Looks, if it is time.

        Args:
          now: the time in seconds.

        Raises:
          WorkerError: nobody has answered for too long.
        """
        if now < self._last_look + min(_LOOK_SECS, self._limit):
            return
        self._last_look = now
        silent = problems_at(self._addresses)
        if len(silent) < len(self._addresses):
            self.note_life(now)
            return
        problems = ", ".join(f"{address} ({problem})" for address, problem in silent.items())
        if now >= self._last_answer + self._limit:
            raise WorkerError(
                f"{self._place} has {self._complaint} for {now - self._last_answer:.0f} s "
                "(RunConfig.session_creation_timeout_secs): no process that trains answers at "
                f"{problems}. {self._advice}"
            )
        if now >= self._last_line + _TELL_SECS:
            self._last_line = now
            logging.warning(
                "%s has waited %.0f s, of %g s at most, for a process that trains. None answers at "
                "%s.",
                self._place, now - self._last_answer, self._limit, problems,
            )  # fmt: skip
