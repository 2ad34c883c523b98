"""Callbacks of eager operations, which see each operation's outputs as soon as they are there."""

from __future__ import annotations

import contextlib
import enum
import functools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import tensorflow as tf

from estimator_bridge.tensorflow_private.contrib_names import op_callbacks

__all__ = [
    "ExecutionCallback",
    "add_execution_callback",
    "clear_execution_callbacks",
    "errstate",
    "inf_callback",
    "inf_nan_callback",
    "nan_callback",
    "seterr",
]

Callback = Callable[..., Any]

_callbacks: list[Callback] = []


class ExecutionCallback(enum.Enum):
    """Actions on a result that is not finite: none, a line printed, an error, or a line logged."""

    IGNORE = "ignore"
    PRINT = "print"
    RAISE = "raise"
    WARN = "warn"


class InfOrNanError(Exception):
    """An eager operation's result that is not finite.

    Attributes:
      op_type: the operation's type.
      op_name: its name, or None.
      output_index: which of its outputs it is, from 0.
      num_outputs: the number of its outputs.
      value: the output, an array.
    """

    def __init__(
        self, op_type: str, op_name: str | None, output_index: int, num_outputs: int, value: Any
    ):
        self.op_type, self.op_name = op_type, op_name
        self.output_index, self.num_outputs, self.value = output_index, num_outputs, value
        counts = {
            f"{count} {kind}(s)": count
            for kind, count in (("inf", np.isinf(value).sum()), ("nan", np.isnan(value).sum()))
        }
        contents = " and ".join(text for text, count in counts.items() if count)
        super().__init__(
            f"Output {output_index + 1} of {num_outputs} of TFE operation {op_type} (name: "
            f"{op_name!r}) contains {contents} out of a total of {np.size(value)} element(s). "
            f"Tensor value: {value}"
        )


def add_execution_callback(callback: Callback) -> None:
    """Calls a function after each eager operation of this thread.

    Args:
      callback: a function of the operation's type, its inputs, its attributes (a tuple of names and
        values in turn), its outputs and its name, which is None if the program gave none.
    """
    _callbacks.append(callback)
    op_callbacks.add_op_callback(_call_all)


def clear_execution_callbacks() -> None:
    """Removes all functions that ``add_execution_callback`` and ``seterr`` added."""
    if _callbacks:
        _callbacks.clear()
        op_callbacks.remove_op_callback(_call_all)


def _call_all(
    op_type: str, inputs: Any, attrs: Any, outputs: Any, op_name: Any = None, graph: Any = None
) -> None:
    if graph is None:  # operations of graphs have no values yet
        for callback in list(_callbacks):
            callback(op_type, inputs, attrs, outputs, op_name)


def inf_nan_callback(
    op_type: str,
    inputs: Any,
    attrs: Any,
    outputs: Any,
    op_name: str | None,
    check_inf: bool = True,
    check_nan: bool = True,
    action: ExecutionCallback | str = ExecutionCallback.RAISE,
) -> None:
    """Looks for infinities and NaNs in an operation's outputs.

    Args:
      op_type: the operation's type.
      inputs: not used.
      attrs: not used.
      outputs: the tensors.
      op_name: the operation's name, or None.
      check_inf: whether infinities count.
      check_nan: whether NaNs count.
      action: what to do about one.

    Raises:
      InfOrNanError: there is one, and the action is to raise an error.
      ValueError: there is one, and the action is to ignore it; or there is no such action.
    """
    del inputs, attrs
    action = ExecutionCallback(action)
    for index, output in enumerate(outputs):
        if not (output.dtype.is_floating or output.dtype.is_complex):
            continue
        value = output.numpy()
        if not ((check_inf and np.isinf(value).any()) or (check_nan and np.isnan(value).any())):
            continue
        error = InfOrNanError(op_type, op_name, index, len(outputs), value)
        if action == ExecutionCallback.RAISE:
            raise error
        if action == ExecutionCallback.PRINT:
            print(f"Warning: {error}")
        elif action == ExecutionCallback.WARN:
            tf.compat.v1.logging.warn(str(error))
        else:
            raise ValueError(
                f"Invalid action for inf_nan_callback: {action}. Valid actions are: {{PRINT | WARN "
                "| RAISE}. To ignore such values, leave the callback out."
            )


def inf_callback(
    op_type: str,
    inputs: Any,
    attrs: Any,
    outputs: Any,
    op_name: str | None,
    action: ExecutionCallback | str = ExecutionCallback.RAISE,
) -> None:
    """Looks for infinities; see ``inf_nan_callback``."""
    inf_nan_callback(op_type, inputs, attrs, outputs, op_name, check_nan=False, action=action)


def nan_callback(
    op_type: str,
    inputs: Any,
    attrs: Any,
    outputs: Any,
    op_name: str | None,
    action: ExecutionCallback | str = ExecutionCallback.RAISE,
) -> None:
    """Looks for NaNs; see ``inf_nan_callback``."""
    inf_nan_callback(op_type, inputs, attrs, outputs, op_name, check_inf=False, action=action)


def seterr(inf_or_nan: ExecutionCallback | str | None = None) -> dict[str, ExecutionCallback]:
    """Sets what happens to eager results that are not finite.

    Args:
      inf_or_nan: the action; None changes nothing.

    Returns:
      The action before, under the key "inf_or_nan".

    Raises:
      ValueError: there is no such action.
    """
    old = ExecutionCallback.IGNORE
    others: list[Callback] = []
    for callback in _callbacks:
        action = _action_of(callback)
        if action is None:
            others.append(callback)
        else:
            old = action
    if inf_or_nan is not None:
        new = ExecutionCallback(inf_or_nan)
        clear_execution_callbacks()
        if new != ExecutionCallback.IGNORE:
            others.append(functools.partial(inf_nan_callback, action=new))
        for callback in others:
            add_execution_callback(callback)
    return {"inf_or_nan": old}


def _action_of(callback: Callback) -> ExecutionCallback | None:
    """Returns the action of a callback that is ``inf_nan_callback``, or None."""
    if callback is inf_nan_callback:
        return ExecutionCallback.RAISE
    if isinstance(callback, functools.partial) and callback.func is inf_nan_callback:
        return ExecutionCallback(callback.keywords.get("action", ExecutionCallback.RAISE))
    return None


@contextlib.contextmanager
def errstate(inf_or_nan: ExecutionCallback | str | None = None) -> Iterator[None]:
    """Like ``seterr``, for a block; in a graph it does nothing."""
    if not tf.executing_eagerly():
        yield
        return
    old = seterr(inf_or_nan)
    try:
        yield
    finally:
        seterr(**old)
