"""Devices of this process that replace a TPU's cores: emulated CPU cores, or GPUs."""

from __future__ import annotations

import os
import re
import sys
from typing import Any

import tensorflow as tf

from estimator_bridge.base.jax_names import parse_jax_name
from estimator_bridge.base.tpu_presence import CORES, RUNTIME
from estimator_bridge.errors import AcceleratorNotFoundError, TooLateError
from estimator_bridge.runtime.on_jax.devices import jax_devices
from estimator_bridge.tensorflow_private.names import eager_mode

__all__ = [
    "EmulatedClusterResolver",
    "GPUClusterResolver",
    "JaxClusterResolver",
    "LocalClusterResolver",
    "cluster_for_any_tpu",
    "cores_for_any_tpu",
    "emulate_cores",
    "in_notebook",
    "local_devices",
    "parse_local",
]

_LOCAL = re.compile(r"(emulated|gpu):(.*)")
_JAX = re.compile(r"jax(:.*)?")


class LocalClusterResolver:
    """Devices of this process that replace TPU cores.

    Args:
      count: the number of devices; each is one replica.
    """

    kind, noun, in_process = "", "", True
    # As TensorFlow's resolvers say that no cluster manager started this process.
    environment, task_type, task_id, rpc_layer = "", None, None, None

    def __init__(self, count: int):
        self.cores = count

    def description(self) -> str:
        """Returns the devices in words, such as '8 emulated CPU core(s)'."""
        return f"{self.cores} {self.noun}"

    def master(
        self, task_type: str | None = None, task_id: int | None = None, rpc_layer: str | None = None
    ) -> str:
        """Returns the name, 'KIND:N', which ``RunConfig(master=)`` accepts too."""
        del task_type, task_id, rpc_layer
        return f"{self.kind}:{self.cores}"

    get_master = master

    def cluster_spec(self) -> tf.train.ClusterSpec:
        """Returns the devices as the only worker, for programs that print its address."""
        return tf.train.ClusterSpec({"worker": [self.master()]})

    def get_job_name(self) -> str:
        """Returns the name of the only worker's job."""
        return "worker"

    def get_tpu_system_metadata(self) -> tf.tpu.experimental.TPUSystemMetadata:
        """Returns the number of cores: all on one host."""
        return tf.tpu.experimental.TPUSystemMetadata(
            num_cores=self.cores,
            num_hosts=1,
            num_of_cores_per_host=self.cores,
            topology=None,
            devices=(),
        )

    def num_accelerators(
        self, task_type: str | None = None, task_id: int | None = None, config_proto: Any = None
    ) -> dict[str, int]:
        """Returns the number of devices, by the kind that they replace."""
        del task_type, task_id, config_proto
        return {"TPU": self.cores}


class EmulatedClusterResolver(LocalClusterResolver):
    """CPU cores that emulate TPU cores, for tests and small runs."""

    kind, noun = "emulated", "emulated CPU core(s)"


class GPUClusterResolver(LocalClusterResolver):
    """GPUs of this machine that run programs written for TPU cores."""

    kind, noun = "gpu", "GPU(s)"


class JaxClusterResolver(LocalClusterResolver):
    """Devices of JAX that run the steps of programs written for TPU cores.

    Args:
      name: 'jax', 'jax:N' or 'jax:cpu:N'; of several processes, the devices of each.

    Attributes:
      devices: JAX's devices, of all processes.
      processes: the processes; None if this is the only one.

    Raises:
      AcceleratorNotFoundError: JAX is missing or does not have these devices.
      ValueError: the name is none of these, or TF_CONFIG is wrong.
      WorkerError: other processes of TF_CONFIG did not come.
    """

    kind, noun = "jax", "device(s) of JAX"

    def __init__(self, name: str):
        parsed = parse_jax_name(name)
        if parsed is None:
            raise ValueError(f"{name!r} names no devices of JAX: it does not begin with 'jax'.")
        self.devices, self.processes = jax_devices(parsed)
        self._name = str(parsed)
        super().__init__(len(self.devices))

    def master(
        self, task_type: str | None = None, task_id: int | None = None, rpc_layer: str | None = None
    ) -> str:
        """Returns the name, which ``RunConfig(master=)`` accepts too."""
        del task_type, task_id, rpc_layer
        return self._name

    get_master = master

    def get_tpu_system_metadata(self) -> tf.tpu.experimental.TPUSystemMetadata:
        """Returns the number of devices and of the processes, which are hosts."""
        hosts = 1 if self.processes is None else len(self.processes.place.addresses)
        return (
            super()
            .get_tpu_system_metadata()
            ._replace(num_hosts=hosts, num_of_cores_per_host=self.cores // hosts)
        )


def cluster_for_any_tpu() -> LocalClusterResolver | None:
    """Returns the devices that replace any TPU; None if not configured.

    Raises:
      ValueError: the environment names no devices that could.
    """
    name = os.environ.get(RUNTIME, "").strip()
    cores = int(os.environ.get(CORES, "0"))
    if not name:
        return EmulatedClusterResolver(cores) if cores else None
    if cores:
        raise ValueError(
            f"{RUNTIME}={name} and {CORES}={cores} both replace any TPU. Set one of them."
        )
    if parse_jax_name(name) is None:
        raise ValueError(
            f"{RUNTIME} must be 'jax', 'jax:N' or 'jax:cpu:N'; got {name!r}. Leave it out to have "
            "TensorFlow run the steps."
        )
    return JaxClusterResolver(name)


def cores_for_any_tpu() -> int:
    """Returns the number of devices that replace any TPU's cores; 0 if not configured."""
    cluster = cluster_for_any_tpu()
    return cluster.cores if cluster else 0


def parse_local(name: str | None) -> LocalClusterResolver | None:
    """Returns the resolver of 'emulated:N', 'gpu:N' or 'jax...'; None for any other name.

    Raises:
      ValueError: N is not a positive whole number.
      AcceleratorNotFoundError: JAX does not have the devices.
    """
    if _JAX.fullmatch(name or ""):
        return JaxClusterResolver(str(name))
    match = _LOCAL.fullmatch(name or "")
    if not match:
        return None
    kind, count = match.groups()
    if not re.fullmatch(r"[1-9]\d*", count):
        raise ValueError(
            f"The number of {kind} {'cores' if kind == 'emulated' else 'devices'} in {name!r} must "
            f"be a positive whole number, got {count!r}. Write for example '{kind}:8'."
        )
    resolver = EmulatedClusterResolver if kind == "emulated" else GPUClusterResolver
    return resolver(int(count))


def local_devices(cluster: LocalClusterResolver) -> list[str]:
    """Returns the names of the devices that replace a TPU's cores, and makes emulated ones.

    Raises:
      TooLateError: TensorFlow has fixed its devices with fewer.
      AcceleratorNotFoundError: there are fewer GPUs.
    """
    find = emulate_cores if isinstance(cluster, EmulatedClusterResolver) else _gpus
    return find(cluster.cores)


def _gpus(count: int) -> list[str]:
    names = [device.name for device in tf.config.list_logical_devices("GPU")]
    if len(names) < count:
        raise AcceleratorNotFoundError(
            f"{count} GPU(s) were asked for by 'gpu:{count}', but TensorFlow sees {len(names)} "
            f"({names}). Check nvidia-smi and CUDA_VISIBLE_DEVICES, and that this TensorFlow is "
            "built for GPUs (pip install tensorflow[and-cuda]). JAX runs the steps on GPUs, too: "
            "pip install 'estimator-bridge[jax]' 'jax[cuda13]', and name them 'jax'. To run on CPU "
            "cores instead, name them: 'emulated:8'."
        )
    return names[:count]


def emulate_cores(cores: int) -> list[str]:
    """Makes the CPU at least ``cores`` logical devices.

    Returns:
      The names of the first ``cores`` of them.

    Raises:
      TooLateError: TensorFlow has already fixed its devices with fewer.
    """
    with eager_mode():
        physical = tf.config.list_physical_devices("CPU")[0]
        devices = tf.config.get_logical_device_configuration(physical) or ()
        core_count = max(len(devices), 1)
        if core_count < cores:
            try:
                tf.config.set_logical_device_configuration(
                    physical, [tf.config.LogicalDeviceConfiguration()] * cores
                )
            except RuntimeError as error:
                raise TooLateError(
                    f"{cores} emulated cores were asked for, but TensorFlow has already started "
                    f"with {core_count} CPU device(s), and cannot add any. "
                    + _how_to_be_early(cores)
                ) from error
        return [device.name for device in tf.config.list_logical_devices("CPU")[:cores]]


def _how_to_be_early(cores: int) -> str:
    call = f"estimator_bridge.runtime.emulate_cores({cores})"
    if in_notebook():
        return (
            f"Restart the kernel, and call {call} in the first cell, before the first TensorFlow "
            "operation runs."
        )
    return (
        "Ask for them before the first TensorFlow operation runs: make the "
        f"TPUClusterResolver('emulated:{cores}') and the TPUEstimator first, or call {call} at the "
        "program's top."
    )


def in_notebook() -> bool:
    """Whether the program runs in a notebook's kernel, where the process outlives a mistake."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    return getattr(shell, "kernel", None) is not None
