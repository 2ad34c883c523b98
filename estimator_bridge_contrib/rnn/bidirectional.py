"""Stacks of recurrent layers that read a sequence in both directions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tensorflow as tf

__all__ = [
    "best_effort_input_batch_size",
    "stack_bidirectional_dynamic_rnn",
    "stack_bidirectional_rnn",
    "transpose_batch_time",
]

v1 = tf.compat.v1


def stack_bidirectional_rnn(
    cells_fw: list[Any],
    cells_bw: list[Any],
    inputs: list[Any],
    initial_states_fw: list[Any] | None = None,
    initial_states_bw: list[Any] | None = None,
    dtype: Any = None,
    sequence_length: Any = None,
    scope: Any = None,
) -> Any:
    """Runs layers over a list of steps; each reads both directions' outputs of the one below.

    Args:
      cells_fw: a cell for each layer, for the forward direction.
      cells_bw: the same for the backward direction.
      inputs: a list of [batch, size].
      initial_states_fw: a state for each layer; zeros by default.
      initial_states_bw: the same for the backward direction.
      dtype: the states' type.
      sequence_length: [batch], the lengths.
      scope: the variable scope; ``stack_bidirectional_rnn`` by default.

    Returns:
      The outputs, a list of [batch, both sizes]; the final forward and backward states, as tuples
      by layer.

    Raises:
      ValueError: the arguments are not lists of equal length.
    """

    def layer(forward: Any, backward: Any, below: Any, states: Any, scope: Any) -> Any:
        return v1.nn.static_bidirectional_rnn(
            forward,
            backward,
            below,
            initial_state_fw=states[0],
            initial_state_bw=states[1],
            sequence_length=sequence_length,
            dtype=dtype,
            scope=scope,
        )

    return _stacked(layer, cells_fw, cells_bw, inputs, initial_states_fw, initial_states_bw, scope)


def stack_bidirectional_dynamic_rnn(
    cells_fw: list[Any],
    cells_bw: list[Any],
    inputs: Any,
    initial_states_fw: list[Any] | None = None,
    initial_states_bw: list[Any] | None = None,
    dtype: Any = None,
    sequence_length: Any = None,
    parallel_iterations: int | None = None,
    time_major: bool = False,
    scope: Any = None,
    swap_memory: bool = False,
) -> Any:
    """Runs layers over a sequence; each reads both directions' outputs of the one below.

    Args:
      cells_fw: a cell for each layer, for the forward direction.
      cells_bw: the same for the backward direction.
      inputs: [batch, time, size].
      initial_states_fw: a state for each layer; zeros by default.
      initial_states_bw: the same for the backward direction.
      dtype: the states' type.
      sequence_length: [batch], the lengths.
      parallel_iterations: as for ``dynamic_rnn``.
      time_major: whether the inputs, and the outputs, are [time, batch, size].
      scope: the variable scope; ``stack_bidirectional_rnn`` by default.
      swap_memory: as for ``dynamic_rnn``.

    Returns:
      The outputs, [batch, time, both sizes]; the final forward and backward states, as tuples by
      layer.

    Raises:
      ValueError: the arguments are not lists of equal length.
    """

    def layer(forward: Any, backward: Any, below: Any, states: Any, scope: Any) -> Any:
        del scope  # the layer makes its own scope inside, 'bidirectional_rnn'
        outputs, final = v1.nn.bidirectional_dynamic_rnn(
            forward,
            backward,
            below,
            initial_state_fw=states[0],
            initial_state_bw=states[1],
            sequence_length=sequence_length,
            parallel_iterations=parallel_iterations,
            dtype=dtype,
            swap_memory=swap_memory,
            time_major=time_major,
        )
        return (tf.concat(outputs, 2), *final)

    return _stacked(layer, cells_fw, cells_bw, inputs, initial_states_fw, initial_states_bw, scope)


def transpose_batch_time(x: Any) -> tf.Tensor:
    """Swaps the first two dimensions of a tensor that has them.

    Args:
      x: a tensor.
    """
    x = tf.convert_to_tensor(x)
    if x.shape.rank is not None and x.shape.rank < 2:
        return x
    rest = tf.range(2, tf.rank(x))
    outputs = tf.transpose(x, tf.concat([[1, 0], rest], 0))
    if x.shape.rank is not None:
        sizes = x.shape.as_list()
        outputs.set_shape([sizes[1], sizes[0], *sizes[2:]])
    return outputs


def best_effort_input_batch_size(flat_input: list[Any]) -> Any:
    """Returns the batch size of inputs [time, batch, ...]: a number if known, otherwise a tensor.

    Args:
      flat_input: the inputs.
    """
    for each in flat_input:
        if (
            each.shape.rank is not None
            and each.shape.rank >= 2
            and each.shape.as_list()[1] is not None
        ):
            return each.shape.as_list()[1]
    return tf.shape(flat_input[0])[1]


def _stacked(
    layer: Callable[..., Any],
    cells_fw: Any,
    cells_bw: Any,
    inputs: Any,
    states_fw: Any,
    states_bw: Any,
    scope: Any,
) -> Any:
    _check(cells_fw, cells_bw, states_fw, states_bw)
    depth = len(cells_fw)
    initial = zip(states_fw or [None] * depth, states_bw or [None] * depth)
    final: list[tuple[Any, Any]] = []
    with v1.variable_scope(scope or "stack_bidirectional_rnn"):
        for i, (forward, backward, states) in enumerate(zip(cells_fw, cells_bw, initial)):
            with v1.variable_scope(f"cell_{i}") as cell_scope:
                inputs, *after = layer(forward, backward, inputs, states, cell_scope)
            final.append((after[0], after[1]))
    return (inputs, *(tuple(states) for states in zip(*final)))


def _check(cells_fw: Any, cells_bw: Any, states_fw: Any, states_bw: Any) -> None:
    for name, cells in (("fw", cells_fw), ("bw", cells_bw)):
        if not cells:
            raise ValueError(f"Must specify at least one {name} cell for BidirectionalRNN.")
        if not isinstance(cells, list):
            raise ValueError(
                f"cells_{name} must be a list of RNNCells (one per layer), got {cells!r}."
            )
    if len(cells_fw) != len(cells_bw):
        raise ValueError(
            "Forward and Backward cells must have the same depth, got "
            f"{len(cells_fw)} and {len(cells_bw)}."
        )
    for name, states in (("fw", states_fw), ("bw", states_bw)):
        if states is not None and (not isinstance(states, list) or len(states) != len(cells_fw)):
            raise ValueError(
                f"initial_states_{name} must be a list of state tensors (one per layer), got "
                f"{states!r}."
            )
