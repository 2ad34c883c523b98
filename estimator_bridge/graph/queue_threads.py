"""Queue runners: the threads that fill a graph's queues while its steps run."""

from __future__ import annotations

from collections.abc import Container
from typing import Any

import tensorflow as tf
from tensorflow.compat.v1 import logging

from estimator_bridge.graph.resources import Resources

__all__ = ["QueueThreads"]

_GRACE_SECS = 120  # how long the original waited for its threads


class QueueThreads:
    """The queue runners of a session's graph, between ``start`` and ``stop``.

    Attributes:
      coordinator: stops the threads and collects their errors. Hooks may use it.
    """

    def __init__(self) -> None:
        self.coordinator = _new_coordinator()
        self._threads: list[Any] = []
        self._stop_requested = False

    @property
    def are_running(self) -> bool:
        """True if threads are running: started and not stopped yet."""
        return bool(self._threads)

    def start(self, session: Any, without: Container[Any] = ()) -> None:
        """Starts the queue runners in the graph's collection.

        Args:
          session: the session that runs the queues' operations.
          without: runners that are not needed.
        """
        for runner in session.graph.get_collection(tf.compat.v1.GraphKeys.QUEUE_RUNNERS):
            if runner not in without:
                self._threads += runner.create_threads(
                    session, coord=self.coordinator, daemon=True, start=True
                )

    def check(self) -> None:
        """Raises the error that ended a thread, if one did."""
        self._stop_requested |= self.coordinator.should_stop()
        self.coordinator.raise_requested_exception()

    def stop(self, resources: Resources) -> None:
        """Ends all threads, even those that are blocked; they can be started again.

        Args:
          resources: the session's resources, which own the queues.
        """
        self.coordinator.request_stop()
        if self._threads:
            resources.close_queues()
        try:
            self.coordinator.join(
                self._threads, stop_grace_period_secs=_GRACE_SECS, ignore_live_threads=True
            )
        except Exception as error:
            if not self._stop_requested:  # a thread failed after its work was no longer needed
                logging.warning("A queue runner's thread ended with %r", error)
        alive = [thread.name for thread in self._threads if thread.is_alive()]
        if alive:
            logging.error("These threads still run after %d seconds: %s", _GRACE_SECS, alive)
        self._threads, self._stop_requested = [], False
        self.coordinator = _new_coordinator()


def _new_coordinator() -> Any:
    # By default it would treat an OutOfRangeError as a clean end, and hide it.
    return tf.compat.v1.train.Coordinator(clean_stop_exception_types=[])
