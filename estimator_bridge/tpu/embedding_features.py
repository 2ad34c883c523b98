"""The features that TPU embeddings look up: their checks, lengths and sparse ids."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import tensorflow as tf

from estimator_bridge.tensorflow_private.columns import core_lookup_width, embedding_lookup_device
from estimator_bridge.tpu.embedding_spec import TPU_EMBEDDING_COLUMNS, EmbeddingConfigSpec

__all__ = ["EmbeddingFeature", "check_features", "embedding_features"]


class EmbeddingFeature(NamedTuple):
    """A feature with the ids of one column.

    Attributes:
      key: the name of the feature.
      weights: the name of the feature with the ids' weights; None if they have none.
      weight_type: the type of the weights for the column; None if the ids have none.
      width: the number of ids, or of steps of a sequence, that each example has after padding and
        truncation; None if it is not limited.
    """

    key: str
    weights: str | None
    weight_type: tf.DType | None
    width: int | None


def embedding_features(spec: EmbeddingConfigSpec) -> dict[str, EmbeddingFeature]:
    """Returns the features of a spec's columns, by their name.

    Raises:
      TypeError: a column is not a TPU embedding column.
      ValueError: two columns read the same feature, or a column cannot be looked up in training.
    """
    features: dict[str, EmbeddingFeature] = {}
    for column in [*(spec.feature_columns or ()), *(spec.tensor_core_feature_columns or ())]:
        _check_column(column)
        key = column.get_feature_key_name()
        if key in features:
            raise ValueError(
                f"Feature column {key} is used with multiple embeddings and this is not supported. "
                "A TPU looks up each feature in one table. Return the ids twice from input_fn, "
                "under two names, and make a column for each."
            )
        is_on_core = embedding_lookup_device(column) == "tpu_tensor_core"
        width = core_lookup_width(column) if is_on_core else column.get_max_sequence_length()
        weights = column.get_weight_key_name()
        weight_type = column.categorical_column.dtype if weights else None
        features[key] = EmbeddingFeature(key, weights, weight_type, width or None)
    return features


def check_features(features: Mapping[str, EmbeddingFeature], specs: Mapping[str, Any]) -> None:
    """Checks the ids and weights that an input_fn returned, by the rules of TPUs.

    Args:
      features: the features of the embeddings.
      specs: the TypeSpecs of the features that input_fn returned.

    Raises:
      ValueError: ids are strings, or their weights are missing or dense.
    """
    for feature in features.values():
        ids = specs.get(feature.key)
        if not isinstance(ids, tf.SparseTensorSpec):
            continue
        if ids.shape.rank is None or ids.shape.rank < 2:
            raise ValueError(
                f"features[{feature.key!r}] is a sparse tensor of shape {ids.shape}. The ids of a "
                "TPU embedding have the shape [batch size, number of ids], or [batch size, length, "
                "number of ids] for a sequence. Batch the dataset by params['batch_size']."
            )
        if ids.dtype == tf.string:
            raise ValueError(
                "SparseTensor with string as values are not supported on a TPU. Convert them in "
                f"input_fn: features[{feature.key!r}] = column.categorical_column."
                "_transform_feature(features), or a tf.lookup table's lookup(ids). "
                f"feature_key = {feature.key}."
            )
        if feature.weights is None:
            continue
        weights = specs.get(feature.weights)
        if weights is None or _owner(features, feature.weights) != feature.key:
            raise ValueError(
                f"Cannot find weights {feature.weights} for weighted_categorical_column of "
                f"{feature.key!r}. Please check if the weights are present in feature dict. Also "
                "note weight-sharing among weighted_categorical_column is not supported on TPU. "
                "Return the weights once for each column, under its own name."
            )
        if not isinstance(weights, tf.SparseTensorSpec):
            raise ValueError(
                f"weighted_categorical_column with weight key name {feature.weights} has dense "
                "weights. Dense weights are not supported on TPU. Please use sparse weights "
                "instead, with the indices of the ids: tf.SparseTensor(ids.indices, weights, "
                "ids.dense_shape)."
            )


def _check_column(column: Any) -> None:
    if not isinstance(column, TPU_EMBEDDING_COLUMNS):
        raise TypeError(
            f"Unsupported feature column {column.name!r} ({type(column).__name__}) on a TPU. Make "
            "it with tf.compat.v1.tpu.experimental.embedding_column or shared_embedding_columns, "
            "or leave it out of EmbeddingConfigSpec and read it in model_fn."
        )
    device = embedding_lookup_device(column)
    if device == "cpu":
        raise ValueError(
            'Using TPUEmbeddingColumn with embedding_lookup_device="cpu" during training is not '
            f"supported: the column {column.name!r}. Leave out embedding_lookup_device."
        )
    if device == "tpu_tensor_core" and column.get_combiner() not in ("sum", "mean"):
        raise ValueError(
            f"The column {column.name!r} has the combiner {column.get_combiner()!r}. With "
            'embedding_lookup_device="tpu_tensor_core" use combiner="sum" or "mean".'
        )


def _owner(features: Mapping[str, EmbeddingFeature], weights: str) -> str:
    """Returns the feature that takes the weights: the first one with their name."""
    return next(feature.key for feature in features.values() if feature.weights == weights)
