"""Checks of tensors, and conditions that are evaluated statically if possible."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

__all__ = [
    "assert_scalar_int",
    "get_graph_from_inputs",
    "get_name_scope",
    "get_placeholders",
    "prepend_name_scope",
    "reduce_sum_n",
    "remove_squeezable_dimensions",
    "smart_case",
    "smart_cond",
    "smart_constant_value",
    "strip_name_scope",
    "with_same_shape",
    "with_shape",
]

_v1 = tf.compat.v1


def assert_scalar_int(tensor: Any, name: str | None = None) -> tf.Tensor:
    """Checks that a tensor is an integer scalar.

    Returns:
      The tensor.

    Raises:
      ValueError: it is not.
    """
    tensor = tf.convert_to_tensor(tensor)
    if not tensor.dtype.base_dtype.is_integer:
        raise ValueError(
            f"Expected integer type for {tensor}, received type: {tensor.dtype.name}. Cast it: "
            "tf.cast(x, tf.int32)."
        )
    return _v1.assert_scalar(tensor, name=name)


def with_shape(expected_shape: Any, tensor: tf.Tensor) -> tf.Tensor:
    """Checks a tensor's shape, statically if it is known, otherwise at run time.

    Args:
      expected_shape: sizes, or a tensor of them; None, or -1 in a tensor, matches any size. An
        empty shape also accepts a tensor of one element, which becomes a scalar.
      tensor: the tensor to check.

    Returns:
      The tensor, with the expected static shape.

    Raises:
      ValueError: the shapes do not match.
    """
    if isinstance(tensor, tf.SparseTensor):
        raise ValueError("SparseTensor not supported by with_shape. Check its dense_shape.")
    if tf.is_tensor(expected_shape):
        if expected_shape.dtype.base_dtype != tf.int32:
            raise ValueError(
                f"Invalid dtype {expected_shape.dtype.name} for shape {expected_shape} expected of "
                f"tensor {tensor.name}: int32 is needed."
            )
        with tf.control_dependencies([_has_shape(tensor, expected_shape)]):
            return tf.identity(tensor)
    shape = tf.TensorShape(_sizes(expected_shape, tensor))
    if shape.rank == 0 and tensor.shape.is_compatible_with([1]):
        return tf.reshape(tensor, [])
    if tensor.shape.is_fully_defined():
        if not tensor.shape.is_compatible_with(shape):
            raise ValueError(
                f"Invalid shape for tensor {tensor.name}, expected {shape}, got {tensor.shape}."
            )
        return tensor
    merged = tensor.shape.merge_with(shape)  # its error names the dimension
    sizes = tf.constant([-1 if size is None else size for size in shape.as_list()], tf.int32)
    with tf.control_dependencies([_has_shape(tensor, sizes)]):
        checked = tf.identity(tensor)
    checked.set_shape(merged)
    return checked


def _sizes(shape: Any, tensor: tf.Tensor) -> Any:
    """Returns an expected shape, after a check of lists and arrays."""
    if isinstance(shape, tf.TensorShape):
        return shape
    sizes = np.asarray(shape)
    if sizes.ndim > 1:
        raise ValueError(
            f"Invalid rank {sizes.ndim} for shape {shape} expected of tensor {tensor.name}: give "
            "a list of sizes."
        )
    if sizes.dtype.kind == "f" and sizes.size:
        raise ValueError(
            f"Invalid dtype {sizes.dtype} for shape {shape} expected of tensor {tensor.name}: "
            "sizes are integers."
        )
    return shape


def _has_shape(tensor: tf.Tensor, expected_sizes: tf.Tensor) -> tf.Operation:
    """Returns an assertion of a tensor's sizes; -1 matches any size."""
    sizes, rank = tf.shape(tensor), tf.rank(tensor)
    has_rank = tf.equal(rank, tf.size(expected_sizes))  # comparing sizes would broadcast them
    padded = tf.cond(has_rank, lambda: expected_sizes, lambda: tf.fill([rank], -2))
    is_same = tf.reduce_all(tf.equal(padded, sizes) | tf.equal(padded, -1))
    message = f"Wrong shape for {tensor.name} [expected] [actual]."
    return _v1.Assert(is_same, [message, expected_sizes, sizes])


def with_same_shape(expected_tensor: tf.Tensor, tensor: tf.Tensor) -> tf.Tensor:
    """Like ``with_shape``, with the shape of another tensor."""
    shape = expected_tensor.shape
    return with_shape(shape if shape.is_fully_defined() else tf.shape(expected_tensor), tensor)


def reduce_sum_n(tensors: Sequence[tf.Tensor], name: str | None = None) -> tf.Tensor:
    """Returns the sum of all elements of all tensors.

    Raises:
      ValueError: the list is empty.
    """
    if not tensors:
        raise ValueError("No tensors provided.")
    with _v1.name_scope(name, "reduce_sum_n") as scope:
        sums = [tf.reduce_sum(tensor, name=f"{tensor.op.name}/sum") for tensor in tensors]
        return sums[0] if len(sums) == 1 else tf.add_n(sums, name=scope)


def remove_squeezable_dimensions(
    predictions: Any, labels: Any, name: str | None = None
) -> tuple[tf.Tensor, tf.Tensor]:
    """Removes a last dimension of 1 from the tensor that has one more dimension than the other.

    Args:
      predictions: a tensor.
      labels: a tensor.
      name: a name scope.

    Returns:
      Both tensors. If a rank is unknown, the dimension is removed when they are computed.
    """
    with tf.name_scope(name or "remove_squeezable_dimensions"):
        predictions, labels = tf.convert_to_tensor(predictions), tf.convert_to_tensor(labels)
        if predictions.shape.rank is None or labels.shape.rank is None:
            more = tf.rank(predictions) - tf.rank(labels)
            return _squeezed_if(more, 1, predictions), _squeezed_if(more, -1, labels)
        more = predictions.shape.rank - labels.shape.rank
        if more == 1:
            predictions = tf.squeeze(predictions, [-1])
        elif more == -1:
            labels = tf.squeeze(labels, [-1])
        return predictions, labels


def _squeezed_if(more: tf.Tensor, extra: int, tensor: tf.Tensor) -> tf.Tensor:
    """Removes a tensor's last dimension when it runs, unless its size is known and not 1."""
    if tensor.shape.rank is not None and not tensor.shape[-1:].is_compatible_with([1]):
        return tensor
    return _v1.cond(
        tf.equal(more, extra), lambda: tf.squeeze(tensor, [-1]), lambda: tf.identity(tensor)
    )


def smart_constant_value(pred: Any) -> bool | None:
    """Returns the static value of a condition; None if it is not known statically.

    Raises:
      TypeError: it is not a bool, 0, 1 or a tensor.
    """
    if isinstance(pred, tf.Variable):
        return None
    if tf.is_tensor(pred):
        value = tf.get_static_value(pred)
        return None if value is None else bool(value)
    if pred in (0, 1):
        return bool(pred)
    raise TypeError(
        f"`pred` must be a Tensor, or a Python bool, or 1 or 0. Found instead: {pred!r}"
    )


def smart_cond(
    pred: Any,
    true_fn: Callable[[], Any] | None = None,
    false_fn: Callable[[], Any] | None = None,
    name: str | None = None,
) -> Any:
    """Calls one function if the condition is static, otherwise builds a tf.cond of both.

    Args:
      pred: a bool, 0, 1, or a scalar tensor.
      true_fn: a function for the result if it is true.
      false_fn: a function for the result otherwise.
      name: the name of the tf.cond.

    Returns:
      The function's result, or the tf.cond.

    Raises:
      TypeError: a function is not callable, or the condition is not one.
    """
    if not callable(true_fn):
        raise TypeError(f"`true_fn` must be callable. Got {true_fn!r}.")
    if not callable(false_fn):
        raise TypeError(f"`false_fn` must be callable. Got {false_fn!r}.")
    static_pred = smart_constant_value(pred)
    if static_pred is None:
        return _v1.cond(pred, true_fn, false_fn, name=name)
    return true_fn() if static_pred else false_fn()


def smart_case(
    pred_fn_pairs: Any,
    default: Callable[[], Any] | None = None,
    exclusive: bool = False,
    name: str = "smart_case",
) -> Any:
    """Like tf.case, but static conditions add nothing to the graph.

    Args:
      pred_fn_pairs: pairs of a condition and a function, or a dict of them.
      default: the function if no condition holds.
      exclusive: whether it is an error if several hold.
      name: the name of the tf.case.

    Returns:
      The chosen function's result, or the tf.case.
    """
    pairs = list(pred_fn_pairs.items() if isinstance(pred_fn_pairs, dict) else pred_fn_pairs)
    static_preds = [smart_constant_value(pred) for pred, _ in pairs]
    if None in static_preds:
        return _v1.case(pairs, default, exclusive, name=name)
    chosen = [function for is_true, (_, function) in zip(static_preds, pairs) if is_true]
    if exclusive and len(chosen) > 1:
        raise ValueError(f"smart_case: {len(chosen)} conditions hold, and exclusive is True.")
    if not chosen and default is None:
        raise ValueError("smart_case: no condition holds, and there is no default.")
    return chosen[0]() if chosen else default()  # type: ignore[misc]


def get_graph_from_inputs(op_input_list: Sequence[Any], graph: tf.Graph | None = None) -> tf.Graph:
    """Returns the graph that some inputs of an operation are in.

    Args:
      op_input_list: tensors and operations; others are ignored.
      graph: the graph that they must be in.

    Returns:
      Their graph; the default graph if there are none.

    Raises:
      ValueError: they are in different graphs, or not in the given one.
    """
    named = [each for each in op_input_list if isinstance(getattr(each, "graph", None), tf.Graph)]
    for each in named:
        if graph is not None and each.graph is not graph:
            raise ValueError(f"{each} is not from the passed-in graph.")
        if each.graph is not named[0].graph:
            raise ValueError(f"{each} must be from the same graph as {named[0]}.")
    return graph or (named[0].graph if named else _v1.get_default_graph())


def get_name_scope() -> str:
    """Returns the current name scope."""
    return _v1.get_default_graph().get_name_scope()


def get_placeholders(graph: tf.Graph) -> list[tf.Tensor]:
    """Returns the placeholders of a graph."""
    return [op.outputs[0] for op in graph.get_operations() if op.type == "Placeholder"]


def prepend_name_scope(name: str, import_scope: str | None) -> str:
    """Returns a name with a scope in front."""
    if not import_scope:
        return name
    scope = import_scope.rstrip("/")
    for mark in ("loc:@", "^"):  # marks of colocations and control inputs stay in front
        if name.startswith(mark):
            return f"{mark}{scope}/{name[len(mark) :]}"
    return f"{scope}/{name}"


def strip_name_scope(name: str, export_scope: str | None) -> str:
    """Returns a name without the scope in front."""
    if not export_scope:
        return name
    scope = export_scope.rstrip("/") + "/"
    for mark in ("loc:@", "^", ""):
        if name.startswith(mark + scope):
            return mark + name[len(mark + scope) :]
    return name
