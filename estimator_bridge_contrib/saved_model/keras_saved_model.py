"""Keras models as SavedModels with a graph for each mode, and back.

The folder has the weights as a checkpoint of objects (``variables/``), the layers' configuration
(``assets/saved_model.json``), and graphs with the tags "train", "eval" and "serve".
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import tensorflow as tf
from tensorflow.compat.v1 import logging

from estimator_bridge.base.any_files import check_is_no_pipe
from estimator_bridge.checkpoint.integrity import check_no_pipes
from estimator_bridge.model import ModeKeys
from estimator_bridge.tensorflow_private.keras import is_graph_network
from estimator_bridge_contrib.saved_model.keras_configs import configuration
from estimator_bridge_contrib.saved_model.keras_graphs import add_graph, check_optimizer

__all__ = ["load_keras_model", "save_keras_model"]

_WEIGHTS = ("variables", "variables")
_LAYERS = ("assets", "saved_model.json")


def save_keras_model(
    model: Any,
    saved_model_path: str,
    custom_objects: Mapping[str, Any] | None = None,
    as_text: bool = False,
    input_signature: Any = None,
    serving_only: bool = False,
) -> None:
    """Writes a Keras model as a SavedModel.

    A compiled model gets graphs that train and evaluate it too.

    Args:
      model: a tf_keras model. A subclassed one needs ``serving_only``.
      saved_model_path: the folder to write; it must be new or empty.
      custom_objects: classes and functions that the model's configuration names.
      as_text: whether to write the graphs as text.
      input_signature: the inputs as (a structure of) tf.TensorSpec, with the batch's dimension; by
        default the model's own.
      serving_only: whether to write what `tf.saved_model.save` writes: one graph, for predictions.

    Raises:
      AssertionError: the folder exists and is not empty.
      NotImplementedError: a subclassed model, without ``serving_only``.
      ValueError: the inputs of the model are unknown, or its optimizer works only in eager code.
    """
    folder = os.fsdecode(saved_model_path)
    if serving_only:
        tf.saved_model.save(model, folder, signatures=_prediction(model, input_signature))
    else:
        _check(model)
        _write_graphs(model, folder, custom_objects, as_text, input_signature)
    try:
        layers = configuration(model)
    except NotImplementedError:
        logging.warning(
            "Skipped saving model JSON: the subclassed model has no get_config(), so "
            "load_keras_model cannot load it."
        )
        return
    path = os.path.join(folder, *_LAYERS)
    tf.io.gfile.makedirs(os.path.dirname(path))
    with tf.io.gfile.GFile(path, "w") as file:
        file.write(layers)


def load_keras_model(saved_model_path: str, custom_objects: Mapping[str, Any] | None = None) -> Any:
    """Loads a Keras model from a folder that `save_keras_model` wrote, here or in TensorFlow 1.

    Args:
      saved_model_path: the folder.
      custom_objects: classes and functions that the model's configuration names.

    Returns:
      The model with its weights, not compiled.

    Raises:
      tf.errors.NotFoundError: the folder has no configuration or no weights of a Keras model.
    """
    import tf_keras

    folder = os.fsdecode(saved_model_path)
    check_is_no_pipe(os.path.join(folder, *_LAYERS))
    check_no_pipes(os.path.join(folder, *_WEIGHTS))
    with tf.io.gfile.GFile(os.path.join(folder, *_LAYERS)) as file:
        layers = file.read()
    model = tf_keras.models.model_from_json(layers, custom_objects=custom_objects)
    model.load_weights(os.path.join(folder, *_WEIGHTS))
    return model


def _check(model: Any) -> None:
    import tf_keras

    if is_graph_network(model):
        return
    if not isinstance(model, tf_keras.Sequential):
        raise NotImplementedError(
            "Subclassed models can only be exported for serving. Please set argument "
            "serving_only=True."
        )
    if not model.built:
        raise ValueError(
            "Weights for sequential model have not yet been created. Weights are created when the "
            "Model is first called on inputs or `build()` is called with an `input_shape`, or the "
            "first layer in the model has `input_shape` during construction."
        )


def _write_graphs(
    model: Any, folder: str, custom_objects: Any, as_text: bool, input_signature: Any
) -> None:
    modes = [ModeKeys.PREDICT]
    if model.optimizer:
        check_optimizer(model.optimizer)
        modes = [ModeKeys.TRAIN, ModeKeys.EVAL, *modes]
    builder = tf.compat.v1.saved_model.Builder(folder)
    weights = os.path.join(folder, *_WEIGHTS)
    tf.io.gfile.makedirs(os.path.dirname(weights))
    model.save_weights(weights, overwrite=True, save_format="tf")
    for mode in modes:
        # The first copy may have weights that the model lacks: slots of an optimizer that has not
        # trained. It completes the checkpoint.
        add_graph(builder, model, mode, weights, custom_objects, input_signature, mode == modes[0])
    builder.save(as_text)


def _prediction(model: Any, input_signature: Any) -> Any:
    """Returns a model's predictions as a function with known inputs."""
    inputs: Any
    named: dict[str, Any] = {}
    if input_signature is not None:
        is_list = isinstance(input_signature, (list, tuple))
        inputs = input_signature if is_list else [input_signature]
    else:
        spec = model.save_spec()
        if spec is None:
            raise ValueError(
                f"Model {model} cannot be saved because the input shapes have not been set. Call "
                "it on data, or give input_signature."
            )
        inputs, named = spec[0], {k: v for k, v in spec[1].items() if k != "training"}

    @tf.function
    def predict(*args: Any, **kwargs: Any) -> dict[str, tf.Tensor]:
        outputs = tf.nest.flatten(model(*args, training=False, **kwargs))
        names = model.output_names or [f"output_{i + 1}" for i in range(len(outputs))]
        return dict(zip(names, outputs))

    return predict.get_concrete_function(*inputs, **named)
