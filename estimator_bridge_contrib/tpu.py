"""tf.contrib.tpu: TPUEstimator and the other names that TPU programs use."""

from __future__ import annotations

import enum
from collections.abc import Mapping, Sequence
from typing import Any

import tensorflow as tf

from estimator_bridge.experimental import InMemoryEvaluatorHook
from estimator_bridge.tensorflow_private.names import get_tpu_context as _get_tpu_context
from estimator_bridge.tpu import (
    RunConfig,
    TPUEstimator,
)
from estimator_bridge_contrib.namespaces import NAMESPACES

__all__, __getattr__, __dir__ = NAMESPACES["tpu"].opened()

_tpu = tf.compat.v1.tpu

get_tpu_context = _get_tpu_context  # a name of tf.contrib.tpu.python.tpu.tpu_function


class ExportSavedModelApiVersion(enum.Enum):
    """Values of TPUEstimator's export_saved_model_api_version; both write the same format."""

    V1 = 1
    V2 = 2


class TPUInMemoryEvalHook(InMemoryEvaluatorHook):
    """Evaluates a TPUEstimator while it trains, without a checkpoint.

    Args:
      estimator: the TPUEstimator that trains.
      input_fn: see ``TPUEstimator.evaluate``.
      steps: number of batches; None for all.
      hooks: SessionRunHooks for the evaluations.
      name: the name of the evaluation; its event files go to 'eval_NAME'.
      every_n_iter: training steps between evaluations; the original counted loops.

    Raises:
      ValueError: the estimator is not a TPUEstimator, or see ``InMemoryEvaluatorHook``.
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
    """Assigns TPU cores to replicas.

    Args:
      topology: the TPU's topology, as returned by ``initialize_system``.
      computation_shape: number of a replica's cores in each dimension; one core by default.
      computation_stride: stride between the cores of a replica.
      num_replicas: number of replicas.

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
      estimator: an Estimator or a TPUEstimator, which supplies the model_fn and checkpoints.
      export_dir_base: the parent folder; each export is a new folder in it.
      serving_input_receiver_fn: a function that makes the inputs.
      assets_extra: further files to copy, by their new names.
      as_text: whether to write the model as text.
      checkpoint_path: the checkpoint; by default the estimator's latest.
      strip_default_attrs: whether to leave out attributes that have their default value.

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
    """Places a Keras model on the cores of a TPU.

    Args:
      model: functional or sequential, with inputs of known shapes; compiled or not.
      strategy: a TPUDistributionStrategy; by default that of this machine's TPU.

    Returns:
      A model with the same layers and weights, whose ``fit``, ``evaluate`` and ``predict`` run on
      the cores: see `estimator_bridge.keras.tpu_model`.
    """
    from estimator_bridge.keras.tpu_model import tpu_model  # loading Keras takes a second

    return tpu_model(model, strategy)


tpu_model = keras_to_tpu_model  # its name in tf.contrib.tpu.python.tpu.keras_support
