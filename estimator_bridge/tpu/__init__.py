"""The names of tf.estimator.tpu, and others that TPU programs need.

Several hosts
-------------

One process drives all hosts of a TPU, and its functions run over all of them. ``runtime.hosts``
derives each host's replicas from the strategy's devices, and ``input_layout`` decides which host
calls ``input_fn`` for which replicas. Each call's dataset is serialized and made again on the host
that it feeds (``data.host_datasets``), its iterator is read there (``runtime.batch_source``), and
the batch is split there. The loop around the steps runs in the program's process, which receives
only the size of the next batch and the values for hooks and the host's part of a step. The loop
would carry a batch that was read ahead from step to step, and so through the program's process: 10
steps of 16 MB sent 770 MB over the network. So a dataset on a host gives with each batch the size
of the next one, and the batch is read in its own step: 0.6 MB. The program's process reads and
writes variables when it saves and restores.
"""

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
