"""The names of tf.estimator.tpu, and others that TPU programs need."""

import tensorflow as tf

from estimator_bridge.model import (
    CrossShardOptimizer,
    InputPipelineConfig,
    TPUConfig,
    TPUEstimatorSpec,
    all_to_all,
    collective_permute,
    cross_replica_sum,
)
from estimator_bridge.model import TPURunConfig as RunConfig
from estimator_bridge.runtime import TPUClusterResolver
from estimator_bridge.tpu import experimental
from estimator_bridge.tpu.computations import batch_parallel, replicate, rewrite, shard
from estimator_bridge.tpu.context import TPUContext
from estimator_bridge.tpu.estimator import TPUEstimator
from estimator_bridge.tpu.system import initialize_system, shutdown_system

core = tf.compat.v1.tpu.core
outside_compilation = tf.compat.v1.tpu.outside_compilation

__all__ = [
    "CrossShardOptimizer",
    "InputPipelineConfig",
    "RunConfig",
    "TPUClusterResolver",
    "TPUConfig",
    "TPUContext",
    "TPUEstimator",
    "TPUEstimatorSpec",
    "all_to_all",
    "batch_parallel",
    "collective_permute",
    "core",
    "cross_replica_sum",
    "experimental",
    "initialize_system",
    "outside_compilation",
    "replicate",
    "rewrite",
    "shard",
    "shutdown_system",
]


def __dir__() -> list[str]:
    return sorted(__all__)
