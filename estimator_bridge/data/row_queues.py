"""Batches of rows in memory, through a queue in the graph.

The graph gets the queue, the operations and the names of the original's ``numpy_input_fn``, so
that a model's variables start from the same numbers, and a plain Session can run it. An estimator
ignores the queue and reads the rows through a dataset, without threads and copies.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

import tensorflow as tf
from tensorflow.compat.v1 import logging

from estimator_bridge.data.rows import Reading, Rows

__all__ = ["RowQueueRunner", "fed_batch"]

_v1 = tf.compat.v1
_QueueRunner: Any = _v1.train.QueueRunner


class RowQueueRunner(_QueueRunner):
    """Feeds rows to a queue in a session's threads, or provides them as a dataset.

    Args:
      queue: the queue of row numbers and columns.
      places: for each thread, the placeholders that it feeds, in the order of the queue's
        components.
      enqueue_ops: for each thread, the operation that enqueues these placeholders.
      reading: the order of the rows.

    Attributes:
      is_read_directly: whether the dataset is used, so that no thread is needed.
    """

    def __init__(
        self,
        queue: Any,
        places: Sequence[Sequence[tf.Tensor]],
        enqueue_ops: Sequence[tf.Operation],
        reading: Reading,
    ):
        construct = _QueueRunner.__init__
        # Below the wrapper with a deprecation warning, which does not concern the caller.
        getattr(construct, "__wrapped__", construct)(self, queue, enqueue_ops)
        self._places, self._reading = places, reading
        self._running: dict[int, list[threading.Thread]] = {}
        self.is_read_directly = False

    def read_directly(self, in_blocks: bool) -> tf.data.Dataset:
        """Returns the batches that the queue would give.

        Args:
          in_blocks: see ``Reading.dataset``.
        """
        self.is_read_directly = True
        return self._reading.dataset(in_blocks)

    def create_threads(
        self, sess: Any, coord: Any = None, daemon: bool = False, start: bool = False
    ) -> list[threading.Thread]:
        """Returns threads that fill the queue from the first row on; none if some are running.

        Args:
          sess: a session of the graph.
          coord: stops the threads and receives their errors.
          daemon: whether the program may end while they run.
          start: whether to start them.
        """
        if any(thread.is_alive() for thread in self._running.get(id(sess), ())):
            return []
        countdown = _Countdown(len(self._places))
        threads = [
            threading.Thread(target=self._fill, args=(sess, enqueue, places, countdown, coord))
            for enqueue, places in zip(self.enqueue_ops, self._places)
        ]
        self._running[id(sess)] = threads
        if coord:
            threads = [*threads, threading.Thread(target=self._empty, args=(sess, coord))]
        for thread in threads:
            thread.daemon = daemon
            if coord:
                coord.register_thread(thread)
            if start:
                thread.start()
        return threads

    def _fill(self, sess, enqueue, places, countdown: _Countdown, coord) -> None:
        try:
            for numbers in self._reading.chunks():
                if coord and coord.should_stop():
                    return
                values = [numbers, *self._reading.rows.take(numbers)]
                sess.run(enqueue, dict(zip(places, values)))
        except (tf.errors.OutOfRangeError, tf.errors.CancelledError):
            pass  # the queue was closed
        except Exception as error:
            if not coord:
                logging.error("A thread that feeds %r failed: %s", self.queue.name, error)
                raise
            coord.request_stop(error)
            return
        if countdown.is_last():
            _run_quietly(sess, self.close_op)

    def _empty(self, sess, coord) -> None:
        coord.wait_for_stop()
        _run_quietly(sess, self.cancel_op)


class _Countdown:
    def __init__(self, number: int):
        self._number = number
        self._lock = threading.Lock()

    def is_last(self) -> bool:
        with self._lock:
            self._number -= 1
            return self._number == 0


def _run_quietly(sess: Any, operation: tf.Operation) -> None:
    try:
        sess.run(operation)
    except Exception as error:  # the session may be closed by now, and its queues with it
        logging.debug("While closing a queue: %s", error)


def fed_batch(
    rows: Rows,
    batch_size: int,
    epochs: int | None,
    shuffle: bool,
    capacity: int,
    least_left: int | None,
    threads: int,
) -> list[tf.Tensor]:
    """Returns the tensors of a batch of rows, in the default graph; each run reads a new batch.

    Args:
      rows: the rows to read.
      batch_size: the global batch size.
      epochs: the number of epochs; None for no end.
      shuffle: whether rows are chosen at random from those in the queue.
      capacity: the number of rows that the queue holds.
      least_left: the least number of rows in a shuffled queue; None for a quarter of it.
      threads: the number of threads that each read all rows, in a plain session.

    Returns:
      The columns' tensors, of shape [batch_size or None, ...].
    """
    if threads > 1 and epochs is not None:
        logging.warning(
            "Each of the %d threads reads all %d epochs, so every row comes %d times. Use one "
            "thread to bound the epochs.", threads, epochs, threads * epochs,
        )  # fmt: skip
    if threads > 1 and not shuffle:
        logging.warning(
            "%d threads read the rows side by side, so shuffle=False keeps no order. Use one "
            "thread, or shuffle.", threads,
        )  # fmt: skip
    kinds, shapes = [tf.int64, *rows.types], [(), *rows.shapes]
    least = 0
    with tf.name_scope("enqueue_input"):
        if shuffle:
            least = int(capacity / 4 if least_left is None else least_left)
            queue: Any = tf.queue.RandomShuffleQueue(capacity, least, dtypes=kinds, shapes=shapes)
        else:
            queue = tf.queue.FIFOQueue(capacity, dtypes=kinds, shapes=shapes)
        places, enqueue_ops = [], []
        for _ in range(threads):
            places.append([_v1.placeholder(kind) for kind in kinds])
            enqueue_ops.append(queue.enqueue_many(places[-1]))
        among, seeds = (capacity, _seeds(queue)) if shuffle else (1, (0, 0))
        reading = Reading.make(rows, batch_size, epochs, threads, among, seeds)
        runner = RowQueueRunner(queue, places, enqueue_ops, reading)
        _v1.add_to_collection(_v1.GraphKeys.QUEUE_RUNNERS, runner)
        _summarise(queue, least, capacity)
    dequeued = (queue.dequeue_up_to if epochs is not None else queue.dequeue_many)(batch_size)
    return dequeued[1:]


def _seeds(queue: Any) -> tuple[int, int]:
    operation = queue.queue_ref.op
    return operation.get_attr("seed"), operation.get_attr("seed2")


def _summarise(queue: Any, least: int, capacity: int) -> None:
    """Adds the summary of the queue's fill level."""
    above = tf.cast(tf.maximum(0, queue.size() - least), tf.float32)
    full = above * (1.0 / (capacity - least))
    name = f"queue/{queue.name}fraction_over_{least}_of_{capacity - least}_full"
    _v1.summary.scalar(name, full)
