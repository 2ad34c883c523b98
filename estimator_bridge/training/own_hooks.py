"""Base classes of this library's hooks and listeners, for the calls that other hooks do not have.

A program's hook may have methods of the same names, or answer to any name. So a class decides.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import Any

import tensorflow as tf

__all__ = [
    "CountingHook",
    "FirstBatchesHook",
    "ObservingHook",
    "ReachedHook",
    "RunListener",
    "SnapshotListener",
]

_SessionRunHook: Any = tf.compat.v1.train.SessionRunHook
_Listener: Any = tf.compat.v1.train.CheckpointSaverListener


class CountingHook(_SessionRunHook):
    """Counts steps, also those that ran without a call of it."""

    @abstractmethod
    def skip(self, steps: int) -> None:
        """Counts steps that ran without a call of this hook."""


class ReachedHook(_SessionRunHook):
    """Fetches nothing; the results of its ``after_run`` are a `Reached`."""


class ObservingHook(_SessionRunHook):
    """Is informed after each chunk of steps, without being called around a step."""

    @abstractmethod
    def observe(
        self, step: int, total: int | None, loss: float | None, examples: int | None
    ) -> None:
        """Notes the state after a chunk of steps.

        Args:
          step: the global step.
          total: the global step at which training ends; None if unknown.
          loss: the loss of the last step; None if no step returned one.
          examples: the global batch size; None if unknown.
        """


class FirstBatchesHook(_SessionRunHook):
    """Reads batches before the first step."""

    @abstractmethod
    def use_input(self, run: Callable[[Any], Any]) -> None:
        """Reads what it needs.

        Args:
          run: runs an operation of the model's graph on the next batch.
        """


class RunListener(_Listener):
    """A saver's listener for one run, and removed after it."""


class SnapshotListener(RunListener):
    """Writes a file before each checkpoint, also for savers that write while steps run."""

    @abstractmethod
    def take(self, global_step_value: int) -> Callable[[], None]:
        """Copies the state of a step, in the place of ``before_save``.

        Args:
          global_step_value: the global step.

        Returns:
          Writes the copy.
        """
