"""Field checks that `EstimatorSpec` and `TPUEstimatorSpec` share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import tensorflow as tf

from estimator_bridge.model.argument_lists import checked_items
from estimator_bridge.model.modes import ModeKeys

__all__ = [
    "check_graph",
    "check_hooks",
    "check_loss",
    "check_predictions",
    "check_scaffold",
    "check_train_op",
]

# A variable may be used like a tensor.
_TENSORS = (tf.Tensor, tf.Variable)


def check_graph(field: str, value: Any, label: str | None = None) -> None:
    """Checks that a tensor or operation belongs to the default graph of model_fn.

    Args:
      field: the spec's field, for errors.
      value: a tensor, variable or operation; other values pass.
      label: the name of `value` in errors; its own name by default.

    Raises:
      ValueError: `value` belongs to another graph.
    """
    if tf.executing_eagerly() or not isinstance(value, (*_TENSORS, tf.Operation)):
        return
    graph = getattr(value, "graph", None)  # an eager tensor has none
    if graph is not tf.compat.v1.get_default_graph():
        raise ValueError(
            f'{field} with "{label or _name(value)}" must be from the default graph. It was made '
            "eagerly, in another graph, or in an earlier call of model_fn: create it in each call, "
            "from the features and labels of that call."
        )


def check_train_op(train_op: Any, mode: str | None) -> Any:
    """Returns the checked training op.

    Raises:
      ValueError: it is missing in TRAIN mode, or from another graph.
      TypeError: it is neither a tensor nor an operation.
    """
    if train_op is None:
        if mode == ModeKeys.TRAIN:
            raise ValueError(
                "Missing train_op. A spec for ModeKeys.TRAIN needs "
                "train_op=optimizer.minimize(loss, tf.compat.v1.train.get_global_step())."
            )
        return None
    if not isinstance(train_op, (*_TENSORS, tf.Operation)):
        raise TypeError(
            f"train_op must be Operation or Tensor, given: {train_op!r}. "
            "tf.group(a, b) combines several operations."
        )
    if isinstance(train_op, tf.Variable) and not tf.executing_eagerly():
        train_op = train_op.op  # from `assign_add`: the update, not the variable
    check_graph("train_op", train_op)
    return train_op


def check_loss(loss: Any, mode: str | None) -> tf.Tensor | None:
    """Returns the loss as a scalar.

    Raises:
      ValueError: it is missing in TRAIN or EVAL mode, has more than one element, or is from another
        graph.
      TypeError: it is not a tensor.
    """
    if loss is None:
        if mode in (ModeKeys.TRAIN, ModeKeys.EVAL):
            raise ValueError(
                f"Missing loss. A spec for mode {mode!r} needs loss=, a scalar tensor."
            )
        return None
    _check_tensor("loss", loss)
    if loss.shape.num_elements() not in (None, 1):
        raise ValueError(
            f"Loss must be scalar, given: {loss}. tf.reduce_mean(loss) averages it over the batch."
        )
    check_graph("loss", loss)
    if isinstance(loss, tf.Variable) and not tf.executing_eagerly():
        loss = _value_before_updates(loss)
    if not loss.shape.is_compatible_with([]):
        loss = tf.reshape(loss, [])
    return loss


def check_predictions(predictions: Any, mode: str | None) -> Any:
    """Returns the predictions, a tensor or a dict of tensors; {} for None.

    Raises:
      ValueError: they are missing in PREDICT mode, or one is from another graph.
      TypeError: one is not a tensor.
    """
    if predictions is None:
        if mode == ModeKeys.PREDICT:
            raise ValueError(
                "Missing predictions. A spec for ModeKeys.PREDICT needs predictions=, a tensor or "
                "a dict of tensors."
            )
        return {}
    if isinstance(predictions, Mapping):
        for key, value in predictions.items():
            _check_tensor(f"predictions[{key}]", value)
            check_graph("prediction values", value, f"{key}: {_name(value)}")
        return dict(predictions)
    _check_tensor("predictions", predictions)
    check_graph("prediction values", predictions)
    return predictions


def check_hooks(field: str, hooks: Any) -> tuple[tf.compat.v1.train.SessionRunHook, ...]:
    """Returns the hooks as a tuple; () for None.

    Raises:
      TypeError: `hooks` is not iterable, or an item is not a SessionRunHook.
    """
    requirement = "All hooks must be SessionRunHook instances"
    return checked_items(hooks, tf.compat.v1.train.SessionRunHook, requirement, field)


def check_scaffold(scaffold: Any) -> tf.compat.v1.train.Scaffold:
    """Returns the scaffold, an empty one for None.

    Raises:
      TypeError: it is not a ``tf.compat.v1.train.Scaffold``.
    """
    if scaffold is None:
        return tf.compat.v1.train.Scaffold()
    if not isinstance(scaffold, tf.compat.v1.train.Scaffold):
        raise TypeError(
            f"scaffold must be tf.train.Scaffold. Given: {scaffold!r}. A function that returns one "
            "goes into TPUEstimatorSpec(scaffold_fn=...)."
        )
    return scaffold


def _check_tensor(field: str, value: Any) -> None:
    if not isinstance(value, _TENSORS):
        raise TypeError(
            f"{field} must be Tensor, given: {value!r}. Convert numbers with tf.convert_to_tensor, "
            "and a sparse tensor with tf.sparse.to_dense."
        )


def _value_before_updates(variable: tf.Variable) -> tf.Tensor:
    """Returns the value a session fetches for a variable: its first read, before any update."""
    element = tf.compat.v1.get_default_graph().as_graph_element(variable)
    # A reference variable's element is the reference; its conversion is the read.
    return element if element.dtype == element.dtype.base_dtype else tf.convert_to_tensor(variable)


def _name(value: Any) -> str:
    # An eager tensor has no name, and raises when asked for it.
    return getattr(value, "name", None) or repr(value)
