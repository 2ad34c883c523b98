"""The variables' values on JAX's devices, between the steps."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from estimator_bridge.graph import Resources, host_device
from estimator_bridge.runtime.on_jax.program import on_devices
from estimator_bridge.tensorflow_private.names import eager_mode

__all__ = ["JaxValues"]


class JaxValues:
    """Arrays of all replicas by variable, and which of them are newer than TensorFlow's variables.

    Steps update the arrays; sessions, savers and the host's part of a step use the variables. Each
    side's values reach the other when it needs them. Each device has its own copy: like the copies
    on a TPU's cores, they may differ, and sessions see the first replica's. Of a variable that is
    declared local to a replica (``graph/replica_local.py``), they see the sum or the mean.

    Args:
      sharding: the sharding of an array that every device has whole.
    """

    def __init__(self, sharding: Any):
        self._sharding = sharding
        self._arrays: dict[str, Any] = {}
        self._newer: set[str] = set()
        self._lock = threading.RLock()  # threads of queues run sessions too

    def run(
        self,
        step: Callable[[Sequence[Any], Sequence[Any]], tuple[Any, Sequence[Any]]],
        fixed: Sequence[str],
        updated: Sequence[str],
        resources: Resources,
    ) -> Any:
        """Calls a function of the arrays, and keeps those that it returns.

        Args:
          step: returns a result and the new arrays, given those it reads and those it updates.
          fixed: the variables that it reads.
          updated: the variables that it updates; it may reuse their memory.
          resources: the variables.

        Returns:
          Its result.
        """
        with self._lock:
            self._upload([*fixed, *updated], resources)
            arrays = self._arrays
            result, new = step([arrays[n] for n in fixed], [arrays[n] for n in updated])
            arrays.update(zip(updated, new))
            self._newer.update(updated)
        return result

    def sizes(self) -> dict[str, int]:
        """Returns the bytes of each variable on a device."""
        with self._lock:
            return {name: int(array.nbytes) for name, array in self._arrays.items()}

    def number(self, name: str, resources: Resources) -> int:
        """Returns the value of an integer variable."""
        with self._lock:
            if name in self._newer:
                return int(_first(self._arrays[name]))
        with eager_mode(), tf.device(host_device()):
            return int(resources.first_copy(name).read_value())

    def bring(self, names: Iterable[str], resources: Resources) -> None:
        """Assigns newer values of the devices to the variables of these names.

        Raises:
          RuntimeError: a step has failed, and the values are lost.
        """
        stale = self._newer.intersection(names)
        if not stale:
            return
        with self._lock, eager_mode(), tf.device(host_device()):
            for name in sorted(stale & self._newer):
                if self._arrays[name].is_deleted():
                    raise RuntimeError(
                        f"The value of {name!r} was lost when a step failed on JAX's devices: its "
                        "memory was the step's. Start again from the last checkpoint."
                    )
                # A copy: the array's memory is the next step's.
                resources.first_copy(name).assign(np.array(_first(self._arrays[name])))
                if resources.wholes.get(name) is not None:
                    resources.wholes.settle(name, tf.add_n(_each(self._arrays[name])))
                self._newer.discard(name)

    def each(self, name: str) -> list[np.ndarray] | None:
        """Returns a variable's value on each device of this process; None if there is none."""
        with self._lock:
            return _each(self._arrays[name]) if name in self._arrays else None

    def drop(self, names: Iterable[str]) -> None:
        """Forgets the devices' values of variables that were assigned here."""
        with self._lock:
            for name in names:
                self._arrays.pop(name, None)
                self._newer.discard(name)

    def clear(self) -> None:
        """Forgets all."""
        with self._lock:
            self._arrays.clear()
            self._newer.clear()

    def _upload(self, names: Sequence[str], resources: Resources) -> None:
        missing = [name for name in names if name not in self._arrays]
        if not missing:
            return
        with eager_mode(), tf.device(host_device()):
            # A copy: JAX may use the memory of what it gets, and TensorFlow assigns in place.
            for name in missing:
                whole = resources.wholes.get(name) is not None
                first = resources.inputs.draw_counters.first(name)
                parts = resources.wholes.parts(name) if whole else [] if first is None else first
                if len(parts):
                    self._arrays[name] = self._of_parts(list(map(np.array, parts)))
                else:
                    value = np.array(resources.first_copy(name).read_value())
                    self._arrays[name] = on_devices(value, self._sharding)

    def _of_parts(self, parts: Sequence[np.ndarray]) -> Any:
        """Returns an array of which each device has its own value."""
        import jax

        each = [jax.device_put(*pair) for pair in zip(parts, _own_devices(self._sharding))]
        return jax.make_array_from_single_device_arrays(parts[0].shape, self._sharding, each)


def _each(array: Any) -> list[np.ndarray]:
    """Returns copies of the devices' values, the first replica's first."""
    by_device = {shard.device: shard.data for shard in array.addressable_shards}
    return [np.array(by_device[device]) for device in _own_devices(array.sharding)]


def _own_devices(sharding: Any) -> list[Any]:
    """Returns the devices of this process, in the order of the replicas."""
    devices = sharding.mesh.devices.flat
    return [one for one in devices if one in sharding.addressable_devices]


def _first(array: Any) -> np.ndarray:
    """Returns the first device's copy, without copying it."""
    return np.asarray(array.addressable_data(0))
