"""The canned estimators' model functions, for the estimators of other libraries.

Each calls this library's own model function and has the original's arguments.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import tensorflow as tf

from estimator_bridge.canned.baseline_fn import baseline_fn_v1, baseline_fn_v2
from estimator_bridge.canned.combined_fn import combined_fn_v1, combined_fn_v2, read_columns
from estimator_bridge.canned.dnn_fn import dnn_fn_v1, dnn_fn_v2
from estimator_bridge.canned.linear_fn import linear_fn_v1, linear_fn_v2
from estimator_bridge.canned.model_parts import DeepPart, LinearPart
from estimator_bridge.canned.sdca import check_sdca
from estimator_bridge.canned.summaries import fraction_of_zeros

__all__ = [
    "baseline_model_fn",
    "baseline_model_fn_v2",
    "compute_fraction_of_zero",
    "dnn_linear_combined_model_fn",
    "dnn_linear_combined_model_fn_v2",
    "dnn_model_fn",
    "dnn_model_fn_v2",
    "linear_model_fn",
    "linear_model_fn_v2",
    "validate_linear_sdca_optimizer_for_linear_classifier",
    "validate_linear_sdca_optimizer_for_linear_regressor",
]

_MEAN = "sum_over_batch_size"


class _TPUSpecs:
    """A head that creates TPUEstimatorSpecs."""

    def __init__(self, head: Any):
        self._head = head
        self.create_estimator_spec = head._create_tpu_estimator_spec

    def __getattr__(self, name: str) -> Any:
        return getattr(self._head, name)


def dnn_model_fn(
    features: Any,
    labels: Any,
    mode: str,
    head: Any,
    hidden_units: Iterable[int],
    feature_columns: Iterable[Any],
    optimizer: Any = "Adagrad",
    activation_fn: Any = tf.nn.relu,
    dropout: float | None = None,
    input_layer_partitioner: Any = None,
    config: Any = None,
    use_tpu: bool = False,
    batch_norm: bool = False,
) -> Any:
    """Returns the spec of V1's DNN estimators; a TPUEstimatorSpec if use_tpu is set."""
    return dnn_fn_v1(
        features,
        labels,
        mode,
        config,
        head=_TPUSpecs(head) if use_tpu else head,
        deep=DeepPart(
            tuple(hidden_units),
            tuple(feature_columns or ()),
            activation_fn,
            dropout,
            batch_norm,
            input_layer_partitioner,
        ),
        optimizer=optimizer,
    )


def dnn_model_fn_v2(
    features: Any,
    labels: Any,
    mode: str,
    head: Any,
    hidden_units: Iterable[int],
    feature_columns: Iterable[Any],
    optimizer: Any = "Adagrad",
    activation_fn: Any = tf.nn.relu,
    dropout: float | None = None,
    config: Any = None,
    use_tpu: bool = False,
    batch_norm: bool = False,
) -> Any:
    """Returns the spec of the DNN estimators, for TPUs if use_tpu is set. Ignores config."""
    del config
    return dnn_fn_v2(
        features,
        labels,
        mode,
        head=_TPUSpecs(head) if use_tpu else head,
        deep=DeepPart(
            tuple(hidden_units), tuple(feature_columns or ()), activation_fn, dropout, batch_norm
        ),
        optimizer=optimizer,
    )


def linear_model_fn(
    features: Any,
    labels: Any,
    mode: str,
    head: Any,
    feature_columns: Iterable[Any],
    optimizer: Any,
    partitioner: Any,
    config: Any,
    sparse_combiner: str = "sum",
) -> Any:
    """Returns the spec of V1's Linear estimators."""
    return linear_fn_v1(
        features,
        labels,
        mode,
        config,
        head=head,
        linear=LinearPart(tuple(feature_columns or ()), sparse_combiner, partitioner),
        optimizer=optimizer,
    )


def linear_model_fn_v2(
    features: Any,
    labels: Any,
    mode: str,
    head: Any,
    feature_columns: Iterable[Any],
    optimizer: Any,
    config: Any,
    sparse_combiner: str = "sum",
) -> Any:
    """Returns the spec of the Linear estimators. Ignores config."""
    del config
    return linear_fn_v2(
        features,
        labels,
        mode,
        head=head,
        linear=LinearPart(tuple(feature_columns or ()), sparse_combiner),
        optimizer=optimizer,
    )


def dnn_linear_combined_model_fn(
    features: Any,
    labels: Any,
    mode: str,
    head: Any,
    linear_feature_columns: Iterable[Any] | None = None,
    linear_optimizer: Any = "Ftrl",
    dnn_feature_columns: Iterable[Any] | None = None,
    dnn_optimizer: Any = "Adagrad",
    dnn_hidden_units: Sequence[int] | None = None,
    dnn_activation_fn: Any = tf.nn.relu,
    dnn_dropout: float | None = None,
    input_layer_partitioner: Any = None,
    config: Any = None,
    batch_norm: bool = False,
    linear_sparse_combiner: str = "sum",
) -> Any:
    """Returns the spec of V1's DNNLinearCombined estimators."""
    wide, deep = read_columns(linear_feature_columns, dnn_feature_columns)
    return combined_fn_v1(
        features,
        labels,
        mode,
        config,
        head=head,
        linear=LinearPart(wide, linear_sparse_combiner, input_layer_partitioner),
        linear_optimizer=linear_optimizer,
        deep=DeepPart(
            dnn_hidden_units or (),
            deep,
            dnn_activation_fn,
            dnn_dropout,
            batch_norm,
            input_layer_partitioner,
        ),
        dnn_optimizer=dnn_optimizer,
    )


def dnn_linear_combined_model_fn_v2(
    features: Any,
    labels: Any,
    mode: str,
    head: Any,
    linear_feature_columns: Iterable[Any] | None = None,
    linear_optimizer: Any = "Ftrl",
    dnn_feature_columns: Iterable[Any] | None = None,
    dnn_optimizer: Any = "Adagrad",
    dnn_hidden_units: Sequence[int] | None = None,
    dnn_activation_fn: Any = tf.nn.relu,
    dnn_dropout: float | None = None,
    config: Any = None,
    batch_norm: bool = False,
    linear_sparse_combiner: str = "sum",
    loss_reduction: str = _MEAN,
) -> Any:
    """Returns the spec of the DNNLinearCombined estimators. Ignores config."""
    del config
    wide, deep = read_columns(linear_feature_columns, dnn_feature_columns)
    return combined_fn_v2(
        features,
        labels,
        mode,
        head=head,
        linear=LinearPart(wide, linear_sparse_combiner),
        linear_optimizer=linear_optimizer,
        deep=DeepPart(dnn_hidden_units or (), deep, dnn_activation_fn, dnn_dropout, batch_norm),
        dnn_optimizer=dnn_optimizer,
        loss_reduction=loss_reduction,
    )


def baseline_model_fn(
    features: Any,
    labels: Any,
    mode: str,
    head: Any,
    optimizer: Any,
    weight_column: Any = None,
    config: Any = None,
) -> Any:
    """Returns the spec of V1's Baseline estimators. Ignores config."""
    del config
    return baseline_fn_v1(
        features, labels, mode, head=head, optimizer=optimizer, weight_column=weight_column
    )


def baseline_model_fn_v2(
    features: Any,
    labels: Any,
    mode: str,
    head: Any,
    optimizer: Any,
    weight_column: Any = None,
    config: Any = None,
    loss_reduction: str = _MEAN,
) -> Any:
    """Returns the spec of the Baseline estimators. Ignores config."""
    del config
    return baseline_fn_v2(
        features,
        labels,
        mode,
        head=head,
        optimizer=optimizer,
        weight_column=weight_column,
        loss_reduction=loss_reduction,
    )


def validate_linear_sdca_optimizer_for_linear_classifier(
    feature_columns: Iterable[Any], n_classes: int, optimizer: Any, sparse_combiner: str
) -> None:
    """Checks a linear classifier against its optimizer; see `check_sdca`."""
    check_sdca(optimizer, feature_columns, sparse_combiner, n_classes=n_classes)


def validate_linear_sdca_optimizer_for_linear_regressor(
    feature_columns: Iterable[Any], label_dimension: int, optimizer: Any, sparse_combiner: str
) -> None:
    """Checks a linear regressor against its optimizer; see `check_sdca`."""
    check_sdca(optimizer, feature_columns, sparse_combiner, label_dimension=label_dimension)


def compute_fraction_of_zero(variables: Any) -> tf.Tensor:
    """Returns the fraction of zeros in variables or lists of variables."""
    return fraction_of_zeros(tf.nest.flatten(variables))
