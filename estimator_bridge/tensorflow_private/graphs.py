"""Creates, changes and names the operations of graphs."""

from __future__ import annotations

import contextlib
import functools
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Protocol

import tensorflow as tf

from estimator_bridge.tensorflow_private.names import control_flow_util_v2, graph_operations

__all__ = [
    "Maker",
    "branches_in_name_scopes",
    "clear_device",
    "constants_made_otherwise",
    "control_flow_context",
    "import_below_control_edges",
    "last_loss_reduction",
    "loop_ends",
    "loops_keep_what_gradients_need",
    "loss_is_scaled",
    "make_operations_otherwise",
    "operations_made_otherwise",
    "replace_control_inputs",
    "replace_input",
    "set_gradient",
]


@contextlib.contextmanager
def import_below_control_edges() -> Iterator[None]:
    """Lets tf.graph_util.import_graph_def work inside tf.control_dependencies.

    A TPU's step is imported there. import_graph_def compares operations with tensors, and tensor
    equality would build an operation, which fails; so tensors are compared by identity meanwhile.
    """
    control_ops = tf.compat.v1.get_default_graph()._current_control_dependencies()
    if not control_ops or not tf.Tensor._USE_EQUALITY:
        yield
        return
    tf.compat.v1.disable_tensor_equality()
    try:
        yield
    finally:
        tf.compat.v1.enable_tensor_equality()


class _Makers(threading.local):
    """This thread's replacements of operations by op type; the latest one wins."""

    def __init__(self) -> None:
        self.stack: list[Mapping[str, Maker]] = []


class Maker(Protocol):
    """Creates a replacement for an operation."""

    def __call__(
        self, inputs: Sequence[tf.Tensor], name: str | None, attrs: Mapping[str, Any]
    ) -> tf.Operation | None:
        """Returns an operation with the same number of outputs; None to create the original."""


_makers = _Makers()
_makers_of_all: dict[str, Maker] = {}


@contextlib.contextmanager
def operations_made_otherwise(makers: Mapping[str, Maker]) -> Iterator[None]:
    """Makes graphs call a function instead of creating an operation of a given type.

    An operation cannot be removed from a graph, and a session rejects a graph with an operation
    that has no kernel, even an unused one. The bodies of loops and branches are included.

    Args:
      makers: the functions by op type.
    """
    _watch_operations()
    _makers.stack.append(makers)
    try:
        yield
    finally:
        _makers.stack.remove(makers)


def make_operations_otherwise(makers: Mapping[str, Maker]) -> None:
    """Applies ``operations_made_otherwise`` permanently and in all threads."""
    _watch_operations()
    _makers_of_all.update(makers)


def _watch_operations() -> None:
    create = tf.Graph._create_op_internal
    if hasattr(create, "__wrapped__"):
        return

    @functools.wraps(create)
    def create_by_makers(graph, op_type, inputs, dtypes=None, input_types=None, name=None,
                         attrs=None, *rest, **kwargs):  # fmt: skip
        for makers in (*reversed(_makers.stack), _makers_of_all):
            if op_type in makers:
                instead = makers[op_type](inputs, name, attrs or {})
                if instead is not None:
                    return instead
        return create(graph, op_type, inputs, dtypes, input_types, name, attrs, *rest, **kwargs)

    tf.Graph._create_op_internal = create_by_makers


class _ConstantMakers(threading.local):
    """This thread's functions that make constants; the latest one is asked."""

    def __init__(self) -> None:
        self.stack: list[Callable[[Any, str | None], tf.Tensor | None]] = []


_constant_makers = _ConstantMakers()


@contextlib.contextmanager
def constants_made_otherwise(make: Callable[[Any, str | None], tf.Tensor | None]) -> Iterator[None]:
    """Lets a function make a graph's constants, of values whose dtype and shape are kept.

    ``operations_made_otherwise`` is too late for a large array: three copies are in the node then.

    Args:
      make: returns the tensor of a value, given its name; None to make a constant.
    """
    _watch_constants()
    _constant_makers.stack.append(make)
    try:
        yield
    finally:
        _constant_makers.stack.remove(make)


def _watch_constants() -> None:
    create = graph_operations._create_graph_constant
    if hasattr(create, "__wrapped__"):
        return

    @functools.wraps(create)
    def create_by_makers(value, dtype, shape, name, *rest, **kwargs):
        if _constant_makers.stack and shape is None:
            has_same_type = dtype is None or tf.as_dtype(dtype) == getattr(value, "dtype", None)
            tensor = _constant_makers.stack[-1](value, name) if has_same_type else None
            if tensor is not None:
                return tensor
        return create(value, dtype, shape, name, *rest, **kwargs)

    graph_operations._create_graph_constant = create_by_makers


@contextlib.contextmanager
def loops_keep_what_gradients_need() -> Iterator[None]:
    """Stops the loops of Keras layers from returning all intermediate values.

    In graphs they return every value of every iteration so that a session may fetch it. Nothing
    prunes these values, and a recurrent layer takes 1.5x as long.
    """
    before = control_flow_util_v2._EXPERIMENTAL_OUTPUT_ALL_INTERMEDIATES_OVERRIDE
    control_flow_util_v2.set_output_all_intermediates(False)
    try:
        yield
    finally:
        control_flow_util_v2.set_output_all_intermediates(before)


@contextlib.contextmanager
def branches_in_name_scopes() -> Iterator[None]:
    """Names what a branch of tf.cond creates as TensorFlow 1 does: in the cond's scope.

    A branch is a separate graph with its own names, and a variable created in it keeps its name
    there. No public API gives such a graph a scope.
    """
    before = control_flow_util_v2.CondBranchFuncGraph

    class ScopedBranch(before):  # type: ignore[valid-type, misc]
        """A branch that continues the cond's name scope."""

        def __init__(self, *args: Any, **kwargs: Any):
            super().__init__(*args, **kwargs)
            self._name_stack = self.outer_graph._name_stack

    control_flow_util_v2.CondBranchFuncGraph = ScopedBranch
    try:
        yield
    finally:
        control_flow_util_v2.CondBranchFuncGraph = before


def control_flow_context(graph: tf.Graph) -> Any:
    """The v1 branch or loop that a graph is being built in; None outside."""
    return graph._get_control_flow_context()


def clear_device(op: tf.Operation) -> None:
    """Removes the device of an existing operation; tf.device affects only new ones."""
    op._set_device("")


def replace_input(op: tf.Operation, index: int, tensor: tf.Tensor) -> None:
    """Replaces an input of an existing operation; ``op.inputs`` is read-only."""
    op._update_input(index, tensor)


def replace_control_inputs(op: tf.Operation, control_ops: Sequence[tf.Operation]) -> None:
    """Replaces what an existing operation waits for; ``op.control_inputs`` is read-only."""
    op._remove_all_control_inputs()
    op._add_control_inputs(list(control_ops))


def set_gradient(op: tf.Operation, name: str) -> None:
    """Gives an existing operation a registered gradient.

    ``tf.Graph.gradient_override_map`` affects only new operations.
    """
    attribute = tf.compat.v1.AttrValue(s=tf.compat.as_bytes(name))
    op._set_attr("_gradient_op_type", attribute)


def loop_ends(ops: Iterable[tf.Operation]) -> list[tuple[list[Any], list[Any]]]:
    """The operations that enter and leave the v1 loops of some others."""
    contexts = {id(context): context for op in ops if (context := op._get_control_flow_context())}
    return [
        ([each.op for each in loop.loop_enters], [each.op for each in loop.loop_exits])
        for loop in contexts.values()
        if loop.IsWhileContext()
    ]


def loss_is_scaled(graph: tf.Graph) -> bool:
    """Returns whether a v1 optimizer has divided a graph's loss by the number of replicas."""
    return getattr(graph, "_is_loss_scaled_by_optimizer", False)


def last_loss_reduction(graph: tf.Graph) -> str | None:
    """The reduction of the last loss that TensorFlow or tf_keras reduced in a graph.

    TensorFlow's optimizers read it under a strategy.
    """
    return getattr(graph, "_last_loss_reduction", None)
