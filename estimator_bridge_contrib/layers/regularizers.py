"""Regularizers: functions of a weight whose results are added to the loss."""

from __future__ import annotations

import numbers
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Optional

import tensorflow as tf
from tensorflow.compat.v1 import logging

__all__ = [
    "apply_regularization",
    "l1_l2_regularizer",
    "l1_regularizer",
    "l2_regularizer",
    "sum_regularizer",
]

v1 = tf.compat.v1
Regularizer = Callable[[Any], Optional[tf.Tensor]]


def l1_regularizer(scale: Any, scope: str | None = None) -> Regularizer:
    """Makes a regularizer with the value ``scale * sum(|w|)``.

    Args:
      scale: a float, 0.0 for no regularization, or a scalar tensor.
      scope: the name scope of its operations.

    Raises:
      ValueError: the scale is negative, or an int.
    """
    return _scaled(scale, scope, "l1_regularizer", lambda w: tf.reduce_sum(tf.abs(w)))


def l2_regularizer(scale: Any, scope: str | None = None) -> Regularizer:
    """Makes a regularizer with the value ``scale * sum(w ** 2) / 2``.

    Args:
      scale: a float, 0.0 for no regularization, or a scalar tensor.
      scope: the name scope of its operations.

    Raises:
      ValueError: the scale is negative, or an int.
    """
    return _scaled(scale, scope, "l2_regularizer", tf.nn.l2_loss)


def l1_l2_regularizer(
    scale_l1: Any = 1.0, scale_l2: Any = 1.0, scope: str | None = None
) -> Regularizer | None:
    """Makes a regularizer that is the sum of an L1 and an L2 regularizer.

    Args:
      scale_l1: the scale of the first.
      scale_l2: the scale of the second.
      scope: the name scope of their operations.

    Raises:
      ValueError: a scale is negative, or an int.
    """
    for name, scale in (("scale_l1", scale_l1), ("scale_l2", scale_l2)):
        _check_scale(name, scale)
    scope = scope or "l1_l2_regularizer"
    if _is_zero(scale_l1):
        return l2_regularizer(scale_l2, scope)
    if _is_zero(scale_l2):
        return l1_regularizer(scale_l1, scope)
    return sum_regularizer([l1_regularizer(scale_l1), l2_regularizer(scale_l2)], scope)


def sum_regularizer(
    regularizer_list: Iterable[Regularizer | None], scope: str | None = None
) -> Regularizer | None:
    """Makes a regularizer that is the sum of several.

    Args:
      regularizer_list: the regularizers; None counts as none.
      scope: the name scope of their operations.

    Returns:
      The regularizer; None if there are none to sum.
    """
    regularizers = [each for each in regularizer_list if each is not None]
    if not regularizers:
        return None

    def regularize(weights: Any) -> tf.Tensor | None:
        with v1.name_scope(scope, "sum_regularizer", [weights]) as name:
            values = [each(weights) for each in regularizers]
            values = [value for value in values if value is not None]
            return tf.add_n(values, name=name) if values else None

    return regularize


def apply_regularization(
    regularizer: Regularizer, weights_list: Sequence[Any] | None = None
) -> tf.Tensor:
    """Regularizes weights, and adds the sum to the collection REGULARIZATION_LOSSES.

    Args:
      regularizer: called with each weight.
      weights_list: the weights; the collection WEIGHTS by default.

    Returns:
      The sum, a scalar.

    Raises:
      ValueError: there are no weights, or the regularizer does not return a scalar.
    """
    weights_list = weights_list or v1.get_collection(v1.GraphKeys.WEIGHTS)
    if not weights_list:
        raise ValueError(
            "No weights to regularize. Give weights_list, for example "
            "tf.trainable_variables(); only legacy_fully_connected adds to the collection WEIGHTS."
        )
    with v1.name_scope("get_regularization_penalty", values=weights_list) as scope:
        values = [regularizer(weight) for weight in weights_list]
        penalties = [tf.constant(0.0) if value is None else value for value in values]
        for penalty in penalties:
            if penalty.shape.rank != 0:
                raise ValueError(
                    "regularizer must return a scalar Tensor instead of a Tensor with rank "
                    f"{penalty.shape.rank}: {penalty}."
                )
        total = tf.add_n(penalties, name=scope)
        v1.add_to_collection(v1.GraphKeys.REGULARIZATION_LOSSES, total)
        return total


def _scaled(
    scale: Any, scope: str | None, default_name: str, norm: Callable[[Any], tf.Tensor]
) -> Regularizer:
    _check_scale("scale", scale)
    if _is_zero(scale):
        logging.info("Scale of 0 disables regularizer.")
        return lambda _: None

    def regularize(weights: Any) -> tf.Tensor:
        with v1.name_scope(scope, default_name, [weights]) as name:
            factor = tf.convert_to_tensor(scale, dtype=weights.dtype.base_dtype, name="scale")
            return tf.multiply(factor, norm(weights), name=name)

    return regularize


def _check_scale(name: str, scale: Any) -> None:
    if isinstance(scale, numbers.Integral):
        raise ValueError(f"{name} cannot be an integer: {scale}. Write {float(scale)}.")
    if isinstance(scale, numbers.Real) and scale < 0.0:
        raise ValueError(f"Setting a scale less than 0 on a regularizer: {name} is {scale:g}.")


def _is_zero(scale: Any) -> bool:
    return isinstance(scale, numbers.Real) and float(scale) == 0.0
