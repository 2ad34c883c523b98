"""The processes that train together under MultiWorkerMirroredStrategy, and what they tell another.

Every collective needs a number that is the same in all processes. TensorFlow gives numbers out as
functions are traced, but here a chief traces other functions than its workers: those of its hooks.
So the numbers are given out here, by what a collective is for.
"""

from __future__ import annotations

import weakref
from collections.abc import Sequence

import numpy as np
import tensorflow as tf

from estimator_bridge.graph import Snapshot, host_device
from estimator_bridge.runtime.deadlines import worker_secs
from estimator_bridge.tensorflow_private import communication_options, eager_mode

__all__ = ["Workers", "local_replicas", "workers_of"]

# Far from the small numbers that TensorFlow counts up for collectives of its own.
_HOSTS, _REPLICAS = 1_700_000_001, 1_700_000_002
# Instance keys, each for values of one shape: of agreements on so many numbers, of texts up to
# such a power of two, and of what each training does for itself.
_AGREE, _TEXT, _FIRST_OF_TRAINING = 100, 200, 1000

_known: weakref.WeakKeyDictionary = weakref.WeakKeyDictionary()


def workers_of(strategy: tf.distribute.Strategy) -> Workers | None:
    """The processes of a strategy; None where there is only this one."""
    if strategy not in _known:
        _known[strategy] = Workers(strategy) if _addresses(strategy)[1:] else None
    return _known[strategy]


def local_replicas(strategy: tf.distribute.Strategy) -> int:
    """How many of a strategy's replicas are in this process."""
    workers = workers_of(strategy)
    return strategy.num_replicas_in_sync // (workers.count if workers else 1)


class Workers:
    """All processes that train one model together, seen from one of them.

    Every method that talks to the others has to be called by all of them, in the same order.

    Args:
      strategy: a MultiWorkerMirroredStrategy of several processes.

    Attributes:
      addresses: of all processes, the chief first, then the workers.
      count: how many they are.
      index: this process's place among them.
      last_step: the global step that this process knows to have reached.
      timeout_secs: how long each wait for the others may take; 0: as long as they live.

    Raises:
      ValueError: the environment variable for that holds no number.
    """

    def __init__(self, strategy: tf.distribute.Strategy):
        resolver = strategy.cluster_resolver
        self._jobs = resolver.cluster_spec().as_dict()
        chiefs = len(self._jobs.get("chief", ()))
        self.addresses = _addresses(strategy)
        self.count = len(self.addresses)
        self.index = resolver.task_id + (0 if resolver.task_type == "chief" else chiefs)
        self.last_step = -1
        self.timeout_secs = worker_secs() or 0.0
        self._replicas = strategy.num_replicas_in_sync
        # NCCL must launch in one order everywhere; rings need no order, and overlap.
        self._is_ordered = "GPU" in strategy.extended.worker_devices[0]
        self._hint = communication_options(strategy).implementation.value
        self._first_keys: weakref.WeakKeyDictionary = weakref.WeakKeyDictionary()
        self._next_key = _FIRST_OF_TRAINING

    @property
    def is_chief(self) -> bool:
        """Whether this process writes checkpoints and summaries, and its values count."""
        return self.index == 0

    @property
    def name(self) -> str:
        """This process, for messages."""
        return f"worker {self.index} ({self.addresses[self.index]})"

    def address(self, job: str, task: int) -> str:
        """Where a task of the cluster is."""
        return self._jobs[job][task]

    def input_context(self) -> tf.distribute.InputContext:
        """What an input_fn is told, to read its own part of the data."""
        return tf.distribute.InputContext(self.count, self.index, self._replicas)

    def largest(self, values: Sequence[int], timeout_secs: float = 0) -> list[int]:
        """The largest of all workers' values, for each of them.

        Args:
          values: as many as the others give.
          timeout_secs: how long to wait for the others; 0: as for all else.
        """
        with eager_mode(), tf.device(host_device()):
            given = tf.constant(list(values), tf.int64)
            key = _AGREE + len(values)
            return self._reduce(given, key, "Max", timeout_secs).numpy().tolist()

    def texts(self, text: str) -> list[str]:
        """What all workers say, in their order."""
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
        """Gives variables the values that they have at the chief.

        Args:
          variables: the local copies of each, in the same order at all workers.
        """
        with eager_mode(), tf.device(host_device()):
            for copies in variables:
                if copies[0].dtype == tf.string:
                    continue  # no collective carries strings
                value = self._chiefs(copies[0].read_value(), self._next_key)
                self._next_key += 1
                for copy in copies:
                    copy.assign(value)

    def start_keys(self, graph: tf.Graph, first: int) -> None:
        """Settles the keys of a graph's sums, the same at all workers.

        Args:
          graph: traced alike by all workers; what is added later, a hook's sums, has no keys.
          first: see ``next_key``; the largest of all workers'.
        """
        snapshot = Snapshot.of(graph)
        sums = [name for name, node in snapshot.nodes.items() if node.op == "CrossReplicaSum"]
        # The first two are for the meetings of the hosts before and after a step.
        self._first_keys[graph] = first, {name: first + 2 + i for i, name in enumerate(sums)}
        self._next_key = first + 2 + len(sums)

    def reserve_key_of_totals(self) -> int:
        """A key for ``totals``; to be called by all workers in the same order."""
        key, self._next_key = self._next_key, self._next_key + len(_CARRIES)
        return key

    def totals(self, values: Sequence[tf.Tensor], key: int) -> list[tf.Tensor]:
        """Adds values of all workers, with one collective for each type; eager.

        Args:
          values: as many as the others give, of the same types and shapes.
          key: see ``reserve_key_of_totals``; for values of the same shapes at every call.
        """
        totals: dict[int, tf.Tensor] = {}
        with eager_mode(), tf.device(host_device()):
            carried = [_carried(value) for value in values]
            for number, dtype in enumerate(_CARRIES):
                places = [i for i, value in enumerate(carried) if value.dtype == dtype]
                if not places:
                    continue
                flat = [tf.reshape(carried[i], [-1]) for i in places]
                added = self._reduce(tf.concat(flat, 0), key + number)
                for i, part in zip(places, tf.split(added, [len(part) for part in flat])):
                    shaped = tf.reshape(part, carried[i].shape)
                    totals[i] = _uncarried(shaped, values[i].dtype)
        return [totals[i] for i in range(len(values))]

    @property
    def next_key(self) -> int:
        """The first key that this process has not used."""
        return self._next_key

    def keys(self, graph: tf.Graph) -> tuple[int, dict[str, int]]:
        """The first key of a graph, and those of its sums by name."""
        if graph not in self._first_keys:
            self.start_keys(graph, self._next_key)
        return self._first_keys[graph]

    def sum_over_hosts(self, value: tf.Tensor, key: int) -> tf.Tensor:
        """Adds one value of each worker, inside a function of the host."""
        return self._reduce(value, key)

    def sum_over_replicas(self, values: Sequence[tf.Tensor], keys: Sequence[int]) -> list:
        """Adds values of all replicas of all workers, inside strategy.run."""
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
        carried = _carried(value)
        total = tf.raw_ops.CollectiveReduceV2(
            input=carried,
            group_size=self.count if on_hosts else self._replicas,
            group_key=group,
            instance_key=key,
            ordering_token=[],
            merge_op=merge,
            final_op="Id",
            communication_hint="RING" if on_hosts else self._hint,
            timeout_seconds=timeout_secs or self.timeout_secs,
        )
        return _uncarried(tf.ensure_shape(total, carried.shape), value.dtype)

    def _chiefs(self, value: tf.Tensor, key: int) -> tf.Tensor:
        carried = _carried(value)
        common = {
            "group_size": self.count,
            "group_key": _HOSTS,
            "instance_key": key,
            "communication_hint": "RING",
            "timeout_seconds": self.timeout_secs,
        }
        if self.is_chief:
            tf.raw_ops.CollectiveBcastSendV2(input=carried, **common)
            return value
        received = tf.raw_ops.CollectiveBcastRecvV2(
            T=carried.dtype, shape=tf.shape(carried), **common
        )
        return _uncarried(received, value.dtype)


# Types that not every collective carries, and what carries their values without loss.
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


def _carried(value: tf.Tensor) -> tf.Tensor:
    if value.dtype in _PARTS:
        return tf.bitcast(value, _PARTS[value.dtype])
    return tf.cast(value, _CARRIED_AS.get(value.dtype, value.dtype))


def _uncarried(value: tf.Tensor, dtype: tf.DType) -> tf.Tensor:
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
