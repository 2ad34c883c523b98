"""Keras 2, the package tf_keras: graphs of models, which its public API has no more."""

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
    "make_train_function",
    "metric_update",
    "set_keras_mask",
    "set_model_inputs",
    "track",
    "training_metrics",
    "was_initialized",
]


def keras_seed_source() -> Any:
    """Where tf-keras takes the seeds from that a layer's author did not give.

    The public tf.keras.utils.set_random_seed sets it too, and with it the seeds of Python, NumPy
    and TensorFlow for good.
    """
    from tf_keras.src import backend  # Keras takes a second to load; most imports need none

    return backend._SEED_GENERATOR


def keras_mask(tensor: tf.Tensor) -> tf.Tensor:
    """The mask of a layer's output, which says where a sequence is padding."""
    return tensor._keras_mask


def set_keras_mask(tensor: tf.Tensor, mask: tf.Tensor) -> None:
    """Sets the mask of an output where Keras looks for it."""
    tensor._keras_mask = mask


def is_graph_network(model: Any) -> bool:
    """Whether a model is made of layers whose inputs are known: functional, or Sequential."""
    return bool(model._is_graph_network)


def compile_arguments(model: Any) -> dict[str, Any]:
    """The arguments of ``compile`` of a model; get_compile_config has them as text."""
    return model._get_compile_args()


def add_sample_weights(model: Any, sample_weights: Sequence[Any]) -> None:
    """Has a compiled model of a graph weigh its losses and metrics by tensors."""
    model._compile_weights_loss_and_weighted_metrics(sample_weights)


def set_model_inputs(model: Any, inputs: Any) -> None:
    """Calls a subclassed model of a graph on its inputs, as ``fit`` does."""
    model._set_inputs(inputs)


def compiled_metrics(model: Any) -> Sequence[Any]:
    """The metrics of ``compile`` of a model of a graph; layers' own are left out."""
    return model._compile_metric_functions if model._compile_metrics else ()


def training_metrics(model: Any) -> Sequence[Any]:
    """All metrics of a model of a graph, with the loss's."""
    return model._get_training_eval_metrics()


def metric_update(metric: Any) -> tf.Tensor:
    """The value of a metric after the update that a graph has of it."""
    return metric._call_result


def make_train_function(model: Any) -> None:
    """Builds the operations of a training step of a compiled model of a graph."""
    model._make_train_function()


def track(model: Any, value: Any, name: str) -> None:
    """Saves something with a model's objects, under a name that is no attribute."""
    model._track_trackable(value, name, overwrite=True)


def hypers(optimizer: Any) -> Mapping[str, Any]:
    """An optimizer's numbers by name, such as its learning rate; none of a v1 optimizer."""
    return getattr(optimizer, "_hyper", {})


def was_initialized(weight: Any) -> bool:
    """Whether Keras' own session has a weight's value."""
    return hasattr(weight, "_keras_initialized")


def keras_optimizer_name(optimizer: Any) -> str:
    """The name of an optimizer; of today's, ``name`` is another one."""
    return getattr(optimizer, "_name", "Keras")


def counts_steps_itself(optimizer: Any) -> bool:
    """Whether a legacy optimizer would make a variable of its own for its steps."""
    return getattr(optimizer, "_iterations", optimizer) is None
