"""Builders of input_receiver_fns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Callable

import tensorflow as tf

from estimator_bridge.data import GraphInput
from estimator_bridge.export.receivers import (
    ServingInputReceiver,
    SupervisedInputReceiver,
    UnsupervisedInputReceiver,
)

__all__ = [
    "build_parsing_serving_input_receiver_fn",
    "build_raw_serving_input_receiver_fn",
    "build_raw_supervised_input_receiver_fn",
    "build_supervised_input_receiver_fn_from_input_fn",
]


def build_parsing_serving_input_receiver_fn(
    feature_spec: Mapping[str, Any], default_batch_size: int | None = None
) -> Callable[[], ServingInputReceiver]:
    """Makes a serving_input_receiver_fn that is fed serialized ``tf.train.Example`` protos.

    Args:
      feature_spec: parsing specs such as FixedLenFeature and VarLenFeature, by feature name.
      default_batch_size: examples per request; any number by default.

    Returns:
      A function without arguments, to be called in a graph. It makes a string placeholder
      [batch], fed as "examples", and parses the features from it.
    """

    def serving_input_receiver_fn() -> ServingInputReceiver:
        serialized = tf.compat.v1.placeholder(
            tf.string, [default_batch_size], name="input_example_tensor"
        )
        features = tf.compat.v1.io.parse_example(serialized, dict(feature_spec))
        return ServingInputReceiver(features, {"examples": serialized})

    return serving_input_receiver_fn


def build_raw_serving_input_receiver_fn(
    features: Mapping[str, Any], default_batch_size: int | None = None
) -> Callable[[], ServingInputReceiver]:
    """Makes a serving_input_receiver_fn that is fed the features themselves.

    Args:
      features: by name, anything with a dtype and a shape whose first dimension is the batch: a
        tensor, an array, a ``tf.TensorSpec``. Its values are not used.
      default_batch_size: examples per request; any number by default.

    Returns:
      A function without arguments, to be called in a graph. It makes one placeholder per feature.

    Raises:
      TypeError: `features` is not a dict, or a feature has no dtype or shape.
    """
    if not isinstance(features, Mapping):
        raise TypeError(
            f"features must be a dict of string to Tensor, got {features!r}. For a model of one "
            "tensor, write a function that returns a TensorServingInputReceiver."
        )
    _check_like_tensors("feature", features)

    def serving_input_receiver_fn() -> ServingInputReceiver:
        placeholders = _placeholders(features, default_batch_size)
        return ServingInputReceiver(placeholders, placeholders)

    return serving_input_receiver_fn


def build_raw_supervised_input_receiver_fn(
    features: Any, labels: Any, default_batch_size: int | None = None
) -> Callable[[], SupervisedInputReceiver]:
    """Makes an input_receiver_fn for TRAIN and EVAL that is fed features and labels themselves.

    Args:
      features: a tensor, a dict of tensors by name, or anything with a dtype and a shape: see
        `build_raw_serving_input_receiver_fn`. model_fn gets the same structure.
      labels: see `features`.
      default_batch_size: examples per batch; any number by default.

    Returns:
      A function without arguments, to be called in a graph. It makes one placeholder for each
      feature and label, fed by its name; a single feature is fed as "input", a single label as
      "label".

    Raises:
      ValueError: a feature and a label have the same name.
      TypeError: a feature or label has no dtype or shape.
    """
    overlapping = set(_as_dict(features, "input")) & set(_as_dict(labels, "label"))
    if overlapping:
        raise ValueError(
            "Features and labels must have distinct keys. Found overlapping keys: "
            f"{sorted(map(str, overlapping))}. They are fed by these names; rename one of each."
        )
    _check_like_tensors("feature", _as_dict(features, "input"))
    _check_like_tensors("label", _as_dict(labels, "label"))

    def supervised_input_receiver_fn() -> SupervisedInputReceiver:
        fed_features = _placeholders(_as_dict(features, "input"), default_batch_size)
        fed_labels = _placeholders(_as_dict(labels, "label"), default_batch_size)
        return SupervisedInputReceiver(
            fed_features if isinstance(features, Mapping) else fed_features["input"],
            fed_labels if isinstance(labels, Mapping) else fed_labels["label"],
            {**fed_features, **fed_labels},
        )

    return supervised_input_receiver_fn


def build_supervised_input_receiver_fn_from_input_fn(
    input_fn: Callable[..., Any], **input_fn_args: Any
) -> Callable[[], SupervisedInputReceiver | UnsupervisedInputReceiver]:
    """Makes an input_receiver_fn that is fed what an input_fn returns.

    Args:
      input_fn: returns a Dataset, or (features, labels). It is called once, immediately, in a
        separate graph; only names, types and shapes of its result are used, with any batch size.
      **input_fn_args: arguments for `input_fn`.

    Returns:
      The function that `build_raw_supervised_input_receiver_fn` returns; if the input has no
      labels, a function that returns an `UnsupervisedInputReceiver`.

    Raises:
      TypeError: `input_fn` returned neither a dataset nor tensors.
      ValueError: `input_fn` returned a tuple whose length is not 2, or a feature and a label have
        the same name.
    """
    with tf.Graph().as_default() as graph:
        batch = GraphInput(graph, input_fn(**input_fn_args)).graph_batch()
    if isinstance(batch, (tuple, list)) and not hasattr(batch, "_fields"):
        return build_raw_supervised_input_receiver_fn(*batch)
    _check_like_tensors("feature", _as_dict(batch, "input"))

    def unsupervised_input_receiver_fn() -> UnsupervisedInputReceiver:
        placeholders = _placeholders(_as_dict(batch, "input"), None)
        return UnsupervisedInputReceiver(
            placeholders if isinstance(batch, Mapping) else placeholders["input"], placeholders
        )

    return unsupervised_input_receiver_fn


def _as_dict(value: Any, name: str) -> Mapping[Any, Any]:
    return value if isinstance(value, Mapping) else {name: value}


def _check_like_tensors(field: str, values: Mapping[Any, Any]) -> None:
    for name, value in values.items():
        if not hasattr(value, "dtype") or not hasattr(value, "shape"):
            raise TypeError(f"{field} {name} must have a dtype and a shape, got {value!r}.")


def _placeholders(like: Mapping[Any, Any], batch_size: int | None) -> dict[Any, Any]:
    return {name: _placeholder(value, batch_size) for name, value in like.items()}


def _placeholder(like: Any, batch_size: int | None) -> Any:
    shape = tf.TensorShape([batch_size]).concatenate(tf.TensorShape(like.shape)[1:])
    try:
        name = like.op.name  # a feature from a graph keeps its name
    except AttributeError:
        name = None  # an eager tensor, or not a tensor
    if isinstance(like, (tf.RaggedTensor, tf.RaggedTensorSpec)):
        inner = shape[like.ragged_rank + 1 :]
        return tf.compat.v1.ragged.placeholder(like.dtype, like.ragged_rank, inner, name)
    if isinstance(like, (tf.SparseTensor, tf.SparseTensorSpec)):
        return tf.compat.v1.sparse_placeholder(like.dtype, shape, name)
    return tf.compat.v1.placeholder(like.dtype, shape, name)
