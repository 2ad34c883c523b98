"""tf.contrib.tpu: TPUEstimator and what TPU programs use beside it."""

from __future__ import annotations

import enum
from collections.abc import Mapping, Sequence
from typing import Any

import tensorflow as tf

from estimator_bridge.experimental import InMemoryEvaluatorHook
from estimator_bridge.legacy.contrib.namespaces import NAMESPACES
from estimator_bridge.tensorflow_private import get_tpu_context as _get_tpu_context
from estimator_bridge.tpu import (
    RunConfig,
    TPUEstimator,
)

__all__, __getattr__, __dir__ = NAMESPACES["tpu"].opened()

_tpu = tf.compat.v1.tpu

get_tpu_context = _get_tpu_context  # of tf.contrib.tpu.python.tpu.tpu_function


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
    return _tpu.experimental.DeviceAssignment.build(
        topology, computation_shape, computation_stride, num_replicas
    )


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
