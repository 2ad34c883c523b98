"""What an input_fn is told of the machine: params['context']."""

from __future__ import annotations

import dataclasses

from estimator_bridge.graph import host_device

__all__ = ["TPUContext"]


@dataclasses.dataclass(frozen=True)
class TPUContext:
    """Where an input_fn is called.

    Attributes:
      num_replicas: how many replicas the model runs on, over all hosts.
      num_hosts: how many hosts feed them.
      current_host: which of them calls this input_fn.
      invocation_index: the number of this call among all calls of the input_fn.
      total_invocations: how many calls there are.
    """

    num_replicas: int
    num_hosts: int = 1
    current_host: int = 0
    invocation_index: int = 0
    total_invocations: int = 1

    @property
    def num_of_replicas_per_host(self) -> int:
        """How many replicas a host feeds."""
        return self.num_replicas // self.num_hosts

    def current_input_fn_deployment(self) -> tuple[str, int, int, int]:
        """This call of the input_fn.

        Returns:
          The device that the input runs on, the number of this call, the number of calls, and
          the number of replicas that this call feeds.
        """
        fed = self.num_replicas // self.total_invocations
        return host_device(), self.invocation_index, self.total_invocations, fed
