"""Linear models of tf.contrib.learn."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import tensorflow as tf
from tensorflow.compat.v1 import logging

from estimator_bridge.canned.partitioners import input_partitioner
from estimator_bridge_contrib import layers
from estimator_bridge_contrib.learn.canned.networks import (
    LINEAR_SCOPE,
    linear_logits,
    optimizer_of,
)
from estimator_bridge_contrib.learn.canned.predicting import (
    CannedEstimator,
    Classifier,
    Regressor,
    without_names,
)
from estimator_bridge_contrib.learn.canned.sdca_linear import (
    check_sdca,
    is_sdca,
    sdca_model_fn,
)
from estimator_bridge_contrib.learn.heads.factories import multi_class_head, regression_head
from estimator_bridge_contrib.learn.model_fn_ops import ModelFnOps

__all__ = ["LinearClassifier", "LinearEstimator", "LinearRegressor", "linear_learning_rate"]

_v1 = tf.compat.v1
_LEARNING_RATE = 0.2


class LinearEstimator(CannedEstimator):
    """A linear model with any head.

    Args:
      feature_columns: feature columns of tf.contrib.layers or tf.feature_column.
      head: a head of tf.contrib.learn.
      model_dir: the folder of checkpoints and events; by default that of the config, or a temporary
        one.
      weight_column_name: has no effect: the head has the key of weights.
      optimizer: an optimizer, a function that returns one, or the name of one, which gets a
        learning rate of 0.2; by default Ftrl, with at most that learning rate.
      gradient_clip_norm: the largest global norm of the gradients.
      _joint_weights: whether all weights are in one variable; the columns must be sparse.
      config: a RunConfig.
      feature_engineering_fn: a function of features and labels that returns those of the model.

    Raises:
      ValueError: there are no feature columns, or the optimizer is an SDCAOptimizer.
    """

    def __init__(
        self,
        feature_columns: Iterable[Any],
        head: Any,
        model_dir: str | None = None,
        weight_column_name: str | None = None,
        optimizer: Any = None,
        gradient_clip_norm: float | None = None,
        _joint_weights: bool = False,
        config: Any = None,
        feature_engineering_fn: Callable[..., Any] | None = None,
    ):
        del weight_column_name
        if is_sdca(optimizer):
            raise ValueError(
                "LinearEstimator does not support SDCA optimizer. Use LinearClassifier, "
                "LinearRegressor or SVM."
            )
        columns = _checked(feature_columns)
        params = {
            "head": head,
            "feature_columns": columns,
            "optimizer": optimizer,
            "gradient_clip_norm": gradient_clip_norm,
            "joint_weights": _joint_weights,
        }
        super().__init__(_model_fn, model_dir, config, params, feature_engineering_fn)


class LinearClassifier(Classifier, LinearEstimator):
    """A linear model that predicts classes.

    Args:
      feature_columns: feature columns of tf.contrib.layers or tf.feature_column.
      model_dir: the folder of checkpoints and events; by default that of the config, or a temporary
        one.
      n_classes: the number of classes.
      weight_column_name: the key of weights among the features.
      optimizer: an optimizer, a function that returns one, or the name of one, which gets a
        learning rate of 0.2; by default Ftrl, with at most that learning rate; or an
        SDCAOptimizer.
      gradient_clip_norm: the largest global norm of the gradients.
      enable_centered_bias: whether each logit has a bias with its own optimizer.
      _joint_weight: whether all weights are in one variable; the columns must be sparse.
      config: a RunConfig.
      feature_engineering_fn: a function of features and labels that returns those of the model.
      label_keys: the names of more than two classes, if labels are strings.

    Raises:
      ValueError: n_classes is below 2, there are no feature columns, or enable_centered_bias is
        given with an SDCAOptimizer.
      AssertionError: another argument does not fit an SDCAOptimizer.
    """

    def __init__(
        self,
        feature_columns: Iterable[Any],
        model_dir: str | None = None,
        n_classes: int = 2,
        weight_column_name: str | None = None,
        optimizer: Any = None,
        gradient_clip_norm: float | None = None,
        enable_centered_bias: bool = False,
        _joint_weight: bool = False,
        config: Any = None,
        feature_engineering_fn: Callable[..., Any] | None = None,
        label_keys: Sequence[str] | None = None,
    ):
        head = multi_class_head(
            n_classes,
            weight_column_name=weight_column_name,
            enable_centered_bias=enable_centered_bias,
            label_keys=label_keys,
        )
        if is_sdca(optimizer):
            check_sdca(head, enable_centered_bias, _joint_weight)
            params = _sdca_params(head, feature_columns, optimizer, weight_column_name)
            CannedEstimator.__init__(
                self, sdca_model_fn, model_dir, config, params, feature_engineering_fn
            )
            return
        super().__init__(
            feature_columns, head, model_dir, None, optimizer, gradient_clip_norm, _joint_weight,
            config, feature_engineering_fn,
        )  # fmt: skip


class LinearRegressor(Regressor, LinearEstimator):
    """A linear model that predicts numbers.

    Args:
      feature_columns: feature columns of tf.contrib.layers or tf.feature_column.
      model_dir: the folder of checkpoints and events; by default that of the config, or a temporary
        one.
      weight_column_name: the key of weights among the features.
      optimizer: an optimizer, a function that returns one, or the name of one, which gets a
        learning rate of 0.2; by default Ftrl, with at most that learning rate; or an
        SDCAOptimizer.
      gradient_clip_norm: the largest global norm of the gradients.
      enable_centered_bias: whether each logit has a bias with its own optimizer.
      label_dimension: the number of labels of an example.
      _joint_weights: whether all weights are in one variable; the columns must be sparse.
      config: a RunConfig.
      feature_engineering_fn: a function of features and labels that returns those of the model.

    Raises:
      ValueError: there are no feature columns.
      AssertionError: an argument does not fit an SDCAOptimizer.
    """

    def __init__(
        self,
        feature_columns: Iterable[Any],
        model_dir: str | None = None,
        weight_column_name: str | None = None,
        optimizer: Any = None,
        gradient_clip_norm: float | None = None,
        enable_centered_bias: bool = False,
        label_dimension: int = 1,
        _joint_weights: bool = False,
        config: Any = None,
        feature_engineering_fn: Callable[..., Any] | None = None,
    ):
        if is_sdca(optimizer) and enable_centered_bias:
            logging.warning(
                "centered_bias is not supported with SDCA, please disable it explicitly."
            )
            enable_centered_bias = False
        head = regression_head(
            label_dimension=label_dimension,
            weight_column_name=weight_column_name,
            enable_centered_bias=enable_centered_bias,
        )
        if is_sdca(optimizer):
            check_sdca(head, enable_centered_bias, _joint_weights)
            params = _sdca_params(head, feature_columns, optimizer, weight_column_name)
            CannedEstimator.__init__(
                self, sdca_model_fn, model_dir, config, params, feature_engineering_fn
            )
            return
        super().__init__(
            feature_columns, head, model_dir, None, optimizer, gradient_clip_norm, _joint_weights,
            config, feature_engineering_fn,
        )  # fmt: skip


def _checked(columns: Iterable[Any]) -> tuple[Any, ...]:
    columns = tuple(columns or ())
    if not columns:
        raise ValueError("feature_columns must name at least one feature column. Got none.")
    return columns


def _sdca_params(head: Any, columns: Any, optimizer: Any, weights: str | None) -> dict[str, Any]:
    return {
        "head": head,
        "feature_columns": _checked(columns),
        "optimizer": optimizer,
        "weight_column_name": weights,
    }


def linear_learning_rate(columns: Sequence[Any]) -> float:
    """Returns the default learning rate of a linear model: less for many columns."""
    return min(_LEARNING_RATE, 1.0 / math.sqrt(len(columns)))


def _model_fn(
    features: Any, labels: Any, mode: str, params: Mapping[str, Any], config: Any = None
) -> ModelFnOps:
    head, columns = params["head"], params["feature_columns"]
    features = without_names(features)
    with _v1.variable_scope(LINEAR_SCOPE, partitioner=input_partitioner(config)) as scope:
        logits = linear_logits(
            features, columns, head.logits_dimension, params["joint_weights"], scope
        )

        def train_op_fn(loss: Any) -> Any:
            weights = _v1.get_collection(LINEAR_SCOPE)
            gradients = _v1.gradients(loss, weights)
            if params["gradient_clip_norm"]:
                gradients, _ = tf.clip_by_global_norm(gradients, params["gradient_clip_norm"])
            optimizer = _optimizer(params["optimizer"], columns)
            return optimizer.apply_gradients(
                zip(gradients, weights), global_step=_v1.train.get_global_step()
            )

        # In this scope, which is a part of the names of the optimizer's variables.
        return head.create_model_fn_ops(
            features=features, mode=mode, labels=labels, train_op_fn=train_op_fn, logits=logits
        )


def _optimizer(optimizer: Any, columns: Sequence[Any]) -> Any:
    if not optimizer:
        return _v1.train.FtrlOptimizer(linear_learning_rate(columns))
    if not isinstance(optimizer, str):
        return optimizer_of(optimizer)
    if optimizer not in layers.OPTIMIZER_CLS_NAMES:
        raise ValueError(
            f"Optimizer name should be one of [{', '.join(layers.OPTIMIZER_CLS_NAMES)}], you "
            f"provided {optimizer}."
        )
    return layers.OPTIMIZER_CLS_NAMES[optimizer](_LEARNING_RATE)
