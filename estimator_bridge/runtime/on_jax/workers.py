"""The processes that run steps on JAX, with the interface of the workers of a training."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from estimator_bridge.graph import JoinFn, host_device
from estimator_bridge.runtime.collective_keys import CollectiveKeys
from estimator_bridge.runtime.deadlines import worker_secs
from estimator_bridge.runtime.on_jax.processes import JaxProcesses
from estimator_bridge.runtime.on_jax.program import with_x64
from estimator_bridge.runtime.on_jax.strategy import JaxStrategy
from estimator_bridge.runtime.replicas import join_replicas
from estimator_bridge.runtime.workers import Workers
from estimator_bridge.tensorflow_private.names import eager_mode

__all__ = ["JaxWorkers"]

_MOST_BYTES = 64 << 20  # that are sent at once
_FEWEST_BYTES = 1 << 10  # so that few programs are compiled for few sizes


class JaxWorkers(Workers):
    """All processes of a strategy on JAX.

    They agree on numbers and texts through JAX's coordinator, and send the first values of the
    variables from device to device.

    Args:
      strategy: the replicas of all processes.
      processes: the processes.

    Raises:
      ValueError: the environment variable of the timeout holds no number.
    """

    shares_programs = True

    def __init__(self, strategy: JaxStrategy, processes: JaxProcesses):
        self._processes = processes
        self.addresses, self.index = list(processes.place.addresses), processes.place.index
        self.last_step, self.timeout_secs = -1, worker_secs() or 0.0
        self.keys = CollectiveKeys()
        self._replicas = strategy.num_replicas_in_sync
        each = self._replicas // len(self.addresses)
        self._first_devices = strategy.jax_devices[::each]

    @property
    def name(self) -> str:
        """The name of this process in messages."""
        return self._processes.place.name

    def largest(self, values: Sequence[int], timeout_secs: float = 0) -> list[int]:
        """Returns the elementwise maximum of all processes' values."""
        texts = self._processes.exchange(
            json.dumps([int(value) for value in values]), timeout_secs or self.timeout_secs
        )
        return [max(column) for column in zip(*map(json.loads, texts))]

    def texts(self, text: str) -> list[str]:
        """Returns the texts of all processes, in their order."""
        return self._processes.exchange(text, self.timeout_secs)

    def copy_from_chief(self, variables: Sequence[Sequence[tf.Variable]]) -> None:
        """Assigns the chief's values to variables."""
        sent = [copies for copies in variables if copies[0].dtype != tf.string]
        with eager_mode(), tf.device(host_device()):
            values = [np.asarray(copies[0].read_value()) for copies in sent]
            content = b"".join(value.tobytes() for value in values)
            content = b"".join(self._parts_of_chief(content))
            start = 0
            for copies, value in zip(sent, values):
                part = content[start : start + value.nbytes]
                start += value.nbytes
                for copy in copies:
                    copy.assign(np.frombuffer(part, value.dtype).reshape(value.shape))

    def join(self, graph: tf.Graph, sums: Sequence[str]) -> JoinFn:
        """Returns a function that adds over the replicas; JAX's program has all of them."""
        del graph, sums
        return join_replicas

    def silent_addresses(self) -> list[str]:
        """Returns the addresses of the processes that ended or are out of reach."""
        return self._processes.peers.lost_addresses

    def tell_failure(self, text: str) -> None:
        """Tells the other processes, who wait for this one, that its program failed."""
        self._processes.tell_failure(text)

    def _parts_of_chief(self, content: bytes) -> Iterator[bytes]:
        """Yields the parts of the chief's content, given one of the same size."""
        for start in range(0, len(content), _MOST_BYTES):
            part = content[start : start + _MOST_BYTES]
            size = max(_FEWEST_BYTES, 1 << (len(part) - 1).bit_length())
            words = np.zeros(size // 4, np.int32)
            if self.is_chief:
                words.view(np.uint8)[: len(part)] = np.frombuffer(part, np.uint8)
            yield self._sum(words).view(np.uint8)[: len(part)].tobytes()

    def _sum(self, words: np.ndarray) -> np.ndarray:
        """Returns the sum of the processes' arrays."""
        import jax
        from jax.sharding import Mesh, NamedSharding, PartitionSpec

        mesh = Mesh(np.array(self._first_devices), ("processes",))
        split, whole = (NamedSharding(mesh, PartitionSpec(*axes)) for axes in (["processes"], []))
        with with_x64():
            rows = jax.make_array_from_process_local_data(split, words[None])
            total: Any = jax.jit(_add_rows, out_shardings=whole)(rows)
            self._processes.wait([total])
            return np.asarray(total.addressable_data(0))


def _add_rows(rows: Any) -> Any:
    return rows.sum(0, dtype=rows.dtype)
