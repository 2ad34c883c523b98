"""The processes that train together under MultiWorkerMirroredStrategy, and their collectives.

One process has the same methods: they return what they are given.
"""

from __future__ import annotations

import weakref
from collections.abc import Sequence

import numpy as np
import tensorflow as tf

from estimator_bridge.graph import JoinFn, host_device
from estimator_bridge.runtime.addresses import problems_at
from estimator_bridge.runtime.collective_keys import CollectiveKeys
from estimator_bridge.runtime.deadlines import worker_secs
from estimator_bridge.runtime.replicas import WorkerJoin, join_replicas
from estimator_bridge.tensorflow_private.names import eager_context, eager_mode
from estimator_bridge.tensorflow_private.strategies import communication_options

__all__ = ["Workers", "local_replicas", "set_workers", "workers_of"]

# Far from the small numbers that TensorFlow counts up for collectives of its own.
_HOSTS, _REPLICAS = 1_700_000_001, 1_700_000_002
# Instance keys, each for values of one shape: key _AGREE + n for agreements on n numbers, and
# _TEXT + n for texts of up to 2**n bytes. See CollectiveKeys for the others.
_AGREE, _TEXT = 100, 200

_workers_by_strategy: weakref.WeakKeyDictionary[tf.distribute.Strategy, Workers] = (
    weakref.WeakKeyDictionary()
)


def workers_of(strategy: tf.distribute.Strategy) -> Workers:
    """Returns the processes of a strategy; a ``SingleProcess`` if this is the only one."""
    if strategy not in _workers_by_strategy:
        are_several = len(_addresses(strategy)) > 1
        _workers_by_strategy[strategy] = (
            Workers(strategy) if are_several else SingleProcess(strategy)
        )
    return _workers_by_strategy[strategy]


def set_workers(strategy: tf.distribute.Strategy, workers: Workers) -> None:
    """Sets the processes of a strategy that are not those of TensorFlow's collectives."""
    _workers_by_strategy[strategy] = workers


def local_replicas(strategy: tf.distribute.Strategy) -> int:
    """Returns the number of a strategy's replicas in this process."""
    return strategy.num_replicas_in_sync // workers_of(strategy).count


class Workers:
    """All processes that train one model together, as one of them sees them.

    All processes have to call the methods that exchange values, in the same order.

    Args:
      strategy: a MultiWorkerMirroredStrategy of several processes.

    Attributes:
      addresses: the addresses of all processes, the chief's first, then the workers'.
      index: the index of this process among them.
      last_step: the last global step that this process knows to be done.
      timeout_secs: the longest wait for the others, in seconds; 0: as long as they live.
      keys: the keys of collectives.
      shares_programs: whether a step of all of them is one program, with the same results.

    Raises:
      ValueError: the environment variable of the timeout holds no number.
    """

    shares_programs = False

    def __init__(self, strategy: tf.distribute.Strategy):
        resolver = strategy.cluster_resolver
        self._jobs = resolver.cluster_spec().as_dict()
        chiefs = len(self._jobs.get("chief", ()))
        self.addresses = _addresses(strategy)
        self.index = resolver.task_id + (0 if resolver.task_type == "chief" else chiefs)
        self.last_step = -1
        self.timeout_secs = worker_secs() or 0.0
        self._replicas = strategy.num_replicas_in_sync
        # NCCL must launch in one order everywhere; rings need no order, and overlap.
        self._is_ordered = "GPU" in strategy.extended.worker_devices[0]
        self._hint = communication_options(strategy).implementation.value
        self.keys = CollectiveKeys()

    @property
    def count(self) -> int:
        """The number of processes."""
        return len(self.addresses)

    @property
    def is_chief(self) -> bool:
        """Whether this process writes checkpoints and summaries, and provides the first values."""
        return self.index == 0

    @property
    def name(self) -> str:
        """The name of this process in messages."""
        return f"worker {self.index} ({self.addresses[self.index]})"

    def address(self, job: str, task: int) -> str:
        """Returns the address of a task of the cluster."""
        return self._jobs[job][task]

    def silent_addresses(self) -> list[str]:
        """Returns the addresses of the processes that do not answer."""
        return [*problems_at(self.addresses)]

    def tell_failure(self, text: str) -> None:
        """Tells the other workers, who wait for this one, that its program failed."""
        eager_context().report_error_to_cluster(tf.errors.INTERNAL, text)

    def input_context(self) -> tf.distribute.InputContext:
        """Returns what an input_fn needs to read this process's part of the data."""
        return tf.distribute.InputContext(self.count, self.index, self._replicas)

    def largest(self, values: Sequence[int], timeout_secs: float = 0) -> list[int]:
        """Returns the elementwise maximum of all workers' values.

        Args:
          values: numbers, as many as the other workers give.
          timeout_secs: the longest wait for the others; 0: ``self.timeout_secs``.
        """
        with eager_mode(), tf.device(host_device()):
            numbers = tf.constant(list(values), tf.int64)
            key = _AGREE + len(values)
            return self._reduce(numbers, key, "Max", timeout_secs).numpy().tolist()

    def texts(self, text: str) -> list[str]:
        """Returns the texts of all workers, in their order."""
        letters = np.frombuffer(text.encode(), np.uint8).astype(np.int64)
        (length,) = self.largest([len(letters)])
        if not length:
            return [""] * self.count
        size = length.bit_length()
        rows = np.zeros([self.count, 1 + (1 << size)], np.int64)
        rows[self.index, 0] = len(letters)
        rows[self.index, 1 : len(letters) + 1] = letters
        with eager_mode(), tf.device(host_device()):
            rows = self._reduce(tf.constant(rows), _TEXT + size).numpy()
        return [bytes(row[1 : row[0] + 1].astype(np.uint8)).decode() for row in rows]

    def copy_from_chief(self, variables: Sequence[Sequence[tf.Variable]]) -> None:
        """Assigns the chief's values to variables.

        Args:
          variables: the local copies of each variable, in the same order at all workers.
        """
        with eager_mode(), tf.device(host_device()):
            for copies in variables:
                if copies[0].dtype == tf.string:
                    continue  # no collective carries strings
                value = self._chiefs(copies[0].read_value(), self.keys.reserve())
                for copy in copies:
                    copy.assign(value)

    def reserve_key_of_totals(self) -> int:
        """Returns a key for ``totals``; all workers call this in the same order."""
        return self.keys.reserve(len(_CARRIES))

    def totals(self, values: Sequence[tf.Tensor], key: int) -> list[tf.Tensor]:
        """Returns the sums of all workers' values, by one collective for each type; eager.

        Args:
          values: tensors, with the same types and shapes at all workers.
          key: see ``reserve_key_of_totals``; the shapes are the same at each call with a key.
        """
        totals: dict[int, tf.Tensor] = {}
        with eager_mode(), tf.device(host_device()):
            values_to_send = [_convert_type(value) for value in values]
            for number, dtype in enumerate(_CARRIES):
                places = [i for i, value in enumerate(values_to_send) if value.dtype == dtype]
                if not places:
                    continue
                flat = [tf.reshape(values_to_send[i], [-1]) for i in places]
                total = self._reduce(tf.concat(flat, 0), key + number)
                for i, part in zip(places, tf.split(total, [len(part) for part in flat])):
                    shaped = tf.reshape(part, values_to_send[i].shape)
                    totals[i] = _restore_type(shaped, values[i].dtype)
        return [totals[i] for i in range(len(values))]

    def sum_over_hosts(self, value: tf.Tensor, key: int) -> tf.Tensor:
        """Returns the sum of one value of each worker, inside a function of the host."""
        return self._reduce(value, key)

    def join(self, graph: tf.Graph, sums: Sequence[str]) -> JoinFn:
        """Returns a function that adds over all replicas, for one replica's import of a step.

        Args:
          graph: the traced graph.
          sums: the CrossReplicaSum nodes, in the order in which they are joined.
        """
        _, keys = self.keys.of(graph)
        return WorkerJoin(self.name, self._sum_over_replicas, sums, keys)

    def _sum_over_replicas(
        self, values: Sequence[tf.Tensor], keys: Sequence[int]
    ) -> list[tf.Tensor]:
        totals: list[tf.Tensor] = []
        for value, key in zip(values, keys):
            with tf.control_dependencies(totals[-1:] if self._is_ordered else []):
                totals.append(self._reduce(value, key, group=_REPLICAS))
        return totals

    def _reduce(
        self,
        value: tf.Tensor,
        key: int,
        merge: str = "Add",
        timeout_secs: float = 0,
        group: int = _HOSTS,
    ) -> tf.Tensor:
        on_hosts = group == _HOSTS
        value_to_send = _convert_type(value)
        total = tf.raw_ops.CollectiveReduceV2(
            input=value_to_send,
            group_size=self.count if on_hosts else self._replicas,
            group_key=group,
            instance_key=key,
            ordering_token=[],
            merge_op=merge,
            final_op="Id",
            communication_hint="RING" if on_hosts else self._hint,
            timeout_seconds=timeout_secs or self.timeout_secs,
        )
        return _restore_type(tf.ensure_shape(total, value_to_send.shape), value.dtype)

    def _chiefs(self, value: tf.Tensor, key: int) -> tf.Tensor:
        value_to_send = _convert_type(value)
        common = {
            "group_size": self.count,
            "group_key": _HOSTS,
            "instance_key": key,
            "communication_hint": "RING",
            "timeout_seconds": self.timeout_secs,
        }
        if self.is_chief:
            tf.raw_ops.CollectiveBcastSendV2(input=value_to_send, **common)
            return value
        result = tf.raw_ops.CollectiveBcastRecvV2(
            T=value_to_send.dtype, shape=tf.shape(value_to_send), **common
        )
        return _restore_type(result, value.dtype)


class SingleProcess(Workers):
    """The only process of a training: a chief without workers, which waits for nobody.

    Args:
      strategy: any strategy of one process.
    """

    def __init__(self, strategy: tf.distribute.Strategy):
        self.addresses, self.index, self.last_step = ["this process"], 0, -1
        self.timeout_secs, self.keys = 0.0, CollectiveKeys()
        self._replicas = strategy.num_replicas_in_sync

    @property
    def name(self) -> str:
        """The name of this process in messages."""
        return self.addresses[0]

    def largest(self, values: Sequence[int], timeout_secs: float = 0) -> list[int]:
        """Returns the values."""
        del timeout_secs
        return list(values)

    def texts(self, text: str) -> list[str]:
        """Returns the text."""
        return [text]

    def copy_from_chief(self, variables: Sequence[Sequence[tf.Variable]]) -> None:
        """Leaves variables unchanged: they are the chief's."""

    def totals(self, values: Sequence[tf.Tensor], key: int) -> list[tf.Tensor]:
        """Returns the values."""
        del key
        return list(values)

    def sum_over_hosts(self, value: tf.Tensor, key: int) -> tf.Tensor:
        """Returns the value."""
        del key
        return value

    def join(self, graph: tf.Graph, sums: Sequence[str]) -> JoinFn:
        """Returns a function that adds over the replicas of this process."""
        del graph, sums
        return join_replicas


# Types that not every collective carries, each with one that carries its values without loss.
_CARRIED_AS = {
    tf.bfloat16: tf.float32,
    tf.float16: tf.float32,
    tf.bool: tf.int32,
    tf.int8: tf.int32,
    tf.uint8: tf.int32,
    tf.int16: tf.int32,
    tf.uint16: tf.int32,
    tf.uint32: tf.int64,
}
_CARRIES = (tf.float32, tf.float64, tf.int32, tf.int64)
_PARTS = {tf.complex64: tf.float32, tf.complex128: tf.float64}  # real and imaginary


def _convert_type(value: tf.Tensor) -> tf.Tensor:
    if value.dtype in _PARTS:
        return tf.bitcast(value, _PARTS[value.dtype])
    return tf.cast(value, _CARRIED_AS.get(value.dtype, value.dtype))


def _restore_type(value: tf.Tensor, dtype: tf.DType) -> tf.Tensor:
    return tf.bitcast(value, dtype) if dtype in _PARTS else tf.cast(value, dtype)


def _addresses(strategy: tf.distribute.Strategy) -> list[str]:
    # Only strategies of workers that meet in collectives; a TPU's resolver names a cluster too.
    if not isinstance(strategy, _OF_WORKERS):
        return []
    resolver = strategy.cluster_resolver
    jobs = resolver.cluster_spec().as_dict()
    if resolver.task_type not in ("chief", "worker"):
        return []  # an evaluator: alone
    return [*jobs.get("chief", ()), *jobs.get("worker", ())]


_OF_WORKERS = (
    tf.distribute.MultiWorkerMirroredStrategy,
    tf.compat.v1.distribute.experimental.MultiWorkerMirroredStrategy,
)
