"""The Baseline estimators of tf.compat.v1.estimator."""

from __future__ import annotations

import functools
import os
from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from estimator_bridge.canned.baseline_fn import baseline_fn_v1
from estimator_bridge.canned.heads import classifier_head_v1, regression_head_v1
from estimator_bridge.model import RunConfig
from estimator_bridge.training import EstimatorV1

__all__ = ["BaselineClassifierV1", "BaselineEstimatorV1", "BaselineRegressorV1"]


class BaselineClassifierV1(EstimatorV1):
    """The `BaselineClassifier` of ``tf.compat.v1.estimator``.

    Args:
      model_dir: see `Estimator`.
      n_classes: the number of classes; labels are 0 to n_classes - 1, or words of the vocabulary.
      weight_column: the feature key of the example weights, or a numeric column.
      label_vocabulary: the classes as strings, in the order of their IDs.
      optimizer: a v1 optimizer, a function that returns one, or a name (Adagrad, Adam, Ftrl,
        RMSProp, SGD).
      config: see `Estimator`.
      loss_reduction: the reduction of the examples' losses to the batch's loss.
    """

    def __init__(
        self,
        model_dir: str | os.PathLike[str] | None = None,
        n_classes: int = 2,
        weight_column: Any = None,
        label_vocabulary: Sequence[str] | None = None,
        optimizer: Any = "Ftrl",
        config: RunConfig | None = None,
        loss_reduction: str = tf.compat.v1.losses.Reduction.SUM,
    ):
        head = classifier_head_v1(n_classes, weight_column, label_vocabulary, loss_reduction)
        model_fn = functools.partial(
            baseline_fn_v1,
            head=head,
            optimizer=optimizer,
            weight_column=weight_column,
        )
        super().__init__(model_fn, model_dir, config)


class BaselineEstimatorV1(EstimatorV1):
    """The `BaselineEstimator` of ``tf.compat.v1.estimator``.

    Args:
      head: a head of ``estimator_bridge``, such as `MultiLabelHead`, for the loss, predictions and
        metrics.
      model_dir: see `Estimator`.
      optimizer: a v1 optimizer, a function that returns one, or a name (Adagrad, Adam, Ftrl,
        RMSProp, SGD).
      config: see `Estimator`.
    """

    def __init__(
        self,
        head: Any,
        model_dir: str | os.PathLike[str] | None = None,
        optimizer: Any = "Ftrl",
        config: RunConfig | None = None,
    ):
        model_fn = functools.partial(
            baseline_fn_v1,
            head=head,
            optimizer=optimizer,
            weight_column=None,
        )
        super().__init__(model_fn, model_dir, config)


class BaselineRegressorV1(EstimatorV1):
    """The `BaselineRegressor` of ``tf.compat.v1.estimator``.

    Args:
      model_dir: see `Estimator`.
      label_dimension: the number of values predicted per example.
      weight_column: the feature key of the example weights, or a numeric column.
      optimizer: a v1 optimizer, a function that returns one, or a name (Adagrad, Adam, Ftrl,
        RMSProp, SGD).
      config: see `Estimator`.
      loss_reduction: the reduction of the examples' losses to the batch's loss.
    """

    def __init__(
        self,
        model_dir: str | os.PathLike[str] | None = None,
        label_dimension: int = 1,
        weight_column: Any = None,
        optimizer: Any = "Ftrl",
        config: RunConfig | None = None,
        loss_reduction: str = tf.compat.v1.losses.Reduction.SUM,
    ):
        head = regression_head_v1(label_dimension, weight_column, loss_reduction)
        model_fn = functools.partial(
            baseline_fn_v1,
            head=head,
            optimizer=optimizer,
            weight_column=None,
        )
        super().__init__(model_fn, model_dir, config)
