"""Checks that `EstimatorSpec` and `TPUEstimatorSpec` have in common, one field each."""

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

# A variable stands for its value wherever a tensor may.
_TENSORS = (tf.Tensor, tf.Variable)


def check_graph(field: str, value: Any, label: str | None = None) -> None:
    """Checks that a tensor or operation is of the graph that model_fn is called in.

    Args:
      field: the spec's field, for the error.
      value: a tensor, variable or operation; other values pass.
      label: how the error names `value`, by default its own name.

    Raises:
      ValueError: it is of another graph.
    """
    if tf.executing_eagerly() or not isinstance(value, (*_TENSORS, tf.Operation)):
        return
    graph = getattr(value, "graph", None)  # an eager tensor has none
    if graph is not tf.compat.v1.get_default_graph():
        raise ValueError(
            f'{field} with "{label or _name(value)}" must be from the default graph. It was made '
            "eagerly, in another graph, or in an earlier call of model_fn: make it anew in each "
            "call, from the features and labels that the call was given."
        )


def check_train_op(train_op: Any, mode: str | None) -> Any:
    """Returns the tensor or operation that trains.

    Raises:
      ValueError: it is missing in TRAIN mode, or of another graph.
      TypeError: it is neither tensor nor operation.
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
            "tf.group(a, b) makes one operation of several."
        )
    if isinstance(train_op, tf.Variable) and not tf.executing_eagerly():
        train_op = train_op.op  # what `assign_add` returns: the update, not the variable
    check_graph("train_op", train_op)
    return train_op


def check_loss(loss: Any, mode: str | None) -> tf.Tensor | None:
    """Returns the loss as a scalar.

    Raises:
      ValueError: it is missing in TRAIN or EVAL mode, has more than one element, or is of another
        graph.
      TypeError: it is no tensor.
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
      ValueError: they are missing in PREDICT mode, or one is of another graph.
      TypeError: one is no tensor.
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
      TypeError: it is no iterable, or one of them is no SessionRunHook.
    """
    wanted = "All hooks must be SessionRunHook instances"
    return checked_items(hooks, tf.compat.v1.train.SessionRunHook, wanted, field)


def check_scaffold(scaffold: Any) -> tf.compat.v1.train.Scaffold:
    """Returns the scaffold, an empty one for None.

    Raises:
      TypeError: it is no ``tf.compat.v1.train.Scaffold``.
    """
    if scaffold is None:
        return tf.compat.v1.train.Scaffold()
    if not isinstance(scaffold, tf.compat.v1.train.Scaffold):
        raise TypeError(
            f"scaffold must be tf.train.Scaffold. Given: {scaffold!r}. A function that makes one "
            "goes into TPUEstimatorSpec(scaffold_fn=...)."
        )
    return scaffold


def _check_tensor(field: str, value: Any) -> None:
    if not isinstance(value, _TENSORS):
        raise TypeError(
            f"{field} must be Tensor, given: {value!r}. tf.convert_to_tensor makes one of numbers, "
            "tf.sparse.to_dense of a sparse tensor."
        )


def _value_before_updates(variable: tf.Variable) -> tf.Tensor:
    """What a session fetches for a variable: the read that was made with it, before any update."""
    element = tf.compat.v1.get_default_graph().as_graph_element(variable)
    # A reference variable's element is the reference; its conversion is the read.
    return element if element.dtype == element.dtype.base_dtype else tf.convert_to_tensor(variable)


def _name(value: Any) -> str:
    # An eager tensor has no name, and raises on being asked.
    return getattr(value, "name", None) or repr(value)
