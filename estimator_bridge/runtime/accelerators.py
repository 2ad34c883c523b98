"""Resolves the accelerator that a program names: a TPU, or CPU cores or GPUs instead of one."""

from __future__ import annotations

import contextlib
import os
import re
import socket
import sys
from collections.abc import Iterator
from typing import Any

import tensorflow as tf

from estimator_bridge.errors import AcceleratorNotFoundError, TooLateError
from estimator_bridge.redaction import redacted
from estimator_bridge.runtime.deadlines import problem_at
from estimator_bridge.tensorflow_private import eager_mode
from estimator_bridge.tpu_presence import CORES, default_tpu_name, find_tpu

__all__ = [
    "ON_CORES",
    "EmulatedClusterResolver",
    "GPUClusterResolver",
    "LocalClusterResolver",
    "NoTPUClusterResolver",
    "TPUClusterResolver",
    "bounded_waits",
    "check_reachable",
    "cores_for_any_tpu",
    "emulate_cores",
    "in_notebook",
    "parse_local",
    "tpu_present",
]

_LOCAL = re.compile(r"(emulated|gpu):(.*)")
_ADDRESS = re.compile(r"grpc://\[?(?P<host>[^/]+?)\]?:(?P<port>\d+)/?")
_PATIENCE = 10.0  # seconds
# The end of each error about a missing TPU.
ON_CORES = (
    "To run on CPU cores instead, name them: 'emulated:8' (--tpu=emulated:8), or start the program "
    "by `estimator-bridge run --cores 8 ...`."
)


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

    def described(self) -> str:
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


class NoTPUClusterResolver(tf.distribute.cluster_resolver.SimpleClusterResolver):
    """The resolver of a machine without a TPU; its master is ''."""

    def __init__(self) -> None:
        super().__init__(tf.train.ClusterSpec({}))

    def get_master(self) -> str:
        """Returns the master, by TensorFlow 1's name."""
        return self.master()

    def get_job_name(self) -> None:
        """Returns no job of TPU workers."""

    def num_accelerators(
        self, task_type: str | None = None, task_id: int | None = None, config_proto: Any = None
    ) -> dict[str, int]:
        """Returns no TPU cores."""
        del task_type, task_id, config_proto
        return {}


def cores_for_any_tpu() -> int:
    """Returns the number of emulated cores that replace any TPU; 0 if not configured."""
    return int(os.environ.get(CORES, "0"))


def parse_local(name: str | None) -> LocalClusterResolver | None:
    """Returns the resolver of 'emulated:N' or 'gpu:N'; None for any other name.

    Raises:
      ValueError: N is not a positive whole number.
    """
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


def TPUClusterResolver(
    tpu: Any = None, zone: str | None = None, project: str | None = None, **kwargs: Any
) -> tf.distribute.cluster_resolver.ClusterResolver:
    """Returns TensorFlow's TPUClusterResolver for a TPU, or devices that replace its cores.

    Args:
      tpu: a TPU's name or address ('grpc://...'), 'local' for the TPU of this machine, or
        'emulated:N' (CPU cores) or 'gpu:N' (GPUs of this machine). None and '' use the TPU that
        the environment names, or the cores of `estimator-bridge run --cores`. Without either the
        result is None, which TF1 programs read as "no TPU".
      zone: the zone of the named TPU.
      project: the project of the named TPU.
      **kwargs: other arguments of TensorFlow's class.

    Returns:
      A resolver, or None: no TPU.

    Raises:
      AcceleratorNotFoundError: a TPU was named that cannot be found.
      ValueError: 'emulated:N' or 'gpu:N' with an N that is not a positive number.
    """
    if not tpu and not tpu_present() and not cores_for_any_tpu():
        return None
    named = tpu or default_tpu_name(os.environ)
    local = parse_local(named) if isinstance(named, str) else None
    if not local and cores_for_any_tpu():
        local = EmulatedClusterResolver(cores_for_any_tpu())
    if local:
        # The module imports this one. The program may go on to tf.distribute.TPUStrategy.
        from estimator_bridge.runtime.tpu_api import make_tpu_api_know_cores

        make_tpu_api_know_cores()
        return local
    tpu = named
    resolver = tf.distribute.cluster_resolver.TPUClusterResolver
    # legacy.install() replaces it with one that calls this function.
    resolver = getattr(resolver, "of_tensorflow", resolver)
    try:
        with bounded_waits():
            return resolver(tpu, zone=zone, project=project, **kwargs)
    except Exception as error:  # it raises a dozen kinds, from the metadata service and below
        raise _not_found(tpu, error) from error


@contextlib.contextmanager
def bounded_waits() -> Iterator[None]:
    """Gives a deadline to network calls that have none.

    TensorFlow asks the cloud's metadata service and its TPU API with the process's default
    timeout, which is unlimited if the network drops packets.
    """
    before = socket.getdefaulttimeout()
    socket.setdefaulttimeout(before or _PATIENCE)
    try:
        yield
    finally:
        socket.setdefaulttimeout(before)


def check_reachable(master: str) -> None:
    """Checks that a TPU's address answers: TensorFlow itself would wait indefinitely.

    Args:
      master: 'grpc://host:port'; other values name no address and are not tried.

    Raises:
      AcceleratorNotFoundError: nothing answers there.
    """
    address = _ADDRESS.fullmatch(master)
    if not address:
        return
    problem = problem_at(address["host"], int(address["port"]), _PATIENCE)
    if problem:
        raise _not_found(master, problem)


def _not_found(tpu: Any, reason: Any) -> AcceleratorNotFoundError:
    return AcceleratorNotFoundError(
        f"No TPU {redacted(str(tpu))!r} was found: "
        f"{redacted(str(reason).strip()) or type(reason).__name__}\n"
        f"Check the name, zone and project, and that this machine can reach it. {ON_CORES}"
    )


def tpu_present() -> bool:
    """Whether this machine has a TPU, or its environment names one."""
    return find_tpu(os.environ) is not None


def emulate_cores(cores: int) -> list[str]:
    """Makes the CPU at least ``cores`` logical devices.

    Returns:
      The names of the first ``cores`` of them.

    Raises:
      TooLateError: TensorFlow has already fixed its devices with fewer.
    """
    with eager_mode():
        physical = tf.config.list_physical_devices("CPU")[0]
        configured = tf.config.get_logical_device_configuration(physical) or ()
        if len(configured) < cores:
            try:
                tf.config.set_logical_device_configuration(
                    physical, [tf.config.LogicalDeviceConfiguration()] * cores
                )
            except RuntimeError as error:
                raise TooLateError(
                    f"{cores} emulated cores were asked for, but TensorFlow has already started "
                    f"with {max(len(configured), 1)} CPU device(s), and cannot add any. "
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
