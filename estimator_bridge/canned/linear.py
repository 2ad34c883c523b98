"""The Linear estimators of tf.estimator."""

from __future__ import annotations

import functools
import os
from collections.abc import Iterable, Sequence
from typing import Any

from estimator_bridge.canned.heads import MEAN, classifier_head, regression_head
from estimator_bridge.canned.linear_fn import linear_fn_v2
from estimator_bridge.canned.model_parts import LinearPart
from estimator_bridge.canned.sdca import check_sdca
from estimator_bridge.model import RunConfig
from estimator_bridge.training import Estimator

__all__ = ["LinearClassifier", "LinearEstimator", "LinearRegressor"]


class LinearClassifier(Estimator):
    """Classifies by a linear model.

    Args:
      feature_columns: the model's inputs, columns of ``tf.feature_column``.
      model_dir: see `Estimator`.
      n_classes: the number of classes; labels are 0 to n_classes - 1, or words of the vocabulary.
      weight_column: the feature key of the example weights, or a numeric column.
      label_vocabulary: the classes as strings, in the order of their IDs.
      optimizer: a tf_keras optimizer, a function that returns one, or a name (Adagrad, Adam, Ftrl,
        RMSProp, SGD); or a `LinearSDCA`.
      config: see `Estimator`.
      warm_start_from: see `Estimator`.
      loss_reduction: the reduction of the examples' losses to the batch's loss.
      sparse_combiner: the reduction of the weights of an example's IDs: sum, mean or sqrtn.
    """

    def __init__(
        self,
        feature_columns: Iterable[Any],
        model_dir: str | os.PathLike[str] | None = None,
        n_classes: int = 2,
        weight_column: Any = None,
        label_vocabulary: Sequence[str] | None = None,
        optimizer: Any = "Ftrl",
        config: RunConfig | None = None,
        warm_start_from: Any = None,
        loss_reduction: str = MEAN,
        sparse_combiner: str = "sum",
    ):
        columns = tuple(feature_columns or ())
        check_sdca(optimizer, columns, sparse_combiner, n_classes=n_classes)
        head = classifier_head(n_classes, weight_column, label_vocabulary, loss_reduction)
        linear = LinearPart(columns, sparse_combiner)
        model_fn = functools.partial(linear_fn_v2, head=head, linear=linear, optimizer=optimizer)
        super().__init__(model_fn, model_dir, config, warm_start_from=warm_start_from)


class LinearEstimator(Estimator):
    """A linear model below a head of your choice.

    Args:
      head: a head of ``estimator_bridge``, such as `MultiLabelHead`, for the loss, predictions and
        metrics.
      feature_columns: the model's inputs, columns of ``tf.feature_column``.
      model_dir: see `Estimator`.
      optimizer: a tf_keras optimizer, a function that returns one, or a name (Adagrad, Adam, Ftrl,
        RMSProp, SGD); or a `LinearSDCA`.
      config: see `Estimator`.
      sparse_combiner: the reduction of the weights of an example's IDs: sum, mean or sqrtn.
      warm_start_from: see `Estimator`.
    """

    def __init__(
        self,
        head: Any,
        feature_columns: Iterable[Any],
        model_dir: str | os.PathLike[str] | None = None,
        optimizer: Any = "Ftrl",
        config: RunConfig | None = None,
        sparse_combiner: str = "sum",
        warm_start_from: Any = None,
    ):
        linear = LinearPart(tuple(feature_columns or ()), sparse_combiner)
        model_fn = functools.partial(linear_fn_v2, head=head, linear=linear, optimizer=optimizer)
        super().__init__(model_fn, model_dir, config, warm_start_from=warm_start_from)


class LinearRegressor(Estimator):
    """Predicts numbers by a linear model.

    Args:
      feature_columns: the model's inputs, columns of ``tf.feature_column``.
      model_dir: see `Estimator`.
      label_dimension: the number of values predicted per example.
      weight_column: the feature key of the example weights, or a numeric column.
      optimizer: a tf_keras optimizer, a function that returns one, or a name (Adagrad, Adam, Ftrl,
        RMSProp, SGD); or a `LinearSDCA`.
      config: see `Estimator`.
      warm_start_from: see `Estimator`.
      loss_reduction: the reduction of the examples' losses to the batch's loss.
      sparse_combiner: the reduction of the weights of an example's IDs: sum, mean or sqrtn.
    """

    def __init__(
        self,
        feature_columns: Iterable[Any],
        model_dir: str | os.PathLike[str] | None = None,
        label_dimension: int = 1,
        weight_column: Any = None,
        optimizer: Any = "Ftrl",
        config: RunConfig | None = None,
        warm_start_from: Any = None,
        loss_reduction: str = MEAN,
        sparse_combiner: str = "sum",
    ):
        columns = tuple(feature_columns or ())
        check_sdca(optimizer, columns, sparse_combiner, label_dimension=label_dimension)
        head = regression_head(label_dimension, weight_column, loss_reduction)
        linear = LinearPart(columns, sparse_combiner)
        model_fn = functools.partial(linear_fn_v2, head=head, linear=linear, optimizer=optimizer)
        super().__init__(model_fn, model_dir, config, warm_start_from=warm_start_from)
