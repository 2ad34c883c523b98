"""Graphs: how operations are made, changed and named."""

from __future__ import annotations

import contextlib
import functools
import threading
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Protocol

import tensorflow as tf

from estimator_bridge.tensorflow_private.names import control_flow_util_v2

__all__ = [
    "Maker",
    "branches_in_name_scopes",
    "clear_device",
    "control_flow_context",
    "import_below_control_edges",
    "last_loss_reduction",
    "loops_keep_what_gradients_need",
    "loss_is_scaled",
    "make_operations_otherwise",
    "operations_made_otherwise",
    "replace_input",
]


@contextlib.contextmanager
def import_below_control_edges() -> Iterator[None]:
    """Lets tf.graph_util.import_graph_def work below tf.control_dependencies, as a TPU's step is.

    It looks there for an operation among the inputs of another, and to compare an operation with
    a tensor builds an operation, which fails. Meanwhile tensors are compared by identity.
    """
    awaited = tf.compat.v1.get_default_graph()._current_control_dependencies()
    if not awaited or not tf.Tensor._USE_EQUALITY:
        yield
        return
    tf.compat.v1.disable_tensor_equality()
    try:
        yield
    finally:
        tf.compat.v1.enable_tensor_equality()


class _Makers(threading.local):
    """By op type, what makes such operations of this thread otherwise; the last ones count."""

    def __init__(self) -> None:
        self.stack: list[Mapping[str, Maker]] = []


class Maker(Protocol):
    """Makes something in the place of an operation."""

    def __call__(
        self, inputs: Sequence[tf.Tensor], name: str | None, attrs: Mapping[str, Any]
    ) -> tf.Operation | None:
        """Returns an operation with as many outputs; None to have the original made."""


_makers = _Makers()
_makers_of_all: dict[str, Maker] = {}


@contextlib.contextmanager
def operations_made_otherwise(makers: Mapping[str, Maker]) -> Iterator[None]:
    """Has graphs call a function where they would make an operation of a type.

    An operation cannot be removed from a graph, and a session refuses a graph that has one without
    a kernel, even where nothing uses it. So it counts for the bodies of loops and branches, too.

    Args:
      makers: by the operations' type.
    """
    _watch_operations()
    _makers.stack.append(makers)
    try:
        yield
    finally:
        _makers.stack.remove(makers)


def make_operations_otherwise(makers: Mapping[str, Maker]) -> None:
    """``operations_made_otherwise`` for good, and in all threads."""
    _watch_operations()
    _makers_of_all.update(makers)


def _watch_operations() -> None:
    create = tf.Graph._create_op_internal
    if hasattr(create, "__wrapped__"):
        return

    @functools.wraps(create)
    def made(graph, op_type, inputs, dtypes=None, input_types=None, name=None, attrs=None, *rest,
             **kwargs):  # fmt: skip
        for makers in (*reversed(_makers.stack), _makers_of_all):
            if op_type in makers:
                instead = makers[op_type](inputs, name, attrs or {})
                if instead is not None:
                    return instead
        return create(graph, op_type, inputs, dtypes, input_types, name, attrs, *rest, **kwargs)

    tf.Graph._create_op_internal = made


@contextlib.contextmanager
def loops_keep_what_gradients_need() -> Iterator[None]:
    """Within, a loop that a Keras layer makes hands out no more than other loops do.

    In graphs it would hand out each value of each turn, so that a session may fetch it: a recurrent
    layer takes half as long again, as nothing prunes them.
    """
    before = control_flow_util_v2._EXPERIMENTAL_OUTPUT_ALL_INTERMEDIATES_OVERRIDE
    control_flow_util_v2.set_output_all_intermediates(False)
    try:
        yield
    finally:
        control_flow_util_v2.set_output_all_intermediates(before)


@contextlib.contextmanager
def branches_in_name_scopes() -> Iterator[None]:
    """Within, what a branch of tf.cond makes is named as in TensorFlow 1: below the cond's scope.

    A branch is a graph of its own, whose names begin anew; a variable that is made in it takes its
    name along. There is no public way to give such a graph a scope.
    """
    before = control_flow_util_v2.CondBranchFuncGraph

    class ScopedBranch(before):  # type: ignore[valid-type, misc]
        """A branch whose names go on from where the cond stands."""

        def __init__(self, *args: Any, **kwargs: Any):
            super().__init__(*args, **kwargs)
            self._name_stack = self.outer_graph._name_stack

    control_flow_util_v2.CondBranchFuncGraph = ScopedBranch
    try:
        yield
    finally:
        control_flow_util_v2.CondBranchFuncGraph = before


def control_flow_context(graph: tf.Graph) -> Any:
    """The branch or loop of v1 control flow that a graph is being built in; None outside."""
    return graph._get_control_flow_context()


def clear_device(op: tf.Operation) -> None:
    """Takes the device off an operation that stands in a graph; tf.device is for new ones."""
    op._set_device("")


def replace_input(op: tf.Operation, index: int, tensor: tf.Tensor) -> None:
    """Has an operation that stands in a graph take another tensor; its inputs are read-only."""
    op._update_input(index, tensor)


def loss_is_scaled(graph: tf.Graph) -> bool:
    """Whether a v1 optimizer has divided a graph's loss by the number of replicas."""
    return getattr(graph, "_is_loss_scaled_by_optimizer", False)


def last_loss_reduction(graph: tf.Graph) -> str | None:
    """How the last loss that TensorFlow or tf_keras reduced in a graph was reduced.

    TensorFlow's optimizers read it where they run under a strategy.
    """
    return getattr(graph, "_last_loss_reduction", None)
