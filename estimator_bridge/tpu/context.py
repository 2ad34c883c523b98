"""params['context'], the description of the machine for an input_fn and a model_fn."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import tensorflow as tf

__all__ = ["TPUContext"]


@dataclasses.dataclass(frozen=True)
class TPUContext:
    """A description of the machine and of one call of an input_fn or a model_fn.

    Attributes:
      num_replicas: the number of the model's replicas, over all hosts.
      num_hosts: the number of the TPU's hosts.
      host: the number of the host that calls this input_fn; ``current_host`` returns it.
      invocation_index: the number of this call among all calls of the input_fn.
      total_invocations: the number of calls of the input_fn.
      in_model_fn: whether a model_fn received this context; it is traced once for all replicas.
      job: the job name of the TPU's hosts; None if this process is the only one.
      assignment: the cores of each replica; None without ``num_cores_per_replica``.
    """

    num_replicas: int
    num_hosts: int = 1
    host: int = 0
    invocation_index: int = 0
    total_invocations: int = 1
    in_model_fn: bool = False
    job: str | None = None
    assignment: tf.tpu.experimental.DeviceAssignment | None = None

    @property
    def current_host(self) -> int:
        """The number of the host that calls this input_fn.

        Raises:
          RuntimeError: a model_fn reads this property.
        """
        self._check_in_input_fn("current_host")
        return self.host

    @property
    def num_of_replicas_per_host(self) -> int:
        """The number of replicas that a host feeds.

        Raises:
          ValueError: ``num_cores_per_replica`` is set, as in the original: hosts may then feed
            different numbers of replicas.
        """
        if self.assignment is not None:
            raise ValueError(
                "num_of_replicas_per_host is not supported for model_parallelism "
                "(TPUConfig.num_cores_per_replica). In an input_fn, "
                "current_input_fn_deployment()[3] is the number of replicas that the call feeds."
            )
        return self.num_replicas // self.num_hosts

    def current_input_fn_deployment(self) -> tuple[str, int, int, int]:
        """Returns the device of this call of the input_fn, its number and its share.

        Returns:
          The device that the input runs on, the number of this call, the number of calls, and
          the number of replicas that this call feeds.

        Raises:
          RuntimeError: a model_fn calls this method.
        """
        self._check_in_input_fn("current_input_fn_deployment")
        replica_count = self.num_replicas // self.total_invocations
        device = self.tpu_host_placement_function(self.host)
        return device, self.invocation_index, self.total_invocations, replica_count

    @property
    def tpu_host_placement_function(self) -> Callable[[int], str]:
        """A function that maps a host's number to its CPU's device."""

        def device_of(host_id: int) -> str:
            return f"{self._replica}/task:{host_id}/device:CPU:0"

        return device_of

    def device_for_replica(self, replica_id: int) -> tuple[str, int]:
        """Returns the core of a replica, or its first core if it has several.

        Args:
          replica_id: the number of the replica.

        Returns:
          The device of the replica's host, and the core's number on that host.

        Raises:
          ValueError: there is no such replica.
        """
        if not 0 <= replica_id < self.num_replicas:
            raise ValueError(
                f"replica_id must be at least 0 and below {self.num_replicas}, the number of "
                f"replicas. Got {replica_id}."
            )
        if self.assignment is not None:
            device = self.assignment.host_device(replica_id, job=self.job)
            return device, int(self.assignment.tpu_ordinal(replica_id))
        host, core = divmod(replica_id, self.num_of_replicas_per_host)
        job = f"/job:{self.job}" if self.job else ""
        return f"{job}/task:{host}/device:CPU:0", core

    @property
    def device_assignment(self) -> tf.tpu.experimental.DeviceAssignment | None:
        """The cores of each replica; None without ``num_cores_per_replica``.

        Raises:
          RuntimeError: an input_fn reads this property.
        """
        if not self.in_model_fn:
            raise RuntimeError(
                "This TPUContext instance must not be called from input_fn. Only a model_fn may "
                "read device_assignment; device_for_replica(i) works in both."
            )
        return self.assignment

    @property
    def _replica(self) -> str:
        # The original names a replica only if there is no job.
        return f"/job:{self.job}" if self.job else "/replica:0"

    def _check_in_input_fn(self, name: str) -> None:
        if self.in_model_fn:
            raise RuntimeError(
                "This TPUContext instance must not be called from model_fn. Its "
                f"{name} tells an input_fn which part of the data to read; "
                "num_replicas and num_hosts work in both."
            )
