"""Models in graphs with Keras 2 (tf_keras), which its public API no longer supports."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import tensorflow as tf

__all__ = [
    "add_sample_weights",
    "compile_arguments",
    "compiled_metrics",
    "counts_steps_itself",
    "hypers",
    "is_graph_network",
    "keras_mask",
    "keras_optimizer_name",
    "keras_seed_source",
    "make_function_of_mode",
    "make_train_function",
    "metric_update",
    "model_targets",
    "set_keras_mask",
    "set_model_inputs",
    "track",
    "training_metrics",
    "was_initialized",
]


def keras_seed_source() -> Any:
    """The generator of tf_keras's default seeds.

    The public tf.keras.utils.set_random_seed also sets the seeds of Python, NumPy and TensorFlow,
    permanently.
    """
    from tf_keras.src import backend  # loading Keras takes a second; most imports do not need it

    return backend._SEED_GENERATOR


def keras_mask(tensor: tf.Tensor) -> tf.Tensor:
    """The mask of a layer's output, which marks the padding of sequences."""
    return tensor._keras_mask


def set_keras_mask(tensor: tf.Tensor, mask: tf.Tensor) -> None:
    """Sets the mask that Keras reads from a layer's output."""
    tensor._keras_mask = mask


def is_graph_network(model: Any) -> bool:
    """Returns whether a model is functional, or Sequential with known inputs."""
    return bool(model._is_graph_network)


def compile_arguments(model: Any) -> dict[str, Any]:
    """The arguments of a model's ``compile``; get_compile_config serializes them."""
    return model._get_compile_args()


def add_sample_weights(model: Any, sample_weights: Sequence[Any]) -> None:
    """Weights the losses and metrics of a compiled graph-mode model by tensors."""
    model._compile_weights_loss_and_weighted_metrics(sample_weights)


def set_model_inputs(model: Any, inputs: Any) -> None:
    """Calls a subclassed graph-mode model on its inputs, as ``fit`` does."""
    model._set_inputs(inputs)


def compiled_metrics(model: Any) -> Sequence[Any]:
    """A graph-mode model's metrics from ``compile``, without those of its layers."""
    return model._compile_metric_functions if model._compile_metrics else ()


def training_metrics(model: Any) -> Sequence[Any]:
    """All metrics of a graph-mode model, including that of the loss."""
    return model._get_training_eval_metrics()


def metric_update(metric: Any) -> tf.Tensor:
    """A metric's value after its update in the graph."""
    return metric._call_result


def make_train_function(model: Any) -> None:
    """Builds the training step's operations of a compiled graph-mode model."""
    model._make_train_function()


def make_function_of_mode(model: Any, mode: str) -> tf.Operation | None:
    """Builds the operations of a graph-mode model in a mode; returns the training step's."""
    if mode == "train":
        model._make_train_function()
        return model.train_function.updates_op
    if mode == "eval":
        model._make_test_function()
    else:
        model._make_predict_function()
    return None


def model_targets(model: Any) -> Sequence[Any]:
    """The targets of a compiled graph-mode model, one for each output or None."""
    return model._targets


def track(model: Any, value: Any, name: str) -> None:
    """Saves a value with a model's objects under a name that is not an attribute."""
    model._track_trackable(value, name, overwrite=True)


def hypers(optimizer: Any) -> Mapping[str, Any]:
    """An optimizer's hyperparameters by name; empty for a v1 optimizer."""
    return getattr(optimizer, "_hyper", {})


def was_initialized(weight: Any) -> bool:
    """Returns whether Keras' session has initialized a weight."""
    return hasattr(weight, "_keras_initialized")


def keras_optimizer_name(optimizer: Any) -> str:
    """An optimizer's name; ``name`` of the current optimizers is a different one."""
    return getattr(optimizer, "_name", "Keras")


def counts_steps_itself(optimizer: Any) -> bool:
    """Returns whether a legacy optimizer would create its own step variable."""
    return getattr(optimizer, "_iterations", optimizer) is None
