"""What an input_fn and a model_fn are told of the machine: params['context']."""

from __future__ import annotations

import dataclasses

__all__ = ["TPUContext"]


@dataclasses.dataclass(frozen=True)
class TPUContext:
    """Where an input_fn or a model_fn is called.

    Attributes:
      num_replicas: how many replicas the model runs on, over all hosts.
      num_hosts: how many hosts feed them.
      current_host: which of them calls this input_fn.
      invocation_index: the number of this call among all calls of the input_fn.
      total_invocations: how many calls there are.
      in_model_fn: whether a model_fn was given it, which is traced for all replicas at once.
    """

    num_replicas: int
    num_hosts: int = 1
    current_host: int = 0
    invocation_index: int = 0
    total_invocations: int = 1
    in_model_fn: bool = False

    @property
    def num_of_replicas_per_host(self) -> int:
        """How many replicas a host feeds."""
        return self.num_replicas // self.num_hosts

    def current_input_fn_deployment(self) -> tuple[str, int, int, int]:
        """This call of the input_fn.

        Returns:
          The device that the input runs on, the number of this call, the number of calls, and
          the number of replicas that this call feeds.

        Raises:
          RuntimeError: a model_fn asks, which is no call of an input_fn.
        """
        if self.in_model_fn:
            raise RuntimeError(
                "This TPUContext instance must not be called from model_fn. Its "
                "current_input_fn_deployment tells an input_fn which part of the data to read; "
                "num_replicas and num_hosts are there for both."
            )
        fed = self.num_replicas // self.total_invocations
        device = f"/replica:0/task:{self.current_host}/device:CPU:0"
        return device, self.invocation_index, self.total_invocations, fed

    def device_for_replica(self, replica_id: int) -> tuple[str, int]:
        """Which core a replica runs on.

        Returns:
          The device of its host, and the core's number on that host.
        """
        if not 0 <= replica_id < self.num_replicas:
            raise ValueError(
                f"replica_id must be at least 0 and below {self.num_replicas}, the number of "
                f"replicas. Got {replica_id}."
            )
        host, core = divmod(replica_id, self.num_of_replicas_per_host)
        return f"/task:{host}/device:CPU:0", core

    @property
    def device_assignment(self) -> None:
        """None: how a model is split over cores, and no model is (one core a replica).

        Raises:
          RuntimeError: an input_fn asks.
        """
        if not self.in_model_fn:
            raise RuntimeError(
                "This TPUContext instance must not be called from input_fn. Its device_assignment "
                "is model_fn's to ask for; device_for_replica(i) is there for both."
            )
