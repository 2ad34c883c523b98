"""Where steps run: accelerators, strategies, emulated cores, compiled loops."""

from estimator_bridge.runtime.accelerators import TPUClusterResolver, tpu_present
from estimator_bridge.runtime.cluster import connect_workers, multi_worker_strategy
from estimator_bridge.runtime.hosts import Host, hosts_of
from estimator_bridge.runtime.local_clusters import (
    EmulatedClusterResolver,
    GPUClusterResolver,
    cores_for_any_tpu,
    emulate_cores,
    parse_local,
)
from estimator_bridge.runtime.loop import StepLoop, is_on_jax, step_loop
from estimator_bridge.runtime.replicas import BatchLayout
from estimator_bridge.runtime.step import ReplicaStep
from estimator_bridge.runtime.step_outputs import StepOutputs
from estimator_bridge.runtime.step_values import HostStage, LoopRequest, LoopResult, Step
from estimator_bridge.runtime.strategies import default_strategy, tpu_strategy
from estimator_bridge.runtime.workers import Workers, local_replicas, workers_of

__all__ = [
    "BatchLayout",
    "EmulatedClusterResolver",
    "GPUClusterResolver",
    "Host",
    "HostStage",
    "LoopRequest",
    "LoopResult",
    "ReplicaStep",
    "Step",
    "StepLoop",
    "StepOutputs",
    "TPUClusterResolver",
    "Workers",
    "connect_workers",
    "cores_for_any_tpu",
    "default_strategy",
    "emulate_cores",
    "hosts_of",
    "is_on_jax",
    "local_replicas",
    "multi_worker_strategy",
    "parse_local",
    "step_loop",
    "tpu_present",
    "tpu_strategy",
    "workers_of",
]


def __dir__() -> list[str]:
    return sorted(__all__)
