"""tf.contrib.tpu: TPUEstimator and what TPU programs use beside it."""

from __future__ import annotations

import enum
from collections.abc import Mapping, Sequence
from typing import Any

import tensorflow as tf

from estimator_bridge.experimental import InMemoryEvaluatorHook
from estimator_bridge.keras.tpu_strategy import TPUDistributionStrategy
from estimator_bridge.legacy.missing import missing_getattr
from estimator_bridge.tensorflow_private import get_tpu_context as _get_tpu_context
from estimator_bridge.tensorflow_private import tpu_training_loop
from estimator_bridge.tpu import (
    CrossShardOptimizer,
    InputPipelineConfig,
    RunConfig,
    TPUConfig,
    TPUContext,
    TPUEstimator,
    TPUEstimatorSpec,
    all_to_all,
    batch_parallel,
    collective_permute,
    cross_replica_sum,
    initialize_system,
    replicate,
    rewrite,
    shard,
    shutdown_system,
)
from estimator_bridge.tpu.feed_ops import (
    InfeedQueue,
    infeed_dequeue,
    infeed_dequeue_tuple,
    infeed_enqueue,
    infeed_enqueue_tuple,
    outfeed_dequeue,
    outfeed_dequeue_tuple,
    outfeed_enqueue,
    outfeed_enqueue_tuple,
)
from estimator_bridge.training import AsyncCheckpointSaverHook

__all__ = [
    "AsyncCheckpointSaverHook",
    "CrossShardOptimizer",
    "DeviceAssignment",
    "ExportSavedModelApiVersion",
    "InfeedQueue",
    "InputPipelineConfig",
    "RunConfig",
    "TPUConfig",
    "TPUContext",
    "TPUDistributionStrategy",
    "TPUEstimator",
    "TPUEstimatorSpec",
    "TPUInMemoryEvalHook",
    "Topology",
    "all_to_all",
    "batch_parallel",
    "bfloat16_scope",
    "collective_permute",
    "core",
    "cross_replica_sum",
    "device_assignment",
    "export_estimator_savedmodel",
    "infeed_dequeue",
    "infeed_dequeue_tuple",
    "infeed_enqueue",
    "infeed_enqueue_tuple",
    "initialize_system",
    "keras_to_tpu_model",
    "outfeed_dequeue",
    "outfeed_dequeue_tuple",
    "outfeed_enqueue",
    "outfeed_enqueue_tuple",
    "outside_compilation",
    "repeat",
    "replicate",
    "rewrite",
    "shard",
    "shutdown_system",
    "while_loop",
]

_tpu = tf.compat.v1.tpu

DeviceAssignment = _tpu.experimental.DeviceAssignment
Topology = _tpu.experimental.Topology
bfloat16_scope = _tpu.bfloat16_scope
core = _tpu.core
get_tpu_context = _get_tpu_context  # of tf.contrib.tpu.python.tpu.tpu_function
outside_compilation = _tpu.outside_compilation
repeat = tpu_training_loop.repeat
while_loop = tpu_training_loop.while_loop


class ExportSavedModelApiVersion(enum.Enum):
    """What TPUEstimator's export_saved_model_api_version may be; one format is written."""

    V1 = 1
    V2 = 2


class TPUInMemoryEvalHook(InMemoryEvaluatorHook):
    """Evaluates a TPUEstimator while it trains, without a checkpoint.

    Args:
      estimator: that is trained, a TPUEstimator.
      input_fn: see ``TPUEstimator.evaluate``.
      steps: how many batches; None: all.
      hooks: SessionRunHooks, during evaluations.
      name: of the evaluation; its event files go to 'eval_NAME'.
      every_n_iter: training steps between evaluations, where the original counted loops.

    Raises:
      ValueError: the estimator is none of a TPU, or see ``InMemoryEvaluatorHook``.
    """

    def __init__(
        self,
        estimator: TPUEstimator,
        input_fn: Any,
        steps: int | None = None,
        hooks: Sequence[Any] | None = None,
        name: str | None = None,
        every_n_iter: int = 100,
    ):
        if not isinstance(estimator, TPUEstimator):
            raise ValueError(
                f"TPUInMemoryEvalHook is for a TPUEstimator; got {type(estimator).__name__}. Use "
                "tf.estimator.experimental.InMemoryEvaluatorHook."
            )
        super().__init__(estimator, input_fn, steps, hooks, name, every_n_iter)


def device_assignment(
    topology: Any,
    computation_shape: Sequence[int] | None = None,
    computation_stride: Sequence[int] | None = None,
    num_replicas: int = 1,
) -> Any:
    """Which cores make up which replica.

    Args:
      topology: of the TPU, as ``initialize_system`` returned it.
      computation_shape: how many cores a replica has in each dimension; one core by default.
      computation_stride: from one core of a replica to the next.
      num_replicas: how many replicas.

    Returns:
      A DeviceAssignment.
    """
    return DeviceAssignment.build(topology, computation_shape, computation_stride, num_replicas)


def export_estimator_savedmodel(
    estimator: Any,
    export_dir_base: str,
    serving_input_receiver_fn: Any,
    assets_extra: Mapping[str, str] | None = None,
    as_text: bool = False,
    checkpoint_path: str | None = None,
    strip_default_attrs: bool = False,
) -> bytes:
    """Exports an Estimator's model as TPUEstimator exports.

    Args:
      estimator: whose model_fn and checkpoints are taken; an Estimator or a TPUEstimator.
      export_dir_base: each export is a new folder in it.
      serving_input_receiver_fn: makes the inputs.
      assets_extra: further files to copy, by their new names.
      as_text: whether the model is written as text.
      checkpoint_path: by default the latest of the estimator's.
      strip_default_attrs: whether attributes that have their default value are left out.

    Returns:
      The new folder's path, as bytes.
    """
    exported = TPUEstimator(
        estimator._model_fn,
        config=RunConfig(model_dir=estimator.model_dir),
        params=estimator.params or None,
        use_tpu=False,
    )
    return exported.export_savedmodel(
        export_dir_base,
        serving_input_receiver_fn,
        assets_extra,
        as_text,
        checkpoint_path,
        strip_default_attrs,
    )


def keras_to_tpu_model(model: Any, strategy: Any = None) -> Any:
    """Puts a Keras model on the cores of a TPU.

    Args:
      model: functional or sequential, with inputs of known shapes; compiled or not yet.
      strategy: a TPUDistributionStrategy; by default that of this machine's TPU.

    Returns:
      A model of the same layers and weights, whose ``fit``, ``evaluate`` and ``predict`` run on
      the cores: see `estimator_bridge.keras.tpu_model`.
    """
    from estimator_bridge.keras.tpu_model import tpu_model  # it loads Keras, which takes a second

    return tpu_model(model, strategy)


tpu_model = keras_to_tpu_model  # of tf.contrib.tpu.python.tpu.keras_support

__getattr__ = missing_getattr(
    __name__,
    {
        "profiler": "is not there. Use tf.profiler.experimental.start(logdir) and stop(), or "
        "tf.estimator.ProfilerHook.",
    },
    "tf.contrib.tpu",
)
