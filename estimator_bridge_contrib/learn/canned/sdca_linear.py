"""The linear models of tf.contrib.learn that SDCAOptimizer trains."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import tensorflow as tf

from estimator_bridge_contrib import layers
from estimator_bridge_contrib.learn.canned.networks import LINEAR_SCOPE
from estimator_bridge_contrib.learn.canned.predicting import without_names
from estimator_bridge_contrib.learn.heads.binary import BinaryLogisticHead, BinarySvmHead
from estimator_bridge_contrib.learn.heads.regression import RegressionHead
from estimator_bridge_contrib.learn.model_fn_ops import ModelFnOps
from estimator_bridge_contrib.linear_optimizer.sdca_optimizer import SDCAOptimizer

__all__ = ["check_sdca", "is_sdca", "sdca_model_fn"]

_v1 = tf.compat.v1
_BIAS = "tf_virtual_bias_column"  # the bias as a column of ones, which the solver needs
_LOSSES: dict[type, str] = {
    BinarySvmHead: "hinge_loss",
    BinaryLogisticHead: "logistic_loss",
    RegressionHead: "squared_loss",
}


def is_sdca(optimizer: Any) -> bool:
    """Returns whether an optimizer is an SDCAOptimizer."""
    return isinstance(optimizer, SDCAOptimizer)


def check_sdca(head: Any, enable_centered_bias: bool, is_joint: bool) -> None:
    """Checks the other arguments of a linear model with an SDCAOptimizer.

    Raises:
      ValueError: the model has a centered bias.
      AssertionError: the weights are in one variable, or the head is of another kind.
    """
    if enable_centered_bias:
        raise ValueError(
            "enable_centered_bias is not supported with SDCA: the model has a bias of its own. "
            "Leave it out."
        )
    if is_joint:
        raise AssertionError(
            "_joint_weight is incompatible with the SDCAOptimizer. Leave it out, or use another "
            "optimizer."
        )
    if type(head) not in _LOSSES or head.logits_dimension != 1:
        raise AssertionError(
            "SDCA only applies to binary classification, and to regression with label_dimension=1. "
            f"Got {head}. Use another optimizer, such as Ftrl."
        )


def sdca_model_fn(features: Any, labels: Any, mode: str, params: Mapping[str, Any]) -> ModelFnOps:
    """Builds a linear model, and a step that also updates its weights.

    Args:
      features: the batch by key.
      labels: [batch] or [batch, 1].
      mode: one of ModeKeys.
      params: the head, the feature_columns, the optimizer, and the weight_column_name or None.
    """
    head, optimizer, columns = params["head"], params["optimizer"], params["feature_columns"]
    tensors = dict(without_names(features))
    with _v1.variable_scope(
        LINEAR_SCOPE, values=list(tensors.values()), partitioner=optimizer.partitioner
    ) as scope:
        tensors.update(layers.transform_features(tensors, columns))
        logits, weights, bias = layers.weighted_sum_from_feature_columns(
            tensors, columns, num_outputs=1, scope=scope
        )
        ones = layers.real_valued_column(_BIAS)
        tensors[ones] = tf.ones([tf.shape(logits)[0], 1])
        weights[ones] = [bias]

    def train_op_fn(loss: Any) -> tf.Operation:
        del loss
        model, step = optimizer.get_train_step(
            weights,
            params["weight_column_name"],
            _LOSSES[type(head)],
            tensors,
            labels,
            _v1.train.get_global_step(),
        )
        return model.update_weights(step)

    return head.create_model_fn_ops(
        features=tensors, mode=mode, labels=labels, train_op_fn=train_op_fn, logits=logits
    )
