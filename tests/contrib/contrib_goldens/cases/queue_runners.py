"""Cases of tf.contrib.training.FeedingQueueRunner."""

import itertools

import tensorflow as tf
from contrib_goldens.observe import Case, Steps

__all__ = ["CASES"]

runner = tf.contrib.training.FeedingQueueRunner


def _fed(count=None):
    """A queue of numbers, and fetches of two rows."""
    queue = tf.FIFOQueue(8, [tf.float32], [[2]])
    value = tf.placeholder(tf.float32, [2])
    numbers = iter(range(count)) if count else itertools.count()

    def feed_fn():
        number = next(numbers, None)
        if number is None:
            raise tf.errors.OutOfRangeError(None, None, "the end")
        return {value: [number, 10 * number]}

    tf.train.add_queue_runner(runner(queue, [queue.enqueue(value)], feed_fns=[feed_fn]))
    return queue


def _two_rows():
    queue = _fed()
    return Steps([[queue.dequeue_many(2)], [queue.dequeue_many(2)]])


def _last_rows():
    return _fed(3).dequeue_up_to(5)


def _without_feeds():
    queue = tf.FIFOQueue(8, [tf.float32], [[]])
    tf.train.add_queue_runner(runner(queue, [queue.enqueue(3.0)]))
    return queue.dequeue_many(2)


def _of_other_lengths():
    queue = tf.FIFOQueue(8, [tf.float32], [[]])
    return runner(queue, [queue.enqueue(3.0)], feed_fns=[])


def _saved():
    queue = tf.FIFOQueue(8, [tf.float32], [[]])
    return runner(queue, [queue.enqueue(3.0)]).to_proto()


CASES = {
    "training.FeedingQueueRunner": Case(_two_rows, has_gradients=False, queues=True),
    "training.FeedingQueueRunner: end": Case(_last_rows, has_gradients=False, queues=True),
    "training.FeedingQueueRunner: no feeds": Case(_without_feeds, has_gradients=False, queues=True),
    "training.FeedingQueueRunner: lengths": _of_other_lengths,
    "training.FeedingQueueRunner: saved": _saved,
}
