"""The estimators that are wide and deep of tf.estimator."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import tensorflow as tf

from estimator_bridge.canned.combined_fn import combined_fn_v2, given_columns
from estimator_bridge.canned.heads import MEAN, classifier_head, regression_head
from estimator_bridge.canned.parts import DeepPart, LinearPart
from estimator_bridge.model import RunConfig
from estimator_bridge.training import Estimator

__all__ = [
    "DNNLinearCombinedClassifier",
    "DNNLinearCombinedEstimator",
    "DNNLinearCombinedRegressor",
]


class DNNLinearCombinedClassifier(Estimator):
    """Classifies by a linear model and a DNN, whose logits are added up: wide and deep.

    Args:
      model_dir: see `Estimator`.
      linear_feature_columns: what the linear part reads.
      linear_optimizer: a tf_keras optimizer, a function that makes one, or the name of one
        (Adagrad, Adam, Ftrl, RMSProp, SGD).
      dnn_feature_columns: what the DNN reads; dense columns.
      dnn_optimizer: likewise, of the DNN.
      dnn_hidden_units: how wide each hidden layer is, such as ``[64, 32]``.
      dnn_activation_fn: of the hidden layers.
      dnn_dropout: which part of a hidden layer's outputs is dropped in training; None for
        none.
      n_classes: how many classes; labels are 0 to n_classes - 1, or of the vocabulary.
      weight_column: the key of the examples' weights among the features, or a numeric
        column.
      label_vocabulary: the classes as strings, in the order of their ids.
      config: see `Estimator`.
      warm_start_from: see `Estimator`.
      loss_reduction: how the examples' losses become the batch's.
      batch_norm: whether hidden layers are followed by batch normalization.
      linear_sparse_combiner: how the weights of an example's ids are joined: sum, mean or
        sqrtn.
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
        wide, deep = given_columns(linear_feature_columns, dnn_feature_columns)
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
    """Has a linear model and a DNN, wide and deep, below a head of your choice.

    Args:
      head: of ``estimator_bridge``, such as `MultiLabelHead`: loss, predictions and
        metrics.
      model_dir: see `Estimator`.
      linear_feature_columns: what the linear part reads.
      linear_optimizer: a tf_keras optimizer, a function that makes one, or the name of one
        (Adagrad, Adam, Ftrl, RMSProp, SGD).
      dnn_feature_columns: what the DNN reads; dense columns.
      dnn_optimizer: likewise, of the DNN.
      dnn_hidden_units: how wide each hidden layer is, such as ``[64, 32]``.
      dnn_activation_fn: of the hidden layers.
      dnn_dropout: which part of a hidden layer's outputs is dropped in training; None for
        none.
      config: see `Estimator`.
      batch_norm: whether hidden layers are followed by batch normalization.
      linear_sparse_combiner: how the weights of an example's ids are joined: sum, mean or
        sqrtn.
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
        wide, deep = given_columns(linear_feature_columns, dnn_feature_columns)
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
    """Predicts numbers by a linear model and a DNN, whose logits are added up: wide and deep.

    Args:
      model_dir: see `Estimator`.
      linear_feature_columns: what the linear part reads.
      linear_optimizer: a tf_keras optimizer, a function that makes one, or the name of one
        (Adagrad, Adam, Ftrl, RMSProp, SGD).
      dnn_feature_columns: what the DNN reads; dense columns.
      dnn_optimizer: likewise, of the DNN.
      dnn_hidden_units: how wide each hidden layer is, such as ``[64, 32]``.
      dnn_activation_fn: of the hidden layers.
      dnn_dropout: which part of a hidden layer's outputs is dropped in training; None for
        none.
      label_dimension: how many numbers are predicted for an example.
      weight_column: the key of the examples' weights among the features, or a numeric
        column.
      config: see `Estimator`.
      warm_start_from: see `Estimator`.
      loss_reduction: how the examples' losses become the batch's.
      batch_norm: whether hidden layers are followed by batch normalization.
      linear_sparse_combiner: how the weights of an example's ids are joined: sum, mean or
        sqrtn.
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
        wide, deep = given_columns(linear_feature_columns, dnn_feature_columns)
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
