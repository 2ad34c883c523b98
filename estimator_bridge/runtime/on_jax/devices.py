"""Finds the devices of JAX that a program names; loads JAX."""

from __future__ import annotations

import importlib
import importlib.metadata
import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from estimator_bridge.base.jax_names import JaxName
from estimator_bridge.errors import AcceleratorNotFoundError, TooLateError, WorkerError
from estimator_bridge.runtime.on_jax.processes import JaxProcesses, meet

__all__ = ["JaxDevices", "jax_devices"]

_OLDEST, _NEWEST = (0, 10, 2), (0, 10)  # what was tested; private names are used
_FEWEST_CPUS = 8  # JAX fixes their number at its start; unused ones cost nothing
_INSTALL = "pip install 'estimator-bridge[jax]'; for a TPU 'jax[tpu]', for a GPU 'jax[cuda13]'"


class JaxDevices(NamedTuple):
    """The devices that run steps.

    Attributes:
      all: those of all processes, in the order of the processes.
      processes: the processes; None if this is the only one.
    """

    all: Sequence[Any]
    processes: JaxProcesses | None


def jax_devices(name: JaxName) -> JaxDevices:
    """Returns JAX's devices, and loads JAX. Of several processes, each gives those of the name.

    Raises:
      AcceleratorNotFoundError: JAX is not installed or of another release, or has fewer devices,
        or only CPUs where a device was asked for.
      TooLateError: JAX has already started with fewer CPU devices, or alone.
      ValueError: TF_CONFIG is wrong.
      WorkerError: other processes did not come, or have another number of devices.
    """
    jax = _import_jax(name)
    processes = meet(jax, str(name), name.on_cpu)
    devices = _own_and_others(jax, name)
    return JaxDevices(devices if processes is None else _of_each(devices, name), processes)


def _of_each(devices: Sequence[Any], name: JaxName) -> Sequence[Any]:
    """Returns the same number of devices of each process, in the order of the processes."""
    by_process: dict[int, list[Any]] = {}
    for device in devices:
        by_process.setdefault(device.process_index, []).append(device)
    counts = {process: len(of_one) for process, of_one in sorted(by_process.items())}
    fewest = min(counts.values())
    if name.count is None and fewest != max(counts.values()):
        raise WorkerError(
            f"{str(name)!r} means all devices of each process, and their numbers differ: "
            + ", ".join(f"process {process} has {count}" for process, count in counts.items())
            + f". Write 'jax:{fewest}' in each, or give each machine as many."
        )
    if name.count and fewest < name.count:
        raise AcceleratorNotFoundError(
            f"{name.count} devices of each process were asked for by {str(name)!r}, but JAX sees "
            + ", ".join(f"{count} of process {process}" for process, count in counts.items())
            + "."
        )
    return [device for process in counts for device in by_process[process][: name.count]]


def _own_and_others(jax: Any, name: JaxName) -> Sequence[Any]:
    if name.on_cpu:
        return _cpus(jax, name)
    try:
        devices = jax.devices()
    except RuntimeError as error:
        raise AcceleratorNotFoundError(f"{str(name)!r}: JAX cannot start: {error}") from error
    if devices[0].platform == "cpu":
        raise AcceleratorNotFoundError(
            f"{str(name)!r} means JAX's accelerators, and JAX {jax.__version__} sees only the CPU "
            "here. Check the driver, JAX_PLATFORMS, and that this JAX is built for the device "
            f"({_INSTALL}). For tests on CPU devices write 'jax:cpu:{name.count or 8}'."
        )
    if jax.process_count() > 1:
        return devices
    if name.count and len(devices) < name.count:
        raise AcceleratorNotFoundError(
            f"{name.count} devices were asked for by {str(name)!r}, but JAX sees {len(devices)}: "
            f"{', '.join(map(str, devices))}."
        )
    return devices[: name.count]


def _import_jax(name: JaxName) -> Any:
    try:
        version = importlib.metadata.version("jax")
        jax = importlib.import_module("jax")
    except ImportError as error:
        raise AcceleratorNotFoundError(
            f"{str(name)!r} runs steps on JAX, which cannot be imported here: {error}. {_INSTALL}."
        ) from error
    release = tuple(map(int, re.findall(r"\d+", version)[:3]))
    if not (release >= _OLDEST and release[:2] <= _NEWEST):
        raise AcceleratorNotFoundError(
            f"{str(name)!r}: JAX {version} is installed, and steps run on JAX "
            f"{'.'.join(map(str, _OLDEST))} to {'.'.join(map(str, _NEWEST))}.x only. {_INSTALL}."
        )
    return jax


def _cpus(jax: Any, name: JaxName) -> Sequence[Any]:
    count = name.count or 1
    try:
        jax.config.update("jax_num_cpu_devices", max(count, _FEWEST_CPUS))
        # JAX would look for accelerators too, and wait for some that are not there.
        jax.config.update("jax_platforms", "cpu")
    except RuntimeError:  # JAX has started
        pass
    devices = jax.devices("cpu")
    if jax.process_count() > 1:
        return devices
    if len(devices) < count:
        raise TooLateError(
            f"{count} CPU devices were asked for by {str(name)!r}, but JAX has already started "
            f"with {len(devices)}. Make the TPUEstimator before the first JAX operation runs, or "
            f'call jax.config.update("jax_num_cpu_devices", {count}) at the program\'s top.'
        )
    return devices[:count]
