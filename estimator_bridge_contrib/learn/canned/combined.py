"""Wide and deep models of tf.contrib.learn: a linear model beside a deep network."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import tensorflow as tf

from estimator_bridge.canned.partitioners import input_partitioner, partitioner
from estimator_bridge_contrib import layers
from estimator_bridge_contrib.learn.canned.linear import linear_learning_rate
from estimator_bridge_contrib.learn.canned.networks import (
    DNN_SCOPE,
    LINEAR_SCOPE,
    DnnOptions,
    dnn_logits,
    embedding_multipliers,
    linear_logits,
    optimizer_of,
)
from estimator_bridge_contrib.learn.canned.predicting import (
    CannedEstimator,
    Classifier,
    Regressor,
    check_columns,
    without_names,
)
from estimator_bridge_contrib.learn.estimator import BaseEstimator
from estimator_bridge_contrib.learn.heads.factories import multi_class_head, regression_head
from estimator_bridge_contrib.learn.model_fn_ops import ModelFnOps

__all__ = [
    "DNNLinearCombinedClassifier",
    "DNNLinearCombinedEstimator",
    "DNNLinearCombinedRegressor",
]

_v1 = tf.compat.v1
_DNN_LEARNING_RATE = 0.05


class DNNLinearCombinedEstimator(CannedEstimator):
    """A linear model and a deep network, whose logits are added up, with any head.

    Args:
      head: a head of tf.contrib.learn.
      model_dir: the folder of checkpoints and events; by default that of the config, or a temporary
        one.
      linear_feature_columns: the feature columns of the linear model.
      linear_optimizer: its optimizer; by default Ftrl with a learning rate of at most 0.2.
      _joint_linear_weights: whether all its weights are in one variable; the columns must be
        sparse.
      dnn_feature_columns: the feature columns of the deep network.
      dnn_optimizer: its optimizer; by default Adagrad with a learning rate of 0.05.
      dnn_hidden_units: the sizes of its hidden layers.
      dnn_activation_fn: their activation function; by default tf.nn.relu.
      dnn_dropout: the share of outputs to drop in training.
      gradient_clip_norm: the largest global norm of the gradients of each of the two.
      config: a RunConfig.
      feature_engineering_fn: a function of features and labels that returns those of the model.
      embedding_lr_multipliers: factors of the learning rate, by embedding column.
      fix_global_step_increment_bug: whether a step counts once; by default it counts for the linear
        model and for the deep network.
      input_layer_partitioner: the partitioner of the deep network's input layer.

    Raises:
      ValueError: there are no feature columns.
    """

    def __init__(
        self,
        head: Any,
        model_dir: str | None = None,
        linear_feature_columns: Iterable[Any] | None = None,
        linear_optimizer: Any = None,
        _joint_linear_weights: bool = False,
        dnn_feature_columns: Iterable[Any] | None = None,
        dnn_optimizer: Any = None,
        dnn_hidden_units: Sequence[int] | None = None,
        dnn_activation_fn: Any = None,
        dnn_dropout: float | None = None,
        gradient_clip_norm: float | None = None,
        config: Any = None,
        feature_engineering_fn: Callable[..., Any] | None = None,
        embedding_lr_multipliers: Mapping[Any, float] | None = None,
        fix_global_step_increment_bug: bool = False,
        input_layer_partitioner: Any = None,
    ):
        linear_columns, dnn_columns = check_columns(linear_feature_columns, dnn_feature_columns)
        params = {
            "head": head,
            "linear_feature_columns": linear_columns,
            "linear_optimizer": linear_optimizer,
            "joint_linear_weights": _joint_linear_weights,
            "dnn_feature_columns": dnn_columns,
            "dnn_optimizer": dnn_optimizer,
            "dnn_hidden_units": dnn_hidden_units,
            "dnn_activation_fn": dnn_activation_fn,
            "dnn_dropout": dnn_dropout,
            "gradient_clip_norm": gradient_clip_norm,
            "embedding_lr_multipliers": embedding_lr_multipliers,
            "fix_global_step_increment_bug": fix_global_step_increment_bug,
            "input_layer_partitioner": input_layer_partitioner,
        }
        self._counts_twice = bool(
            linear_columns and dnn_columns and not fix_global_step_increment_bug
        )
        super().__init__(_model_fn, model_dir, config, params, feature_engineering_fn)

    def fit(
        self,
        x: Any = None,
        y: Any = None,
        input_fn: Callable[[], Any] | None = None,
        steps: int | None = None,
        batch_size: int | None = None,
        monitors: Sequence[Any] | None = None,
        max_steps: int | None = None,
    ) -> BaseEstimator:
        """Trains the model; see `BaseEstimator.fit`.

        If a step counts twice, the last one is the one that begins with the wanted count, or the
        count before it, as in TensorFlow 1.15.5: ``fit(steps=4)`` makes 3 steps.
        """
        if self._counts_twice and steps is not None:
            steps = _even_end(int(steps))
        elif self._counts_twice and max_steps is not None:
            step = int(self.get_variable_value("global_step")) if self._latest() else 0
            if max_steps > step:
                max_steps = step + _even_end(max_steps - step)
        return super().fit(x, y, input_fn, steps, batch_size, monitors, max_steps)


class DNNLinearCombinedClassifier(Classifier, DNNLinearCombinedEstimator):
    """A linear model and a deep network, whose logits are added up, that predict classes.

    Args:
      model_dir: the folder of checkpoints and events; by default that of the config, or a temporary
        one.
      n_classes: the number of classes.
      weight_column_name: the key of weights among the features.
      linear_feature_columns: the feature columns of the linear model.
      linear_optimizer: its optimizer; by default Ftrl with a learning rate of at most 0.2.
      _joint_linear_weights: whether all its weights are in one variable; the columns must be
        sparse.
      dnn_feature_columns: the feature columns of the deep network.
      dnn_optimizer: its optimizer; by default Adagrad with a learning rate of 0.05.
      dnn_hidden_units: the sizes of its hidden layers.
      dnn_activation_fn: their activation function; by default tf.nn.relu.
      dnn_dropout: the share of outputs to drop in training.
      gradient_clip_norm: the largest global norm of the gradients of each of the two.
      enable_centered_bias: whether each logit has a bias with its own optimizer.
      config: a RunConfig.
      feature_engineering_fn: a function of features and labels that returns those of the model.
      embedding_lr_multipliers: factors of the learning rate, by embedding column.
      input_layer_min_slice_size: the smallest size in bytes of a part of an input layer's variable.
      label_keys: the names of more than two classes, if labels are strings.
      fix_global_step_increment_bug: whether a step counts once; by default it counts for the linear
        model and for the deep network.

    Raises:
      ValueError: n_classes is below 2, or there are no feature columns.
    """

    def __init__(
        self,
        model_dir: str | None = None,
        n_classes: int = 2,
        weight_column_name: str | None = None,
        linear_feature_columns: Iterable[Any] | None = None,
        linear_optimizer: Any = None,
        _joint_linear_weights: bool = False,
        dnn_feature_columns: Iterable[Any] | None = None,
        dnn_optimizer: Any = None,
        dnn_hidden_units: Sequence[int] | None = None,
        dnn_activation_fn: Any = tf.nn.relu,
        dnn_dropout: float | None = None,
        gradient_clip_norm: float | None = None,
        enable_centered_bias: bool = False,
        config: Any = None,
        feature_engineering_fn: Callable[..., Any] | None = None,
        embedding_lr_multipliers: Mapping[Any, float] | None = None,
        input_layer_min_slice_size: int | None = None,
        label_keys: Sequence[str] | None = None,
        fix_global_step_increment_bug: bool = False,
    ):
        head = multi_class_head(
            n_classes,
            weight_column_name=weight_column_name,
            enable_centered_bias=enable_centered_bias,
            label_keys=label_keys,
        )
        super().__init__(
            head, model_dir, linear_feature_columns, linear_optimizer, _joint_linear_weights,
            dnn_feature_columns, dnn_optimizer, dnn_hidden_units, dnn_activation_fn, dnn_dropout,
            gradient_clip_norm, config, feature_engineering_fn, embedding_lr_multipliers,
            fix_global_step_increment_bug, _input_partitioner(config, input_layer_min_slice_size),
        )  # fmt: skip


class DNNLinearCombinedRegressor(Regressor, DNNLinearCombinedEstimator):
    """A linear model and a deep network, whose logits are added up, that predict numbers.

    Args:
      model_dir: the folder of checkpoints and events; by default that of the config, or a temporary
        one.
      weight_column_name: the key of weights among the features.
      linear_feature_columns: the feature columns of the linear model.
      linear_optimizer: its optimizer; by default Ftrl with a learning rate of at most 0.2.
      _joint_linear_weights: whether all its weights are in one variable; the columns must be
        sparse.
      dnn_feature_columns: the feature columns of the deep network.
      dnn_optimizer: its optimizer; by default Adagrad with a learning rate of 0.05.
      dnn_hidden_units: the sizes of its hidden layers.
      dnn_activation_fn: their activation function; by default tf.nn.relu.
      dnn_dropout: the share of outputs to drop in training.
      gradient_clip_norm: the largest global norm of the gradients of each of the two.
      enable_centered_bias: whether each logit has a bias with its own optimizer.
      label_dimension: the number of labels of an example.
      config: a RunConfig.
      feature_engineering_fn: a function of features and labels that returns those of the model.
      embedding_lr_multipliers: factors of the learning rate, by embedding column.
      input_layer_min_slice_size: the smallest size in bytes of a part of an input layer's variable.
      fix_global_step_increment_bug: whether a step counts once; by default it counts for the linear
        model and for the deep network.

    Raises:
      ValueError: there are no feature columns.
    """

    def __init__(
        self,
        model_dir: str | None = None,
        weight_column_name: str | None = None,
        linear_feature_columns: Iterable[Any] | None = None,
        linear_optimizer: Any = None,
        _joint_linear_weights: bool = False,
        dnn_feature_columns: Iterable[Any] | None = None,
        dnn_optimizer: Any = None,
        dnn_hidden_units: Sequence[int] | None = None,
        dnn_activation_fn: Any = tf.nn.relu,
        dnn_dropout: float | None = None,
        gradient_clip_norm: float | None = None,
        enable_centered_bias: bool = False,
        label_dimension: int = 1,
        config: Any = None,
        feature_engineering_fn: Callable[..., Any] | None = None,
        embedding_lr_multipliers: Mapping[Any, float] | None = None,
        input_layer_min_slice_size: int | None = None,
        fix_global_step_increment_bug: bool = False,
    ):
        head = regression_head(
            label_dimension=label_dimension,
            weight_column_name=weight_column_name,
            enable_centered_bias=enable_centered_bias,
        )
        super().__init__(
            head, model_dir, linear_feature_columns, linear_optimizer, _joint_linear_weights,
            dnn_feature_columns, dnn_optimizer, dnn_hidden_units, dnn_activation_fn, dnn_dropout,
            gradient_clip_norm, config, feature_engineering_fn, embedding_lr_multipliers,
            fix_global_step_increment_bug, _input_partitioner(config, input_layer_min_slice_size),
        )  # fmt: skip


def _model_fn(
    features: Any, labels: Any, mode: str, params: Mapping[str, Any], config: Any = None
) -> ModelFnOps:
    head, features = params["head"], without_names(features)
    linear_columns, dnn_columns = params["linear_feature_columns"], params["dnn_feature_columns"]
    optimizers = [
        _checked(optimizer_of(params["linear_optimizer"] or "Ftrl")),
        _checked(optimizer_of(params["dnn_optimizer"] or "Adagrad")),
    ]
    logits, input_scope = [], ""
    if dnn_columns:
        if not params["dnn_hidden_units"]:
            raise ValueError(
                "dnn_hidden_units must be defined when dnn_feature_columns is specified."
            )
        options = DnnOptions(
            dnn_columns,
            params["dnn_hidden_units"],
            params["dnn_activation_fn"] or tf.nn.relu,
            params["dnn_dropout"],
        )
        of_input = params["input_layer_partitioner"] or input_partitioner(config)
        with _v1.variable_scope(DNN_SCOPE, partitioner=partitioner(config)):
            deep, input_scope = dnn_logits(
                features, mode, options, head.logits_dimension, of_input, "/"
            )
        logits.append(deep)
    if linear_columns:
        with _v1.variable_scope(LINEAR_SCOPE, partitioner=input_partitioner(config)) as scope:
            wide = linear_logits(
                features,
                linear_columns,
                head.logits_dimension,
                params["joint_linear_weights"],
                scope,
                is_summarized=True,
            )
        logits.append(wide)

    def train_op_fn(loss: Any) -> Any:
        global_step = _v1.train.get_global_step()
        counts_once = params["fix_global_step_increment_bug"]
        shared = {
            "clip_gradients": params["gradient_clip_norm"],
            "summaries": [],
            "increment_global_step": not counts_once,
        }
        updates = []
        if dnn_columns:
            update = layers.optimize_loss(
                loss,
                global_step,
                _DNN_LEARNING_RATE,
                optimizers[1],
                gradient_multipliers=embedding_multipliers(
                    params["embedding_lr_multipliers"], input_scope
                ),
                variables=_v1.get_collection(DNN_SCOPE),
                name=DNN_SCOPE,
                **shared,
            )
            updates.append(update)
        if linear_columns:
            update = layers.optimize_loss(
                loss,
                global_step,
                linear_learning_rate(linear_columns),
                optimizers[0],
                variables=_v1.get_collection(LINEAR_SCOPE),
                name=LINEAR_SCOPE,
                **shared,
            )
            updates.append(update)
        train_op = tf.group(*updates)
        if not counts_once:
            return train_op
        with tf.control_dependencies([train_op]):
            return _v1.assign_add(global_step, 1).op

    return head.create_model_fn_ops(
        features=features,
        mode=mode,
        labels=labels,
        train_op_fn=train_op_fn,
        logits=logits[0] if len(logits) == 1 else logits[0] + logits[1],
    )


def _even_end(steps: int) -> int:
    return 2 * (steps // 2 + 1)


def _checked(optimizer: Any) -> Any:
    if isinstance(optimizer, _v1.train.SyncReplicasOptimizer):
        raise ValueError(
            "SyncReplicasOptimizer is not supported in DNNLinearCombined model. If you want to use "
            "this optimizer, please use either DNN or Linear model."
        )
    return optimizer


def _input_partitioner(config: Any, min_slice_size: int | None) -> Any:
    if min_slice_size is None:
        return None
    servers = config.num_ps_replicas if config else 0
    return _v1.min_max_variable_partitioner(max_partitions=servers, min_slice_size=min_slice_size)
