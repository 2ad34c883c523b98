"""Sums over replicas whose loops run concurrently in one session.

The summed value changes in each iteration, so no edge of the graph can connect the loops of two
replicas. Queues connect them: each replica sends its value to the first replica of its group, which
adds the values in the order of the replicas and sends the total back. No replica can be an
iteration ahead, as each waits for the total.
"""

from __future__ import annotations

from collections.abc import Sequence

import tensorflow as tf

__all__ = ["SumsInLoops"]


class SumsInLoops:
    """Creates the sums of all replicas; the n-th sums of all replicas belong together.

    Args:
      graph: the program's graph, which holds the queues.
      count: the number of replicas.
    """

    def __init__(self, graph: tf.Graph, count: int):
        self._graph, self._count = graph, count
        self.counts = [0] * count  # by replica: the number of its sums in loops
        self._queues: dict[tuple[str, int, int], tf.queue.FIFOQueue] = {}

    def sum(self, x: tf.Tensor, replica: int, groups: Sequence[Sequence[int]]) -> tf.Tensor:
        """Returns the total over the replica's group.

        Args:
          x: the replica's value, with a static shape.
          replica: the number of the replica.
          groups: the numbers of the replicas in each group.

        Raises:
          ValueError: the shape is not static, or differs from that in another replica.
        """
        number = self.counts[replica]
        self.counts[replica] += 1
        (group,) = (group for group in groups if replica in group)
        first, *others = group
        if not others:
            return tf.identity(x)
        if replica != first:
            enqueue = self._queue("to", number, replica, x).enqueue(x)
            with tf.control_dependencies([enqueue]):
                total = self._queue("from", number, replica, x).dequeue()
            return total
        values = [x, *(self._queue("to", number, other, x).dequeue() for other in others)]
        total = tf.add_n(values)
        enqueue = [self._queue("from", number, other, x).enqueue(total) for other in others]
        with tf.control_dependencies(enqueue):
            return tf.identity(total)

    def empty_ops(self) -> list[tf.Operation]:
        """Returns operations that clear the queues after a failed run."""
        return [queue.dequeue_many(queue.size()).op for queue in self._queues.values()]

    def _queue(self, way: str, number: int, replica: int, x: tf.Tensor) -> tf.queue.FIFOQueue:
        key = (way, number, replica)
        if not x.shape.is_fully_defined():
            raise ValueError(
                f"A sum over replicas in a loop needs a static shape; {x.name!r} has {x.shape}. "
                "Call set_shape."
            )
        if key not in self._queues:
            with self._graph.as_default(), tf.control_dependencies(None), self._graph.device(None):
                name = f"sum_{number}_{way}_{replica}"
                self._queues[key] = tf.queue.FIFOQueue(1, [x.dtype], [x.shape], name=name)
        queue = self._queues[key]
        if (queue.dtypes, queue.shapes) != ([x.dtype], [x.shape]):
            raise ValueError(
                f"Sum {number} over the replicas has {queue.dtypes[0].name} {queue.shapes[0]} in "
                f"one replica and {x.dtype.name} {x.shape} in replica {replica}. Build the same "
                "operations on each replica."
            )
        return queue
