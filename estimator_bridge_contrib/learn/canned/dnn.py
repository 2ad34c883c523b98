"""Deep networks of tf.contrib.learn."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import tensorflow as tf

from estimator_bridge.canned.partitioners import partitioner
from estimator_bridge_contrib import layers
from estimator_bridge_contrib.learn.canned.networks import (
    DNN_SCOPE,
    DnnOptions,
    dnn_logits,
    embedding_multipliers,
    optimizer_of,
)
from estimator_bridge_contrib.learn.canned.predicting import (
    CannedEstimator,
    Classifier,
    Regressor,
    without_names,
)
from estimator_bridge_contrib.learn.heads.factories import multi_class_head, regression_head
from estimator_bridge_contrib.learn.model_fn_ops import ModelFnOps

__all__ = ["DNNClassifier", "DNNEstimator", "DNNRegressor"]

_v1 = tf.compat.v1
_LEARNING_RATE = 0.05
_MIN_SLICE_SIZE = 64 << 20  # bytes
_ACTIVATIONS = {"relu": tf.nn.relu, "sigmoid": tf.nn.sigmoid, "tanh": tf.nn.tanh}


class DNNEstimator(CannedEstimator):
    """A deep network with any head.

    Args:
      head: a head of tf.contrib.learn.
      hidden_units: the sizes of the hidden layers.
      feature_columns: feature columns of tf.contrib.layers or tf.feature_column.
      model_dir: the folder of checkpoints and events; by default that of the config, or a temporary
        one.
      optimizer: an optimizer, a function that returns one, or the name of one; by default Adagrad
        with a learning rate of 0.05.
      activation_fn: the hidden layers' activation function, or its name.
      dropout: the share of outputs to drop in training.
      gradient_clip_norm: the largest global norm of the gradients.
      config: a RunConfig.
      feature_engineering_fn: a function of features and labels that returns those of the model.
      embedding_lr_multipliers: factors of the learning rate, by embedding column.
      input_layer_min_slice_size: the smallest size in bytes of a part of an input layer's variable.
    """

    def __init__(
        self,
        head: Any,
        hidden_units: Sequence[int],
        feature_columns: Iterable[Any],
        model_dir: str | None = None,
        optimizer: Any = None,
        activation_fn: Any = tf.nn.relu,
        dropout: float | None = None,
        gradient_clip_norm: float | None = None,
        config: Any = None,
        feature_engineering_fn: Callable[..., Any] | None = None,
        embedding_lr_multipliers: Mapping[Any, float] | None = None,
        input_layer_min_slice_size: int | None = None,
    ):
        params = {
            "head": head,
            "hidden_units": hidden_units,
            "feature_columns": tuple(feature_columns or ()),
            "optimizer": optimizer,
            "activation_fn": activation_fn,
            "dropout": dropout,
            "gradient_clip_norm": gradient_clip_norm,
            "embedding_lr_multipliers": embedding_lr_multipliers,
            "input_layer_min_slice_size": input_layer_min_slice_size,
        }
        super().__init__(_model_fn, model_dir, config, params, feature_engineering_fn)


class DNNClassifier(Classifier, DNNEstimator):
    """A deep network that predicts classes.

    Args:
      hidden_units: the sizes of the hidden layers.
      feature_columns: feature columns of tf.contrib.layers or tf.feature_column.
      model_dir: the folder of checkpoints and events; by default that of the config, or a temporary
        one.
      n_classes: the number of classes.
      weight_column_name: the key of weights among the features.
      optimizer: an optimizer, a function that returns one, or the name of one; by default Adagrad
        with a learning rate of 0.05.
      activation_fn: the hidden layers' activation function, or its name.
      dropout: the share of outputs to drop in training.
      gradient_clip_norm: the largest global norm of the gradients.
      enable_centered_bias: whether each logit has a bias with its own optimizer.
      config: a RunConfig.
      feature_engineering_fn: a function of features and labels that returns those of the model.
      embedding_lr_multipliers: factors of the learning rate, by embedding column.
      input_layer_min_slice_size: the smallest size in bytes of a part of an input layer's variable.
      label_keys: the names of more than two classes, if labels are strings.

    Raises:
      ValueError: n_classes is below 2.
    """

    def __init__(
        self,
        hidden_units: Sequence[int],
        feature_columns: Iterable[Any],
        model_dir: str | None = None,
        n_classes: int = 2,
        weight_column_name: str | None = None,
        optimizer: Any = None,
        activation_fn: Any = tf.nn.relu,
        dropout: float | None = None,
        gradient_clip_norm: float | None = None,
        enable_centered_bias: bool = False,
        config: Any = None,
        feature_engineering_fn: Callable[..., Any] | None = None,
        embedding_lr_multipliers: Mapping[Any, float] | None = None,
        input_layer_min_slice_size: int | None = None,
        label_keys: Sequence[str] | None = None,
    ):
        head = multi_class_head(
            n_classes,
            weight_column_name=weight_column_name,
            enable_centered_bias=enable_centered_bias,
            label_keys=label_keys,
        )
        super().__init__(
            head, hidden_units, feature_columns, model_dir, optimizer, activation_fn, dropout,
            gradient_clip_norm, config, feature_engineering_fn, embedding_lr_multipliers,
            input_layer_min_slice_size,
        )  # fmt: skip


class DNNRegressor(Regressor, DNNEstimator):
    """A deep network that predicts numbers.

    Args:
      hidden_units: the sizes of the hidden layers.
      feature_columns: feature columns of tf.contrib.layers or tf.feature_column.
      model_dir: the folder of checkpoints and events; by default that of the config, or a temporary
        one.
      weight_column_name: the key of weights among the features.
      optimizer: an optimizer, a function that returns one, or the name of one; by default Adagrad
        with a learning rate of 0.05.
      activation_fn: the hidden layers' activation function, or its name.
      dropout: the share of outputs to drop in training.
      gradient_clip_norm: the largest global norm of the gradients.
      enable_centered_bias: whether each logit has a bias with its own optimizer.
      config: a RunConfig.
      feature_engineering_fn: a function of features and labels that returns those of the model.
      label_dimension: the number of labels of an example.
      embedding_lr_multipliers: factors of the learning rate, by embedding column.
      input_layer_min_slice_size: the smallest size in bytes of a part of an input layer's variable.
    """

    def __init__(
        self,
        hidden_units: Sequence[int],
        feature_columns: Iterable[Any],
        model_dir: str | None = None,
        weight_column_name: str | None = None,
        optimizer: Any = None,
        activation_fn: Any = tf.nn.relu,
        dropout: float | None = None,
        gradient_clip_norm: float | None = None,
        enable_centered_bias: bool = False,
        config: Any = None,
        feature_engineering_fn: Callable[..., Any] | None = None,
        label_dimension: int = 1,
        embedding_lr_multipliers: Mapping[Any, float] | None = None,
        input_layer_min_slice_size: int | None = None,
    ):
        head = regression_head(
            label_dimension=label_dimension,
            weight_column_name=weight_column_name,
            enable_centered_bias=enable_centered_bias,
        )
        super().__init__(
            head, hidden_units, feature_columns, model_dir, optimizer, activation_fn, dropout,
            gradient_clip_norm, config, feature_engineering_fn, embedding_lr_multipliers,
            input_layer_min_slice_size,
        )  # fmt: skip


def _model_fn(
    features: Any, labels: Any, mode: str, params: Mapping[str, Any], config: Any = None
) -> ModelFnOps:
    head = params["head"]
    features = without_names(features)
    servers = config.num_ps_replicas if config else 0
    input_partitioner = _v1.min_max_variable_partitioner(
        max_partitions=servers,
        min_slice_size=params["input_layer_min_slice_size"] or _MIN_SLICE_SIZE,
    )
    options = DnnOptions(
        params["feature_columns"],
        params["hidden_units"],
        _activation(params["activation_fn"]),
        params["dropout"],
    )
    with _v1.variable_scope(DNN_SCOPE, partitioner=partitioner(config)):
        logits, input_scope = dnn_logits(
            features, mode, options, head.logits_dimension, input_partitioner, "_"
        )

        def train_op_fn(loss: Any) -> Any:
            return layers.optimize_loss(
                loss,
                _v1.train.get_global_step(),
                _LEARNING_RATE,
                optimizer_of(params["optimizer"] or "Adagrad"),
                gradient_multipliers=embedding_multipliers(
                    params["embedding_lr_multipliers"], input_scope
                ),
                clip_gradients=params["gradient_clip_norm"],
                name=DNN_SCOPE,
                summaries=[],
            )

        # In this scope, which is a part of the names of the optimizer's variables.
        return head.create_model_fn_ops(
            features=features, mode=mode, labels=labels, train_op_fn=train_op_fn, logits=logits
        )


def _activation(activation_fn: Any) -> Any:
    if not isinstance(activation_fn, str):
        return activation_fn
    if activation_fn not in _ACTIVATIONS:
        raise ValueError(
            f"Activation name should be one of [{', '.join(sorted(_ACTIVATIONS))}], you provided "
            f"{activation_fn}. Pass the function itself to use another."
        )
    return _ACTIVATIONS[activation_fn]
