"""What a serving_input_receiver_fn returns, and two ways to make one."""

from __future__ import annotations

import collections
from collections.abc import Mapping
from typing import Any, Callable

import tensorflow as tf

__all__ = [
    "ServingInputReceiver",
    "TensorServingInputReceiver",
    "build_parsing_serving_input_receiver_fn",
    "build_raw_serving_input_receiver_fn",
]

_TENSORS = (tf.Tensor, tf.SparseTensor, tf.RaggedTensor)

_Fields = collections.namedtuple(
    "_Fields", ["features", "receiver_tensors", "receiver_tensors_alternatives"]
)


class ServingInputReceiver(_Fields):
    """Where a served model is fed, and the features that come of it.

    Args:
      features: what model_fn gets: a dict of tensors by name or number. A single tensor becomes
        {"feature": tensor}; see `TensorServingInputReceiver` to pass it on as it is.
      receiver_tensors: what a request feeds: tensors by name, or one, which is named "input".
      receiver_tensors_alternatives: further places to feed, by name, each as `receiver_tensors`;
        each makes further signatures.

    Raises:
      ValueError: one is missing, has a bad name, or is no tensor.
    """

    __slots__ = ()

    def __new__(
        cls, features: Any, receiver_tensors: Any, receiver_tensors_alternatives: Any = None
    ) -> ServingInputReceiver:
        """Checks the arguments, which the class describes."""
        return super().__new__(
            cls,
            _named("feature", features, "feature", allow_int_keys=True),
            _named("receiver_tensor", receiver_tensors, "input"),
            _alternatives(receiver_tensors_alternatives),
        )


class TensorServingInputReceiver(_Fields):
    """The same for a model_fn whose features are a single tensor.

    Args:
      features: the tensor that model_fn gets.
      receiver_tensors: as in `ServingInputReceiver`.
      receiver_tensors_alternatives: as in `ServingInputReceiver`.

    Raises:
      ValueError: one is missing, has a bad name, or is no tensor.
    """

    __slots__ = ()

    def __new__(
        cls, features: Any, receiver_tensors: Any, receiver_tensors_alternatives: Any = None
    ) -> TensorServingInputReceiver:
        """Checks the arguments, which the class describes."""
        if features is None:
            raise ValueError("features must be defined.")
        _check_tensor("feature", features)
        return super().__new__(
            cls,
            features,
            _named("receiver_tensor", receiver_tensors, "input"),
            _alternatives(receiver_tensors_alternatives),
        )


def build_parsing_serving_input_receiver_fn(
    feature_spec: Mapping[str, Any], default_batch_size: int | None = None
) -> Callable[[], ServingInputReceiver]:
    """Makes a serving_input_receiver_fn that is fed serialized ``tf.train.Example`` protos.

    Args:
      feature_spec: FixedLenFeature, VarLenFeature and the like, by the name of the feature.
      default_batch_size: examples in each request; any number by default.

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
      default_batch_size: examples in each request; any number by default.

    Returns:
      A function without arguments, to be called in a graph. It makes one placeholder a feature.

    Raises:
      TypeError: `features` is no dict, or one has no dtype or shape.
    """
    if not isinstance(features, Mapping):
        raise TypeError(
            f"features must be a dict of string to Tensor, got {features!r}. For a model of one "
            "tensor, return a TensorServingInputReceiver from a function of your own."
        )
    for name, feature in features.items():
        if not hasattr(feature, "dtype") or not hasattr(feature, "shape"):
            raise TypeError(f"feature {name} must have a dtype and a shape, got {feature!r}.")

    def serving_input_receiver_fn() -> ServingInputReceiver:
        placeholders = {k: _placeholder(v, default_batch_size) for k, v in features.items()}
        return ServingInputReceiver(placeholders, placeholders)

    return serving_input_receiver_fn


def _placeholder(like: Any, batch_size: int | None) -> tf.Tensor | tf.SparseTensor:
    shape = tf.TensorShape([batch_size]).concatenate(tf.TensorShape(like.shape)[1:])
    try:
        name = like.op.name  # so that a feature of a graph keeps its name
    except AttributeError:
        name = None  # an eager tensor, or no tensor
    if isinstance(like, tf.SparseTensor):
        return tf.compat.v1.sparse_placeholder(like.dtype, shape, name)
    return tf.compat.v1.placeholder(like.dtype, shape, name)


def _named(
    field: str, tensors: Any, default_name: str, allow_int_keys: bool = False
) -> dict[Any, Any]:
    """Returns checked tensors by name, a single one under `default_name`."""
    if tensors is None:
        raise ValueError(f"{field}s must be defined.")
    if not isinstance(tensors, Mapping):
        tensors = {default_name: tensors}
    for key, tensor in tensors.items():
        if not isinstance(key, (str, int) if allow_int_keys else str):
            allowed = "strings or ints" if allow_int_keys else "strings"
            raise ValueError(f"{field} keys must be {allowed}: {key!r}.")
        _check_tensor(f"{field} {key}", tensor)
    return dict(tensors)


def _alternatives(alternatives: Any) -> dict[str, dict[str, Any]] | None:
    if alternatives is None:
        return None
    if not isinstance(alternatives, Mapping):
        raise ValueError(f"receiver_tensors_alternatives must be a dict: {alternatives!r}.")
    return {
        name: _named("receiver_tensors_alternative", tensors, "input")
        for name, tensors in alternatives.items()
    }


def _check_tensor(label: str, tensor: Any) -> None:
    if not isinstance(tensor, _TENSORS):
        raise ValueError(
            f"{label} must be a Tensor, SparseTensor, or RaggedTensor. Got {tensor!r}."
        )
