"""tf.estimator.tpu's names, and what TPU programs need beside them."""

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
from estimator_bridge.tpu.context import TPUContext
from estimator_bridge.tpu.estimator import TPUEstimator

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
    "collective_permute",
    "cross_replica_sum",
    "experimental",
]
