"""A queue runner whose threads feed values that Python functions return."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf
from tensorflow.compat.v1 import logging

__all__ = ["FeedingQueueRunner"]

_QueueRunner: Any = tf.compat.v1.train.QueueRunner
_CLOSED = (tf.errors.OutOfRangeError, tf.errors.CancelledError)


class FeedingQueueRunner(_QueueRunner):
    """Fills a queue by threads, each with an enqueue operation and a function of its feeds.

    Args:
      queue: the queue.
      enqueue_ops: the operations, one for each thread.
      close_op: closes the queue, and leaves pending enqueues; by default the queue's own.
      cancel_op: closes the queue, and cancels pending enqueues; by default the queue's own.
      feed_fns: a function for each operation, which returns the feed_dict of its next run; None for
        no feeds.
      queue_closed_exception_types: accepted and ignored: OutOfRangeError and CancelledError say
        that the queue was closed, as in the original.

    Raises:
      ValueError: feed_fns and enqueue_ops differ in length.
    """

    def __init__(
        self,
        queue: Any = None,
        enqueue_ops: Sequence[Any] | None = None,
        close_op: Any = None,
        cancel_op: Any = None,
        feed_fns: Sequence[Callable[[], Any] | None] | None = None,
        queue_closed_exception_types: tuple[type[Exception], ...] | None = None,
    ):
        super().__init__(
            queue,
            enqueue_ops,
            close_op,
            cancel_op,
            queue_closed_exception_types=queue_closed_exception_types or _CLOSED,
        )
        count = len(self.enqueue_ops)
        if feed_fns is not None and len(feed_fns) != count:
            raise ValueError(
                "If feed_fns is not None, it must have the same length as enqueue_ops. Got "
                f"{len(feed_fns)} and {count}."
            )
        self._feed_fns = list(feed_fns or [None] * count)
        self._running: Any = weakref.WeakKeyDictionary()  # session -> the number of threads
        self._guard = threading.Lock()

    def create_threads(
        self, sess: Any, coord: Any = None, daemon: bool = False, start: bool = False
    ) -> list[threading.Thread]:
        """Creates the threads of a session, one for each operation.

        Args:
          sess: the session.
          coord: a coordinator that gets the threads' errors and stops them; with it, a further
            thread cancels the queue when it stops.
          daemon: whether they are daemon threads.
          start: whether to start them.

        Returns:
          The threads; none while those of an earlier call run.
        """
        with self._guard:
            if self._running.get(sess):
                return []
            self._running[sess] = len(self.enqueue_ops)
            self.exceptions_raised.clear()
        threads = [
            threading.Thread(target=self._fill, args=(sess, operation, feed_fn, coord))
            for operation, feed_fn in zip(self.enqueue_ops, self._feed_fns)
        ]
        if coord is not None:
            threads.append(threading.Thread(target=self._cancel_at_stop, args=(sess, coord)))
        for thread in threads:
            thread.daemon = daemon or thread.daemon
            if start:
                thread.start()
        return threads

    def to_proto(self, export_scope: str | None = None) -> Any:
        """Fails: functions cannot be saved.

        Raises:
          NotImplementedError: always.
        """
        raise NotImplementedError(
            "FeedingQueueRunner does not support serialization to proto: its feed_fns are Python "
            "functions. Leave it out of the collections that you export."
        )

    def _fill(self, sess: Any, operation: Any, feed_fn: Any, coord: Any) -> None:
        if coord is not None:
            coord.register_thread(threading.current_thread())
        is_closed = False
        try:
            while coord is None or not coord.should_stop():
                try:
                    sess.run(operation, feed_dict=None if feed_fn is None else feed_fn())
                except _CLOSED:
                    is_closed = True
                    return
        except Exception as error:
            if coord is None:
                logging.error("Exception in QueueRunner: %s", error)
                self.exceptions_raised.append(error)
                raise
            coord.request_stop(error)
        finally:
            self._leave(sess, is_closed)

    def _leave(self, sess: Any, is_closed: bool) -> None:
        """Counts a thread that ends; the last one closes the queue."""
        with self._guard:
            self._running[sess] -= 1
            is_last = not self._running[sess]
        if is_closed and is_last:
            _run_quietly(sess, self.close_op)

    def _cancel_at_stop(self, sess: Any, coord: Any) -> None:
        coord.register_thread(threading.current_thread())
        coord.wait_for_stop()
        _run_quietly(sess, self.cancel_op)


def _run_quietly(sess: Any, operation: Any) -> None:
    """Runs an operation whose error says nothing new: the session may be closed."""
    try:
        sess.run(operation)
    except Exception as error:
        logging.debug("Ignored exception: %s", error)
