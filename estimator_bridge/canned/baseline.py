"""The Baseline estimators of tf.estimator."""

from __future__ import annotations

import functools
import os
from collections.abc import Sequence
from typing import Any

from estimator_bridge.canned.baseline_fn import baseline_fn_v2
from estimator_bridge.canned.heads import MEAN, classifier_head, regression_head
from estimator_bridge.model import RunConfig
from estimator_bridge.training import Estimator

__all__ = ["BaselineClassifier", "BaselineEstimator", "BaselineRegressor"]


class BaselineClassifier(Estimator):
    """Predicts each class's frequency regardless of the features: a baseline for other models.

    Args:
      model_dir: see `Estimator`.
      n_classes: the number of classes; labels are 0 to n_classes - 1, or words of the vocabulary.
      weight_column: the feature key of the example weights, or a numeric column.
      label_vocabulary: the classes as strings, in the order of their IDs.
      optimizer: a tf_keras optimizer, a function that returns one, or a name (Adagrad, Adam, Ftrl,
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
        loss_reduction: str = MEAN,
    ):
        head = classifier_head(n_classes, weight_column, label_vocabulary, loss_reduction)
        model_fn = functools.partial(
            baseline_fn_v2,
            head=head,
            optimizer=optimizer,
            weight_column=weight_column,
            loss_reduction=loss_reduction,
        )
        super().__init__(model_fn, model_dir, config)


class BaselineEstimator(Estimator):
    """A bias below a head of your choice; it ignores the features.

    Args:
      head: a head of ``estimator_bridge``, such as `MultiLabelHead`, for the loss, predictions and
        metrics.
      model_dir: see `Estimator`.
      optimizer: a tf_keras optimizer, a function that returns one, or a name (Adagrad, Adam, Ftrl,
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
            baseline_fn_v2,
            head=head,
            optimizer=optimizer,
            weight_column=None,
            loss_reduction=MEAN,
        )
        super().__init__(model_fn, model_dir, config)


class BaselineRegressor(Estimator):
    """Predicts the mean regardless of the features: a baseline for other models.

    Args:
      model_dir: see `Estimator`.
      label_dimension: the number of values predicted per example.
      weight_column: the feature key of the example weights, or a numeric column.
      optimizer: a tf_keras optimizer, a function that returns one, or a name (Adagrad, Adam, Ftrl,
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
        loss_reduction: str = MEAN,
    ):
        head = regression_head(label_dimension, weight_column, loss_reduction)
        model_fn = functools.partial(
            baseline_fn_v2,
            head=head,
            optimizer=optimizer,
            weight_column=None,
            loss_reduction=MEAN,
        )
        super().__init__(model_fn, model_dir, config)
