"""Where steps run: accelerators, strategies, emulated cores, compiled loops."""

from estimator_bridge.runtime.accelerators import (
    EmulatedClusterResolver,
    GPUClusterResolver,
    TPUClusterResolver,
    emulate_cores,
    parse_local,
    tpu_present,
)
from estimator_bridge.runtime.loop import LoopResult, StepLoop
from estimator_bridge.runtime.step import HostStage, ReplicaStep
from estimator_bridge.runtime.strategies import default_strategy, tpu_strategy

__all__ = [
    "EmulatedClusterResolver",
    "GPUClusterResolver",
    "HostStage",
    "LoopResult",
    "ReplicaStep",
    "StepLoop",
    "TPUClusterResolver",
    "default_strategy",
    "emulate_cores",
    "parse_local",
    "tpu_present",
    "tpu_strategy",
]
