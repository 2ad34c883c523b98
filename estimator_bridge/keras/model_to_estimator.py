"""tf.keras.estimator.model_to_estimator."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import tensorflow as tf
from tensorflow.compat.v1 import logging

from estimator_bridge.keras.cloning import CompiledModel
from estimator_bridge.keras.initial_checkpoint import first_values
from estimator_bridge.keras.model_fn import keras_model_fn
from estimator_bridge.model import RunConfig
from estimator_bridge.tensorflow_private.keras import is_graph_network, was_initialized
from estimator_bridge.training import Estimator, EstimatorV1
from estimator_bridge.training.configuration import config_with_folder

__all__ = ["model_to_estimator"]

_FORMATS = ("checkpoint", "saver")


def model_to_estimator(
    keras_model: Any = None,
    keras_model_path: str | None = None,
    custom_objects: Mapping[str, Any] | None = None,
    model_dir: str | None = None,
    config: RunConfig | None = None,
    checkpoint_format: str | None = None,
    use_v2_estimator: bool = False,
    metric_names_map: Mapping[str, str] | None = None,
    export_outputs: Mapping[str, Any] | None = None,
) -> Estimator:
    """Makes an Estimator from a compiled Keras model.

    It starts with the model's current weights; the model itself is not changed. Features and
    labels may be tensors, lists in the order of the model's inputs and outputs, or dicts by their
    names. For sample weights, features are ``{'features': ..., 'sample_weights': ...}``.

    Args:
      keras_model: a compiled tf_keras model. A subclassed model needs ``get_config`` and
        ``from_config``, and starts with new weights.
      keras_model_path: the file of a saved model, instead of `keras_model`.
      custom_objects: objects of the model's configuration that are not part of Keras, by name.
      model_dir: see Estimator. The first weights go to its subfolder 'keras'.
      config: see Estimator.
      checkpoint_format: 'checkpoint' (the default), with object paths as in tf.train.Checkpoint,
        or 'saver', with variable names.
      use_v2_estimator: whether to make a tf.estimator.Estimator, or one of tf.compat.v1.
      metric_names_map: new names for the metrics, by Keras' names; all or none.
      export_outputs: classes of ExportOutput by output name, in addition to the default signature
        of all predictions.

    Returns:
      The estimator. Its predictions are named by the output layers.

    Raises:
      ValueError: both or neither of keras_model and keras_model_path are given, the model is not
        compiled or cannot be rebuilt, or checkpoint_format is unknown.
    """
    if (keras_model is None) == (keras_model_path is None):
        raise ValueError(
            "Either `keras_model` or `keras_model_path` needs to be provided."
            if keras_model is None
            else "Please specify either `keras_model` or `keras_model_path`, but not both."
        )
    if checkpoint_format not in (None, *_FORMATS):
        raise ValueError(
            f'Checkpoint format must be one of "checkpoint" or "saver". Got {checkpoint_format!r}'
        )
    config = config_with_folder(config, model_dir)
    model = keras_model
    if model is None:
        model = _load(keras_model_path, custom_objects)
    _check_kind(model)
    by_objects = checkpoint_format != "saver"
    original = CompiledModel(model, custom_objects)
    original.check_compiled()
    if by_objects and not (original.is_functional or isinstance(model, _keras().Sequential)):
        raise ValueError(
            "Object-based checkpoints are currently not supported with subclassed models. Pass "
            "checkpoint_format='saver'."
        )
    model_fn = keras_model_fn(model, custom_objects, by_objects, metric_names_map, export_outputs)
    _hand_on_session_config(model, config)
    start = None
    if original.is_functional and config.is_chief:
        start = first_values(original, config, by_objects)
    elif model.built and not original.is_functional:
        logging.warning(
            "The Estimator of the Keras model %s starts with new weights, not with those of the "
            "model: only models whose inputs are known (functional models, sequential models with "
            "an input shape) pass on their weights. The model itself keeps them.",
            type(model).__name__,
        )
    kind = Estimator if use_v2_estimator else EstimatorV1
    return kind(model_fn, config=config, warm_start_from=start)


def _hand_on_session_config(model: Any, config: RunConfig) -> None:
    """Applies config's session settings to Keras' own TF1 session, unless one is in use."""
    if not tf.compat.v1.executing_eagerly_outside_functions() and not any(
        was_initialized(weight) for weight in model.weights
    ):
        session = tf.compat.v1.Session(config=config.session_config)
        tf.compat.v1.keras.backend.set_session(session)


def _keras() -> Any:
    import tf_keras  # Keras takes a second to load

    return tf_keras


def _load(path: Any, custom_objects: Mapping[str, Any] | None) -> Any:
    logging.info("Loading models from %s", path)
    return _keras().models.load_model(path, custom_objects)


def _check_kind(model: Any) -> None:
    """Checks that a model is a Keras 2 model that can be rebuilt."""
    keras = _keras()
    if not isinstance(model, keras.Model):
        raise TypeError(
            f"keras_model must be a model of tf_keras (Keras 2), got {type(model).__module__}."
            f"{type(model).__qualname__}. Keras 3 has no graph mode: build it with tf.keras after "
            "`import estimator_bridge`, or with the package tf_keras."
        )
    if is_graph_network(model) or isinstance(model, keras.Sequential):
        return
    try:
        model.get_config()
    except NotImplementedError as error:
        raise ValueError(
            "Subclassed `Model`s passed to `model_to_estimator` must implement `Model.get_config` "
            f"and `Model.from_config`: {type(model).__name__} does not."
        ) from error
