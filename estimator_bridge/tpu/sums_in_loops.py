"""Sums over replicas whose loops run concurrently in one session.

What replicas add up in a loop is another value in each round, so no edge of the graph can lead from
one replica's loop into another's. Queues do: each replica sends its value to the first one of its
group, which adds up, in the order of their numbers, and sends the total back. No replica can be a
round ahead, as each waits for the total.
"""

from __future__ import annotations

from collections.abc import Sequence

import tensorflow as tf

__all__ = ["SumsInLoops"]


class SumsInLoops:
    """Creates the sums of all replicas; the n-th sums of all replicas belong together.

    Args:
      graph: of the program, in which the queues are.
      count: how many replicas there are.
    """

    def __init__(self, graph: tf.Graph, count: int):
        self._graph, self._count = graph, count
        self.counts = [0] * count  # by replica: how many sums it has in loops
        self._queues: dict[tuple[str, int, int], tf.queue.FIFOQueue] = {}

    def sum(self, x: tf.Tensor, replica: int, groups: Sequence[Sequence[int]]) -> tf.Tensor:
        """Returns the total over the replica's group.

        Args:
          x: the replica's value, of static shape.
          replica: its number.
          groups: the replicas' numbers.

        Raises:
          ValueError: the shape is not static, or another than in a replica before.
        """
        number = self.counts[replica]
        self.counts[replica] += 1
        (group,) = (group for group in groups if replica in group)
        first, *others = group
        if not others:
            return tf.identity(x)
        if replica != first:
            sent = self._queue("to", number, replica, x).enqueue(x)
            with tf.control_dependencies([sent]):
                total = self._queue("from", number, replica, x).dequeue()
            return total
        values = [x, *(self._queue("to", number, other, x).dequeue() for other in others)]
        total = tf.add_n(values)
        sent = [self._queue("from", number, other, x).enqueue(total) for other in others]
        with tf.control_dependencies(sent):
            return tf.identity(total)

    def emptied(self) -> list[tf.Operation]:
        """Returns operations that clear the queues after a failed run."""
        return [queue.dequeue_many(queue.size()).op for queue in self._queues.values()]

    def _queue(self, way: str, number: int, replica: int, x: tf.Tensor) -> tf.queue.FIFOQueue:
        key = (way, number, replica)
        if not x.shape.is_fully_defined():
            raise ValueError(
                f"A sum over replicas in a loop needs a static shape; {x.name!r} has {x.shape}."
            )
        if key not in self._queues:
            with self._graph.as_default(), tf.control_dependencies(None), self._graph.device(None):
                name = f"sum_{number}_{way}_{replica}"
                self._queues[key] = tf.queue.FIFOQueue(1, [x.dtype], [x.shape], name=name)
        queue = self._queues[key]
        if (queue.dtypes, queue.shapes) != ([x.dtype], [x.shape]):
            raise ValueError(
                f"Sum {number} over the replicas is of {queue.dtypes[0].name} {queue.shapes[0]} in "
                f"one of them and of {x.dtype.name} {x.shape} in replica {replica}. Build the "
                "same operations on each."
            )
        return queue
