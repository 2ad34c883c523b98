"""Weights of examples."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import tensorflow as tf

from estimator_bridge.heads.shapes import checked, same_shape

__all__ = ["broadcast", "example_weights"]


def example_weights(
    features: Mapping[str, Any] | None, weight_column: Any, logits: tf.Tensor, by_logit: bool
) -> tf.Tensor | None:
    """Returns the weights of a batch's examples.

    Args:
      features: features of the batch, by name.
      weight_column: the name of a feature, or a ``tf.feature_column.numeric_column`` of it; None
        for no weights.
      logits: shape [D0, ..., DN, dimension].
      by_logit: whether each logit may have its own weight.

    Returns:
      Floats of shape [D0, ..., DN, 1], or [D0, ..., DN, dimension]; None without weight_column.

    Raises:
      ValueError: the feature is missing, is not numeric, or when executing eagerly has another
        shape.
      TypeError: weight_column has another type.
    """
    if weight_column is None:
        return None
    with tf.name_scope("weights"):
        weights = _fetch(features, weight_column)
        if not (weights.dtype.is_floating or weights.dtype.is_integer):
            raise ValueError(
                f"Weight column should be castable to float. Given dtype: {weights.dtype}, of "
                f"{weight_column!r}."
            )
        weights = tf.cast(weights, tf.float32)
        rank, logits_rank = weights.shape.rank, logits.shape.rank
        if None not in (rank, logits_rank) and rank == logits_rank - 1:
            # A bare [D0, ..., DN]; the check adds the last dimension.
            weights = tf.expand_dims(weights, -1)
            return _check(weights, logits, False, "[D0, D1, ... DN]", dropped_dims=1)
        shapes = "[D0, D1, ... DN] or [D0, D1, ... DN, 1]"
        if by_logit:
            shapes = "[D0, D1, ... DN], [D0, D1, ... DN, 1] or [D0, D1, ... DN, logits_dimension]"
        return _check(weights, logits, by_logit, shapes)


def broadcast(weights: tf.Tensor | None, values: tf.Tensor) -> tf.Tensor | None:
    """Broadcasts the weights to the shape of the values; None for None."""
    return None if weights is None else weights * tf.ones_like(values, dtype=weights.dtype)


def _fetch(features: Mapping[str, Any] | None, weight_column: Any) -> tf.Tensor:
    normalizer = None
    key = weight_column
    if not isinstance(weight_column, str):
        if not hasattr(weight_column, "normalizer_fn"):
            raise TypeError(
                "Weight column must be either a string or NumericColumn. Given type: "
                f"{type(weight_column)}. tf.feature_column.numeric_column(name) makes one."
            )
        key, normalizer = weight_column.key, weight_column.normalizer_fn
    if features is None or key not in features:
        feature_names = sorted(map(str, features)) if features else []
        raise ValueError(
            f"Feature {key} is not in features dictionary, but is the head's weight_column. The "
            f"features are {feature_names}. Let input_fn return the weights among them."
        )
    weights = tf.compat.v1.convert_to_tensor_or_sparse_tensor(features[key])
    if isinstance(weights, tf.SparseTensor):
        raise ValueError(
            f"The weights of feature {key!r} are a SparseTensor; convert them in input_fn with "
            "tf.sparse.to_dense(weights)."
        )
    if weights.shape.rank == 1:
        weights = tf.expand_dims(weights, -1)  # as feature columns do
    return weights if normalizer is None else normalizer(weights)


def _check(
    weights: tf.Tensor, logits: tf.Tensor, by_logit: bool, shapes: str, dropped_dims: int = 0
) -> tf.Tensor:
    message = f"weights shape must be {shapes}"
    static = weights.shape, logits.shape
    if all(shape.is_fully_defined() for shape in static):
        fits = weights.shape == logits.shape[:-1].concatenate([1])
        if fits or (by_logit and weights.shape == logits.shape):
            return weights
    if tf.executing_eagerly():
        batch_shape = weights.shape[: weights.shape.rank - dropped_dims]
        raise ValueError(f"{message}, logits_shape: {logits.shape}. weights_shape: {batch_shape}.")
    shape, logits_shape = tf.shape(weights), tf.shape(logits)
    fits = same_shape(shape, tf.concat([logits_shape[:-1], [1]], axis=0))
    if by_logit:
        fits = tf.logical_or(fits, same_shape(shape, logits_shape))
    reported_shape = shape[:-1] if dropped_dims else shape
    return checked(
        weights, fits, [message, "logits_shape: ", logits_shape, "weights_shape: ", reported_shape]
    )
