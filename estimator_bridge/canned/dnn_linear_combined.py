"""The wide and deep estimators of tf.estimator."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import tensorflow as tf

from estimator_bridge.canned.combined_fn import combined_fn_v2, read_columns
from estimator_bridge.canned.heads import MEAN, classifier_head, regression_head
from estimator_bridge.canned.model_parts import DeepPart, LinearPart
from estimator_bridge.model import RunConfig
from estimator_bridge.training import Estimator

__all__ = [
    "DNNLinearCombinedClassifier",
    "DNNLinearCombinedEstimator",
    "DNNLinearCombinedRegressor",
]


class DNNLinearCombinedClassifier(Estimator):
    """Classifies by the sum of a linear model's and a DNN's logits: wide and deep.

    Args:
      model_dir: see `Estimator`.
      linear_feature_columns: the inputs of the linear part.
      linear_optimizer: a tf_keras optimizer, a function that returns one, or a name (Adagrad, Adam,
        Ftrl, RMSProp, SGD).
      dnn_feature_columns: the inputs of the DNN, dense columns.
      dnn_optimizer: the same for the DNN.
      dnn_hidden_units: the width of each hidden layer, such as ``[64, 32]``.
      dnn_activation_fn: the activation of the hidden layers.
      dnn_dropout: the rate of dropout after hidden layers in training, or None.
      n_classes: the number of classes; labels are 0 to n_classes - 1, or words of the vocabulary.
      weight_column: the feature key of the example weights, or a numeric column.
      label_vocabulary: the classes as strings, in the order of their IDs.
      config: see `Estimator`.
      warm_start_from: see `Estimator`.
      loss_reduction: the reduction of the examples' losses to the batch's loss.
      batch_norm: whether to apply batch normalization after hidden layers.
      linear_sparse_combiner: the reduction of the weights of an example's IDs: sum, mean or sqrtn.
    """

    def __init__(
        self,
        model_dir: str | os.PathLike[str] | None = None,
        linear_feature_columns: Iterable[Any] | None = None,
        linear_optimizer: Any = "Ftrl",
        dnn_feature_columns: Iterable[Any] | None = None,
        dnn_optimizer: Any = "Adagrad",
        dnn_hidden_units: Sequence[int] | None = None,
        dnn_activation_fn: Callable[[Any], Any] | None = tf.nn.relu,
        dnn_dropout: float | None = None,
        n_classes: int = 2,
        weight_column: Any = None,
        label_vocabulary: Sequence[str] | None = None,
        config: RunConfig | None = None,
        warm_start_from: Any = None,
        loss_reduction: str = MEAN,
        batch_norm: bool = False,
        linear_sparse_combiner: str = "sum",
    ):
        head = classifier_head(n_classes, weight_column, label_vocabulary, loss_reduction)
        wide, deep = read_columns(linear_feature_columns, dnn_feature_columns)
        model_fn = functools.partial(
            combined_fn_v2,
            head=head,
            linear=LinearPart(wide, linear_sparse_combiner),
            linear_optimizer=linear_optimizer,
            deep=DeepPart(dnn_hidden_units or (), deep, dnn_activation_fn, dnn_dropout, batch_norm),
            dnn_optimizer=dnn_optimizer,
            loss_reduction=loss_reduction,
        )
        super().__init__(model_fn, model_dir, config, warm_start_from=warm_start_from)


class DNNLinearCombinedEstimator(Estimator):
    """A linear model and a DNN, wide and deep, below a head of your choice.

    Args:
      head: a head of ``estimator_bridge``, such as `MultiLabelHead`, for the loss, predictions and
        metrics.
      model_dir: see `Estimator`.
      linear_feature_columns: the inputs of the linear part.
      linear_optimizer: a tf_keras optimizer, a function that returns one, or a name (Adagrad, Adam,
        Ftrl, RMSProp, SGD).
      dnn_feature_columns: the inputs of the DNN, dense columns.
      dnn_optimizer: the same for the DNN.
      dnn_hidden_units: the width of each hidden layer, such as ``[64, 32]``.
      dnn_activation_fn: the activation of the hidden layers.
      dnn_dropout: the rate of dropout after hidden layers in training, or None.
      config: see `Estimator`.
      batch_norm: whether to apply batch normalization after hidden layers.
      linear_sparse_combiner: the reduction of the weights of an example's IDs: sum, mean or sqrtn.
    """

    def __init__(
        self,
        head: Any,
        model_dir: str | os.PathLike[str] | None = None,
        linear_feature_columns: Iterable[Any] | None = None,
        linear_optimizer: Any = "Ftrl",
        dnn_feature_columns: Iterable[Any] | None = None,
        dnn_optimizer: Any = "Adagrad",
        dnn_hidden_units: Sequence[int] | None = None,
        dnn_activation_fn: Callable[[Any], Any] | None = tf.nn.relu,
        dnn_dropout: float | None = None,
        config: RunConfig | None = None,
        batch_norm: bool = False,
        linear_sparse_combiner: str = "sum",
    ):
        wide, deep = read_columns(linear_feature_columns, dnn_feature_columns)
        model_fn = functools.partial(
            combined_fn_v2,
            head=head,
            linear=LinearPart(wide, linear_sparse_combiner),
            linear_optimizer=linear_optimizer,
            deep=DeepPart(dnn_hidden_units or (), deep, dnn_activation_fn, dnn_dropout, batch_norm),
            dnn_optimizer=dnn_optimizer,
            loss_reduction=MEAN,
        )
        super().__init__(model_fn, model_dir, config)


class DNNLinearCombinedRegressor(Estimator):
    """Predicts numbers by the sum of a linear model's and a DNN's outputs: wide and deep.

    Args:
      model_dir: see `Estimator`.
      linear_feature_columns: the inputs of the linear part.
      linear_optimizer: a tf_keras optimizer, a function that returns one, or a name (Adagrad, Adam,
        Ftrl, RMSProp, SGD).
      dnn_feature_columns: the inputs of the DNN, dense columns.
      dnn_optimizer: the same for the DNN.
      dnn_hidden_units: the width of each hidden layer, such as ``[64, 32]``.
      dnn_activation_fn: the activation of the hidden layers.
      dnn_dropout: the rate of dropout after hidden layers in training, or None.
      label_dimension: the number of values predicted per example.
      weight_column: the feature key of the example weights, or a numeric column.
      config: see `Estimator`.
      warm_start_from: see `Estimator`.
      loss_reduction: the reduction of the examples' losses to the batch's loss.
      batch_norm: whether to apply batch normalization after hidden layers.
      linear_sparse_combiner: the reduction of the weights of an example's IDs: sum, mean or sqrtn.
    """

    def __init__(
        self,
        model_dir: str | os.PathLike[str] | None = None,
        linear_feature_columns: Iterable[Any] | None = None,
        linear_optimizer: Any = "Ftrl",
        dnn_feature_columns: Iterable[Any] | None = None,
        dnn_optimizer: Any = "Adagrad",
        dnn_hidden_units: Sequence[int] | None = None,
        dnn_activation_fn: Callable[[Any], Any] | None = tf.nn.relu,
        dnn_dropout: float | None = None,
        label_dimension: int = 1,
        weight_column: Any = None,
        config: RunConfig | None = None,
        warm_start_from: Any = None,
        loss_reduction: str = MEAN,
        batch_norm: bool = False,
        linear_sparse_combiner: str = "sum",
    ):
        head = regression_head(label_dimension, weight_column, loss_reduction)
        wide, deep = read_columns(linear_feature_columns, dnn_feature_columns)
        model_fn = functools.partial(
            combined_fn_v2,
            head=head,
            linear=LinearPart(wide, linear_sparse_combiner),
            linear_optimizer=linear_optimizer,
            deep=DeepPart(dnn_hidden_units or (), deep, dnn_activation_fn, dnn_dropout, batch_norm),
            dnn_optimizer=dnn_optimizer,
            loss_reduction=loss_reduction,
        )
        super().__init__(model_fn, model_dir, config, warm_start_from=warm_start_from)
