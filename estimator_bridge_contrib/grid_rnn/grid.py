"""An RNN cell on a grid: a cell for each dimension, which read each other.

Kalchbrenner et al., https://arxiv.org/abs/1507.01526.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import tensorflow as tf

from estimator_bridge_contrib import layers
from estimator_bridge_contrib.rnn.base import RNNCell

__all__ = ["GridRNNCell"]

_v1 = tf.compat.v1


@dataclass
class _Step:
    """One step of a grid, by dimension; None where there is nothing.

    Attributes:
      memories: the cells' memories before the step, or the projected input's.
      outputs_before: the cells' outputs before the step, or the projected input's.
      outputs: the outputs of this step.
      states: the states of this step.
    """

    memories: list[Any]
    outputs_before: list[Any]
    outputs: list[Any]
    states: list[Any]

    def latest(self, dimension: int) -> Any:
        """Returns the output of this step, or the one before it."""
        output = self.outputs[dimension]
        return self.outputs_before[dimension] if output is None else output


class GridRNNCell(RNNCell):
    """A cell with several dimensions, some of which read the input or give the output.

    Args:
      num_units: the size of each dimension's cell.
      num_dims: the number of dimensions.
      input_dims: the dimensions that read the input, a number or a list.
      output_dims: the dimensions whose outputs are the cell's.
      priority_dims: the dimensions that are computed last, from the others' new outputs.
      non_recurrent_dims: the dimensions that are fully connected layers.
      tied: whether all dimensions share one cell's weights.
      cell_fn: a function of num_units that returns the cell of a dimension, with a state that is a
        tuple; by default LSTMCell.
      non_recurrent_fn: the activation of dimensions that are layers; by default ReLU.
      state_is_tuple: whether the state is a tuple, or one tensor.
      output_is_tuple: whether the output is a tuple, or one tensor.

    Raises:
      ValueError: num_dims is below 1, or a dimension is not on the grid.
      TypeError: cell_fn does not return an RNNCell.
    """

    def __init__(
        self,
        num_units: int,
        num_dims: int = 1,
        input_dims: Any = None,
        output_dims: Any = None,
        priority_dims: Any = None,
        non_recurrent_dims: Any = None,
        tied: bool = False,
        cell_fn: Callable[[int], Any] | None = None,
        non_recurrent_fn: Callable[..., Any] | None = None,
        state_is_tuple: bool = True,
        output_is_tuple: bool = True,
    ):
        if num_dims < 1:
            raise ValueError(f"dims must be >= 1: {num_dims}")
        self._num_units, self._num_dims, self._tied = num_units, num_dims, tied
        self._inputs = _dimensions(input_dims, num_dims)
        self._outputs = _dimensions(output_dims, num_dims)
        self._priority = _dimensions(priority_dims, num_dims)
        self._layers = _dimensions(non_recurrent_dims, num_dims)
        self._activation = non_recurrent_fn or tf.nn.relu
        self._state_is_tuple, self._output_is_tuple = state_is_tuple, output_is_tuple
        self._cells = self._make_cells(cell_fn)

    def _make_cells(self, cell_fn: Callable[[int], Any] | None) -> list[Any]:
        def make() -> Any:
            if cell_fn is not None:
                return cell_fn(self._num_units)
            return _v1.nn.rnn_cell.LSTMCell(self._num_units, state_is_tuple=self._state_is_tuple)

        count = self._num_dims
        cells = [make()] * count if self._tied else [make() for _ in range(count)]
        if not isinstance(cells[0], RNNCell):
            raise TypeError(f"cell_fn must return an RNNCell instance, saw: {type(cells[0])}")
        return cells

    @property
    def _recurrent(self) -> list[int]:
        return [each for each in range(self._num_dims) if each not in self._layers]

    @property
    def output_size(self) -> Any:
        """The size of the output: a tuple, or a number."""
        sizes = tuple(self._cells[0].output_size for _ in self._outputs)
        return sizes if self._output_is_tuple else sum(sizes)

    @property
    def state_size(self) -> Any:
        """The size of the state: a tuple, or a number."""
        if self._state_is_tuple:
            return tuple(self._cells[0].state_size for _ in self._recurrent)
        return self._cell_state_size() * len(self._recurrent)

    def _cell_state_size(self) -> int:
        size = self._cells[0].state_size
        return sum(size) if isinstance(size, tuple) else size

    def __call__(self, inputs: Any, state: Any, scope: Any = None) -> tuple[Any, Any]:
        """Returns the output and the new state of one step.

        Args:
          inputs: [batch, size], divided among the input's dimensions.
          state: the state before.
          scope: the variables' scope; by default the class's name.

        Raises:
          ValueError: the state's length does not fit.
        """
        step = self._open_step(state)
        with _v1.variable_scope(scope or type(self).__name__):
            self._project(inputs, step)
            others = [each for each in range(self._num_dims) if each not in self._priority]
            self._run(others, step, is_first=True)
            self._run(self._priority, step, is_first=False)
            outputs = tuple(step.outputs[each] for each in self._outputs)
            states = tuple(step.states[each] for each in self._recurrent)
            return (
                outputs if self._output_is_tuple else _joined(outputs, inputs.dtype),
                states
                if self._state_is_tuple
                else _joined([part for each in states for part in each], inputs.dtype),
            )

    def _open_step(self, state: Any) -> _Step:
        """Returns the state before by dimension."""
        step = _Step(*([None] * self._num_dims for _ in range(4)))
        size, recurrent = self._cell_state_size(), self._recurrent
        has_memory = size > self._num_units
        if self._state_is_tuple and len(state) != len(recurrent):
            raise ValueError(f"Expected state as a tuple of {len(recurrent)} element")
        for position, dimension in enumerate(recurrent):
            if self._state_is_tuple:
                part = state[position]
            else:
                row = state[:, position * size : (position + 1) * size]
                cut = self._num_units
                part = (row[:, :cut], row[:, cut:]) if has_memory else row
            if has_memory:
                step.memories[dimension], step.outputs_before[dimension] = part
            else:
                step.outputs_before[dimension] = part
        return step

    def _project(self, inputs: Any, step: _Step) -> None:
        """Replaces the state of the input's dimensions by projections of the input."""
        if inputs is None or not self._inputs or not inputs.shape.with_rank(2).as_list()[1]:
            return
        parts = tf.split(inputs, len(self._inputs), axis=1)
        has_memory = self._cell_state_size() > self._num_units
        shape = [parts[0].shape.as_list()[1], self._num_units]
        for dimension, part in zip(self._inputs, parts):

            def projected(kind: str, of: int = dimension, value: Any = part) -> Any:
                weights = _v1.get_variable(f"project_{kind}_{of}", shape, inputs.dtype)
                return tf.matmul(value, tf.convert_to_tensor(weights))

            step.outputs_before[dimension] = projected("m")
            if has_memory:
                step.memories[dimension] = projected("c")

    def _run(self, dimensions: Sequence[int], step: _Step, is_first: bool) -> None:
        """Runs some dimensions, all of which read the same outputs of the others."""
        if not dimensions:
            return
        last = step.latest(self._num_dims - 1)
        if self._num_dims > 1:
            inputs = tf.concat([step.latest(each) for each in range(self._num_dims - 1)], 1)
        else:
            before = step.outputs_before[0]
            static = before.shape.as_list()[0]
            rows = tf.shape(before)[0] if static is None else static
            inputs = tf.zeros([rows, 0], before.dtype)
            inputs.set_shape([static, 0])
        for dimension in dimensions:
            is_layer = dimension in self._layers
            kind = "non_recurrent" if is_layer else "recurrent"
            with _v1.variable_scope(kind if self._tied else f"{kind}/cell_{dimension}"):
                if self._tied and not (is_first and dimension == dimensions[0]):
                    _v1.get_variable_scope().reuse_variables()
                if is_layer:
                    step.outputs[dimension] = self._layer(inputs, last)
                    continue
                memory = step.memories[dimension]
                state = last if memory is None else (memory, last)
                result = self._cells[dimension](inputs, state)
                step.outputs[dimension], step.states[dimension] = result

    def _layer(self, inputs: Any, last: Any) -> Any:
        scope = _v1.get_variable_scope()
        return layers.fully_connected(
            tf.concat([inputs, last], 1) if self._num_dims > 1 else last,
            num_outputs=self._num_units,
            activation_fn=self._activation,
            weights_initializer=scope.initializer or layers.xavier_initializer(),
            weights_regularizer=scope.regularizer,
        )


def _dimensions(dimensions: Any, count: int) -> list[int]:
    """Returns sorted dimensions, given as None, a number or a list."""
    if dimensions is None:
        return []
    numbers = sorted(set(dimensions if isinstance(dimensions, (list, tuple)) else [dimensions]))
    if any(each < 0 or each >= count for each in numbers):
        raise ValueError(f"Invalid dims: {numbers}. Must be in [0, {count})")
    return numbers


def _joined(parts: Sequence[Any], dtype: Any) -> tf.Tensor:
    return tf.concat(list(parts), 1) if parts else tf.zeros([0, 0], dtype)
