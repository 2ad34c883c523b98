"""The loop over the times of a window, unrolled or as an operation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

from estimator_bridge_contrib.timeseries.static_shapes import static_size

__all__ = ["run_window_loop"]

_v1 = tf.compat.v1


class _Unrolled:
    """Collects the values of an unrolled loop, as a TensorArray does in a loop."""

    def __init__(self) -> None:
        self.values: list[Any] = []

    def write(self, position: Any, value: Any) -> _Unrolled:
        """Adds the next value."""
        del position  # values come in their order
        self.values.append(value)
        return self

    def stacked(self) -> tf.Tensor:
        """Returns the values, [batch, window, ...]."""
        return tf.stack(self.values, axis=1)


def run_window_loop(
    times: tf.Tensor,
    state: Any,
    step: Callable[[Any, Any, Any], tuple[Any, dict[str, Any]]],
    outputs: Sequence[str],
    dtype: Any,
    unroll: bool,
) -> tuple[Any, dict[str, Any]]:
    """Runs a step for each time of a window.

    Args:
      times: int64 [batch, window].
      state: nested tensors, [batch, ...].
      step: a function of the position, the times [batch] and the state, which returns the new
        state and outputs by name. It runs in the variable scope ``state_update_step``.
      outputs: the outputs' names.
      dtype: the outputs' type.
      unroll: whether to add the step's operations for each time, instead of a loop.

    Returns:
      The states [batch, window, ...], and the outputs [batch, window, ...].
    """
    size = tf.shape(times)[1]

    def collector(kind: Any) -> Any:
        return _Unrolled() if unroll else tf.TensorArray(kind, size=size, dynamic_size=False)

    def advance(
        position: Any, state: Any, states: list[Any], collected: list[Any], reuse: bool = False
    ) -> tuple[Any, Any, list[Any], list[Any]]:
        with _v1.variable_scope("state_update_step", reuse=reuse):
            new_state, values = step(position, times[:, position], state)
            if set(values) != set(outputs):
                raise AssertionError(
                    f"A step must return the outputs {sorted(outputs)}; got {sorted(values)}."
                )
            collected = [
                each.write(position, values[name]) for name, each in zip(outputs, collected)
            ]
            flat = tf.nest.flatten(new_state)
            if len(flat) != len(states):
                raise AssertionError(
                    f"A step must return a state of {len(states)} tensors; got {len(flat)}."
                )
            for new, old in zip(flat, tf.nest.flatten(state)):
                new.set_shape(old.shape)  # a loop does not allow a shape to change
            states = [each.write(position, value) for each, value in zip(states, flat)]
            return position + 1, tf.nest.pack_sequence_as(state, flat), states, collected

    start: tuple[Any, ...] = (
        tf.zeros([], tf.int32),
        state,
        [collector(each.dtype) for each in tf.nest.flatten(state)],
        [collector(dtype) for _ in outputs],
    )
    if unroll:
        for number in range(static_size(times, 1)):
            _, state, states, collected = start
            position = tf.constant(number, tf.int32)
            start = advance(position, state, states, collected, reuse=number > 0)
    else:
        start = _v1.while_loop(lambda position, *_: tf.less(position, size), advance, list(start))
    _, _, states, collected = start
    results = {name: _stacked(each) for name, each in zip(outputs, collected)}
    return tf.nest.pack_sequence_as(state, [_stacked(each) for each in states]), results


def _stacked(collected: Any) -> tf.Tensor:
    """Returns collected values as [batch, window, ...]."""
    if isinstance(collected, _Unrolled):
        return collected.stacked()
    steps = collected.stack()
    return tf.transpose(steps, tf.concat([[1, 0], tf.range(2, tf.rank(steps))], 0))
