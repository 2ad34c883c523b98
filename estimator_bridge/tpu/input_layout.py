"""The calls of an input_fn: their hosts, their number, and the replicas that they feed."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import tensorflow as tf

from estimator_bridge.errors import NotOnJaxError
from estimator_bridge.model import InputPipelineConfig, ModeKeys
from estimator_bridge.model.tpu_config import TPUConfig
from estimator_bridge.runtime import Host, hosts_of
from estimator_bridge.runtime.hosts import own_host_of
from estimator_bridge.runtime.topology import assign_cores, topology_of
from estimator_bridge.tensorflow_private.strategies import device_assignment, tpu_metadata
from estimator_bridge.tpu.context import TPUContext

__all__ = ["Feeding", "InputCall", "Layout"]


@dataclasses.dataclass(frozen=True)
class InputCall:
    """One call of an input_fn.

    Attributes:
      batch_size: the value of ``params['batch_size']``: the size of the batch that this call
        returns.
      context: the value of ``params['context']``.
    """

    batch_size: int
    context: TPUContext


@dataclasses.dataclass(frozen=True)
class Feeding:
    """The feeding of one host's replicas.

    Attributes:
      host: the host and the replicas that it feeds.
      calls: the calls of the input_fn: one for all these replicas, or one for each.
      batch_size: the size of the batch that is split over these replicas, or that each receives.
    """

    host: Host
    calls: tuple[InputCall, ...]
    batch_size: int


class Layout:
    """The replicas of a TPU, and the hosts that feed them.

    Args:
      strategy: the strategy of the replicas.
      config: the estimator's TPUConfig.
    """

    def __init__(self, strategy: tf.distribute.Strategy, config: TPUConfig):
        self.replicas = strategy.num_replicas_in_sync
        self.hosts = hosts_of(strategy)
        metadata = tpu_metadata(strategy)
        self._own_host = own_host_of(strategy)
        self._num_hosts = metadata.num_hosts if metadata else len(self.hosts)
        self._cores_of_host = metadata.num_of_cores_per_host if metadata else None
        self._job = _job(self.hosts)
        self._assignment = device_assignment(strategy)
        cores = self._cores = config.num_cores_per_replica
        if cores and self._assignment is None:  # for emulated cores
            self._assignment = assign_cores(topology_of(self.replicas * cores), cores)

    @property
    def for_model(self) -> TPUContext:
        """The context that a model_fn receives."""
        return self._context(0, 0, 1, in_model_fn=True)

    def check(self, mode: str, pipeline: int, is_sliced: bool) -> None:
        """Checks that the hosts can feed a mode, by the original's rules.

        Raises:
          ValueError: a replica has more cores than a host; or several hosts would each evaluate or
            predict all examples, or a part of them in an undefined order.
          NotOnJaxError: several processes on JAX would each read the batch that all replicas get.
        """
        if self._own_host is not None and pipeline == InputPipelineConfig.BROADCAST:
            raise NotOnJaxError(
                "per_host_input_for_training=BROADCAST gives every replica the batch of the first "
                "host, and each process on JAX reads its own. Set it to "
                "InputPipelineConfig.PER_HOST_V1, or run one process."
            )
        if (
            self._cores
            and self._cores_of_host
            and self._cores > self._cores_of_host
            and pipeline != InputPipelineConfig.PER_HOST_V2
        ):
            raise ValueError(
                "Except the PER_HOST_V2 mode, the num of cores required by model parallelism "
                "specified by TPUConfig.num_cores_per_replica should be less than or equal to the "
                f"num_cores_per_host. num_cores_per_replica: {self._cores}, num_cores_per_host: "
                f"{self._cores_of_host}. Set per_host_input_for_training="
                "InputPipelineConfig.PER_HOST_V2."
            )
        several = self._num_hosts > 1
        is_one = is_sliced or pipeline == InputPipelineConfig.BROADCAST
        per_core = pipeline == InputPipelineConfig.PER_HOST_V2
        if mode == ModeKeys.TRAIN or is_one or not several:
            return
        numbers = f"mode: {pipeline}; num_hosts: {self._num_hosts}; num_replicas: {self.replicas}"
        mend = (
            "Give TPUConfig eval_training_input_configuration=InputPipelineConfig.SLICED: "
            "input_fn is then called once, for the global batch, which is split over all cores."
        )
        if mode == ModeKeys.EVAL and not per_core:
            raise ValueError(
                "TPUEstimator.evaluate is only supported under three conditions: 1. num_hosts=1; "
                f"2. BROADCAST mode; 3. PER_HOST_V2 mode (or SLICED). {numbers}. {mend}"
            )
        if mode == ModeKeys.PREDICT and not (per_core and self.replicas == 1):
            raise ValueError(
                "TPUEstimator.predict is only supported under three conditions: 1. num_hosts=1; "
                "2. BROADCAST mode; 3. PER_HOST_V2 mode with num_replicas=1 (or SLICED). "
                f"{numbers}. {mend}"
            )

    def feedings(
        self, mode: str, pipeline: int, is_sliced: bool, batch_size: int
    ) -> tuple[Feeding, ...]:
        """Returns the calls of the input_fn, by host; of processes on JAX, for this one alone.

        Args:
          mode: one of ModeKeys.
          pipeline: a value of InputPipelineConfig.
          is_sliced: whether one call returns the global batch, which is split over all replicas.
          batch_size: the global batch size.
        """
        each = batch_size // self.replicas
        if is_sliced or pipeline == InputPipelineConfig.BROADCAST:
            first = self.hosts[0]
            everyone = Host(first.device, tuple(range(self.replicas)), first.number)
            call = InputCall(batch_size, self._context(0, 0, 1))
            return (Feeding(everyone, (call,), batch_size),)
        is_per_core = pipeline == InputPipelineConfig.PER_SHARD_V1 and mode == ModeKeys.TRAIN
        total = self.replicas if is_per_core else len(self.hosts)
        feedings, calls_before = [], 0
        for host in self.hosts:
            count = len(host.replicas)
            calls = count if is_per_core else 1
            size = each if is_per_core or pipeline == InputPipelineConfig.PER_HOST_V2 else None
            if self._own_host in (None, host.number):
                feedings.append(
                    Feeding(
                        host,
                        tuple(
                            InputCall(
                                size or each * count,
                                self._context(host.number, calls_before + i, total),
                            )
                            for i in range(calls)
                        ),
                        each * count,
                    )
                )
            calls_before += calls
        return tuple(feedings)

    def _context(self, host: int, index: int, total: int, in_model_fn: bool = False) -> TPUContext:
        return TPUContext(
            self.replicas,
            self._num_hosts,
            host,
            index,
            total,
            in_model_fn,
            self._job,
            self._assignment,
        )


def _job(hosts: Sequence[Host]) -> str | None:
    """Returns the job of a TPU's hosts; None for this machine's own devices."""
    job = tf.DeviceSpec.from_string(hosts[0].device).job
    return None if job == "localhost" else job
