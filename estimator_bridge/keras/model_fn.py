"""The model_fn of a Keras model."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

import tensorflow as tf

from estimator_bridge.export import PredictOutput
from estimator_bridge.keras.cloning import CompiledModel, keras_in_graphs
from estimator_bridge.keras.object_checkpoints import object_scaffold
from estimator_bridge.keras.structures import (
    FormattedKeyError,
    inputs_of,
    split_sample_weights,
    targets_of,
    weights_of,
)
from estimator_bridge.model import EstimatorSpec, ModeKeys
from estimator_bridge.tensorflow_private.keras import compiled_metrics, make_train_function

__all__ = ["keras_model_fn", "train_op_of"]

_SERVING = tf.saved_model.DEFAULT_SERVING_SIGNATURE_DEF_KEY


def keras_model_fn(
    keras_model: Any,
    custom_objects: Mapping[str, Any] | None = None,
    save_object_ckpt: bool = False,
    metric_names_map: Mapping[str, str] | None = None,
    export_outputs: Mapping[str, Any] | None = None,
) -> Callable[..., EstimatorSpec]:
    """Makes the model_fn of a compiled Keras model.

    Args:
      keras_model: a compiled model; it is copied into each graph and not changed.
      custom_objects: see ``model_to_estimator``.
      save_object_ckpt: whether checkpoints have tf.train.Checkpoint's format.
      metric_names_map: see ``model_to_estimator``.
      export_outputs: see ``model_to_estimator``.

    Returns:
      A function of features, labels and mode that returns an EstimatorSpec.

    Raises:
      ValueError: the model is not compiled, or its optimizer works only in eager code.
    """
    original = CompiledModel(keras_model, custom_objects)
    original.check_compiled()

    def model_fn(features: Any, labels: Any, mode: str) -> EstimatorSpec:
        with keras_in_graphs(mode == ModeKeys.TRAIN):
            return _spec(
                original, features, labels, mode, save_object_ckpt, metric_names_map, export_outputs
            )

    return model_fn


def train_op_of(model: Any) -> Any:
    """Returns the training op of a compiled copy, including the updates of its layers."""
    make_train_function(model)
    return model.train_function.updates_op


def _spec(
    original: CompiledModel,
    features: Any,
    labels: Any,
    mode: str,
    save_object_ckpt: bool,
    metric_names_map: Mapping[str, str] | None,
    export_outputs: Mapping[str, Any] | None,
) -> EstimatorSpec:
    features, weights = split_sample_weights(features)
    is_compiled = mode != ModeKeys.PREDICT
    outputs = original.model.output_names if original.is_functional else None
    inputs = inputs_of(original.model, features)
    if is_compiled:
        model = original.build(
            inputs,
            targets_of(original.model, labels),
            weights_of(outputs or ["output_1"], weights) if weights is not None else None,
        )
    else:
        model = original.copy(inputs)
    predictions = dict(zip(_output_names(model), model.outputs))
    spec: dict[str, Any] = {}
    if is_compiled:
        if mode == ModeKeys.TRAIN:
            spec["train_op"] = train_op_of(model)
        spec["loss"] = model.total_loss
        spec["eval_metric_ops"] = _metrics(model, metric_names_map)
    if save_object_ckpt:
        spec["scaffold"] = object_scaffold(model)
    return EstimatorSpec(
        mode,
        predictions=predictions,
        export_outputs=_exports(predictions, export_outputs),
        **spec,
    )


def _output_names(model: Any) -> list[str]:
    names = model.output_names
    if tf.distribute.has_strategy():  # each replica's copy has its own numbers
        return [re.sub(r"_\d$", "", name) for name in names]
    return names


def _metrics(model: Any, names: Mapping[str, str] | None) -> dict[str, Any] | None:
    """Returns the metrics of ``compile``, with one update each; layers' metrics are left out."""
    metrics = compiled_metrics(model)
    if not metrics:
        return None
    metric_names = {metric.name for metric in metrics}
    if names:
        left_out, unexpected = sorted(metric_names - set(names)), sorted(set(names) - metric_names)
        if left_out:
            raise ValueError(
                "Invalid `metric_names_map`. The following keras model metric names: "
                f"{left_out} do not exist in the `metric_names_map` dictionary. Name all of the "
                f"metrics and nothing else; got {sorted(names)}."
            )
        if unexpected:
            raise ValueError(
                "Invalid `metric_names_map`. There are unexpected keys in the `metric_names_map` "
                f"dictionary: {unexpected}. Expected keys: {sorted(metric_names)}, Received: "
                f"{sorted(names)}"
            )
    return {(names or {}).get(metric.name, metric.name): metric for metric in metrics}


def _exports(
    predictions: dict[str, Any], output_classes: Mapping[str, Any] | None
) -> dict[str, Any]:
    outputs: dict[str, Any] = {_SERVING: PredictOutput(predictions)}
    missing = sorted(set(output_classes or ()) - set(predictions))
    if missing:
        raise FormattedKeyError(
            "The list passed into export_outputs does not cover requested outputs keys defined in "
            f"the keras model.\n\tExpected keys: {sorted(predictions)}\n\texport_outputs keys: "
            f"{sorted(output_classes or ())}\n\tMissed keys: {missing}"
        )
    outputs.update((key, kind(predictions[key])) for key, kind in (output_classes or {}).items())
    return outputs
