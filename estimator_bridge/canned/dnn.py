"""The DNN estimators of tf.estimator."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import tensorflow as tf

from estimator_bridge.canned.dnn_fn import dnn_fn_v2
from estimator_bridge.canned.heads import MEAN, classifier_head, regression_head
from estimator_bridge.canned.model_parts import DeepPart
from estimator_bridge.model import RunConfig
from estimator_bridge.training import Estimator

__all__ = ["DNNClassifier", "DNNEstimator", "DNNRegressor"]


class DNNClassifier(Estimator):
    """Classifies by fully connected layers.

    Args:
      hidden_units: the width of each hidden layer, such as ``[64, 32]``.
      feature_columns: the model's inputs, columns of ``tf.feature_column``.
      model_dir: see `Estimator`.
      n_classes: the number of classes; labels are 0 to n_classes - 1, or words of the vocabulary.
      weight_column: the feature key of the example weights, or a numeric column.
      label_vocabulary: the classes as strings, in the order of their IDs.
      optimizer: a tf_keras optimizer, a function that returns one, or a name (Adagrad, Adam, Ftrl,
        RMSProp, SGD).
      activation_fn: the activation of the hidden layers.
      dropout: the rate of dropout after hidden layers in training, or None.
      config: see `Estimator`.
      warm_start_from: see `Estimator`.
      loss_reduction: the reduction of the examples' losses to the batch's loss.
      batch_norm: whether to apply batch normalization after hidden layers.
    """

    def __init__(
        self,
        hidden_units: Sequence[int],
        feature_columns: Iterable[Any],
        model_dir: str | os.PathLike[str] | None = None,
        n_classes: int = 2,
        weight_column: Any = None,
        label_vocabulary: Sequence[str] | None = None,
        optimizer: Any = "Adagrad",
        activation_fn: Callable[[Any], Any] | None = tf.nn.relu,
        dropout: float | None = None,
        config: RunConfig | None = None,
        warm_start_from: Any = None,
        loss_reduction: str = MEAN,
        batch_norm: bool = False,
    ):
        head = classifier_head(n_classes, weight_column, label_vocabulary, loss_reduction)
        columns = tuple(feature_columns or ())
        deep = DeepPart(tuple(hidden_units), columns, activation_fn, dropout, batch_norm)
        model_fn = functools.partial(dnn_fn_v2, head=head, deep=deep, optimizer=optimizer)
        super().__init__(model_fn, model_dir, config, warm_start_from=warm_start_from)


class DNNEstimator(Estimator):
    """Fully connected layers below a head of your choice.

    Args:
      head: a head of ``estimator_bridge``, such as `MultiLabelHead`, for the loss, predictions and
        metrics.
      hidden_units: the width of each hidden layer, such as ``[64, 32]``.
      feature_columns: the model's inputs, columns of ``tf.feature_column``.
      model_dir: see `Estimator`.
      optimizer: a tf_keras optimizer, a function that returns one, or a name (Adagrad, Adam, Ftrl,
        RMSProp, SGD).
      activation_fn: the activation of the hidden layers.
      dropout: the rate of dropout after hidden layers in training, or None.
      config: see `Estimator`.
      warm_start_from: see `Estimator`.
      batch_norm: whether to apply batch normalization after hidden layers.
    """

    def __init__(
        self,
        head: Any,
        hidden_units: Sequence[int],
        feature_columns: Iterable[Any],
        model_dir: str | os.PathLike[str] | None = None,
        optimizer: Any = "Adagrad",
        activation_fn: Callable[[Any], Any] | None = tf.nn.relu,
        dropout: float | None = None,
        config: RunConfig | None = None,
        warm_start_from: Any = None,
        batch_norm: bool = False,
    ):
        columns = tuple(feature_columns or ())
        deep = DeepPart(tuple(hidden_units), columns, activation_fn, dropout, batch_norm)
        model_fn = functools.partial(dnn_fn_v2, head=head, deep=deep, optimizer=optimizer)
        super().__init__(model_fn, model_dir, config, warm_start_from=warm_start_from)


class DNNRegressor(Estimator):
    """Predicts numbers by fully connected layers.

    Args:
      hidden_units: the width of each hidden layer, such as ``[64, 32]``.
      feature_columns: the model's inputs, columns of ``tf.feature_column``.
      model_dir: see `Estimator`.
      label_dimension: the number of values predicted per example.
      weight_column: the feature key of the example weights, or a numeric column.
      optimizer: a tf_keras optimizer, a function that returns one, or a name (Adagrad, Adam, Ftrl,
        RMSProp, SGD).
      activation_fn: the activation of the hidden layers.
      dropout: the rate of dropout after hidden layers in training, or None.
      config: see `Estimator`.
      warm_start_from: see `Estimator`.
      loss_reduction: the reduction of the examples' losses to the batch's loss.
      batch_norm: whether to apply batch normalization after hidden layers.
    """

    def __init__(
        self,
        hidden_units: Sequence[int],
        feature_columns: Iterable[Any],
        model_dir: str | os.PathLike[str] | None = None,
        label_dimension: int = 1,
        weight_column: Any = None,
        optimizer: Any = "Adagrad",
        activation_fn: Callable[[Any], Any] | None = tf.nn.relu,
        dropout: float | None = None,
        config: RunConfig | None = None,
        warm_start_from: Any = None,
        loss_reduction: str = MEAN,
        batch_norm: bool = False,
    ):
        head = regression_head(label_dimension, weight_column, loss_reduction)
        columns = tuple(feature_columns or ())
        deep = DeepPart(tuple(hidden_units), columns, activation_fn, dropout, batch_norm)
        model_fn = functools.partial(dnn_fn_v2, head=head, deep=deep, optimizer=optimizer)
        super().__init__(model_fn, model_dir, config, warm_start_from=warm_start_from)
