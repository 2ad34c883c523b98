"""Cells that run over a whole sequence, with time as the first dimension."""

from __future__ import annotations

import abc
from collections.abc import Callable
from typing import Any

import tensorflow as tf

from estimator_bridge_contrib.rnn.base import Layer, LSTMStateTuple
from estimator_bridge_contrib.rnn.block_cells import lstm_step, lstm_variables

__all__ = [
    "FusedRNNCell",
    "FusedRNNCellAdaptor",
    "LSTMBlockFusedCell",
    "LSTMBlockWrapper",
    "StepCell",
    "TimeReversedFusedRNN",
]

v1 = tf.compat.v1


class FusedRNNCell(abc.ABC):
    """A cell that runs over a whole sequence."""

    @abc.abstractmethod
    def __call__(
        self,
        inputs: Any,
        initial_state: Any = None,
        dtype: Any = None,
        sequence_length: Any = None,
        scope: Any = None,
    ) -> Any:
        """Runs over a sequence.

        Args:
          inputs: [time, batch, size], or a list of [batch, size].
          initial_state: the initial state; zeros by default.
          dtype: the state's type; required without an initial_state.
          sequence_length: [batch], the lengths; all steps by default.
          scope: the variable scope.

        Returns:
          The outputs, in the inputs' form, and the final state.
        """


class FusedRNNCellAdaptor(FusedRNNCell):
    """Runs an ordinary cell over a sequence.

    Args:
      cell: the cell.
      use_dynamic_rnn: whether to use ``dynamic_rnn`` instead of ``static_rnn``.
    """

    def __init__(self, cell: Any, use_dynamic_rnn: bool = False):
        self._cell = cell
        self._use_dynamic_rnn = use_dynamic_rnn

    def __call__(
        self,
        inputs: Any,
        initial_state: Any = None,
        dtype: Any = None,
        sequence_length: Any = None,
        scope: Any = None,
    ) -> Any:
        """Runs over a sequence; see ``FusedRNNCell``."""
        is_list = isinstance(inputs, list)
        options = {
            "initial_state": initial_state,
            "dtype": dtype,
            "sequence_length": sequence_length,
            "scope": scope,
        }
        if self._use_dynamic_rnn:
            steps = tf.stack(inputs) if is_list else inputs
            outputs, state = v1.nn.dynamic_rnn(self._cell, steps, time_major=True, **options)
            return (tf.unstack(outputs) if is_list else outputs), state
        steps = inputs if is_list else tf.unstack(inputs)
        outputs, state = v1.nn.static_rnn(self._cell, steps, **options)
        return (outputs if is_list else tf.stack(outputs)), state


class TimeReversedFusedRNN(FusedRNNCell):
    """Runs another fused cell from the end of each sequence to its start.

    Args:
      cell: the other cell.
    """

    def __init__(self, cell: Any):
        self._cell = cell

    def __call__(
        self,
        inputs: Any,
        initial_state: Any = None,
        dtype: Any = None,
        sequence_length: Any = None,
        scope: Any = None,
    ) -> Any:
        """Runs over a sequence; see ``FusedRNNCell``."""
        outputs, state = self._cell(
            _reversed(inputs, sequence_length),
            initial_state=initial_state,
            dtype=dtype,
            sequence_length=sequence_length,
            scope=scope,
        )
        return _reversed(outputs, sequence_length), state


def _reversed(steps: Any, lengths: Any) -> Any:
    if isinstance(steps, list):
        return steps[::-1]
    if lengths is None:
        return tf.reverse(steps, [0])
    return tf.reverse_sequence(steps, lengths, seq_axis=0, batch_axis=1)


class LSTMBlockWrapper(Layer):
    """An LSTM that runs over a whole sequence: the base of ``LSTMBlockFusedCell``.

    A subclass defines ``num_units`` and ``step``.
    """

    @property
    def num_units(self) -> int:
        """The state's size."""
        raise NotImplementedError

    def step(self, inputs: Any, state: Any) -> Any:
        """Returns the step's output and the new state."""
        raise NotImplementedError

    def call(
        self,
        inputs: Any,
        initial_state: Any = None,
        dtype: Any = None,
        sequence_length: Any = None,
    ) -> Any:
        """Runs over a sequence; see ``FusedRNNCell``.

        Outputs beyond a sequence's length are zero, and its final state is that of its last step.

        Raises:
          ValueError: neither initial_state nor dtype is given.
        """
        steps = tf.convert_to_tensor(inputs)
        if initial_state is None and dtype is None:
            raise ValueError("Either initial_state or dtype needs to be specified")
        if initial_state is not None and len(initial_state) != 2:
            raise ValueError(
                f"Expecting initial_state to be a tuple with length 2 or None, got {initial_state}."
            )
        state = None if initial_state is None else LSTMStateTuple(*initial_state)
        return v1.nn.dynamic_rnn(
            StepCell(self.step, self.num_units, lstm=True),
            steps,
            sequence_length=sequence_length,
            initial_state=state,
            dtype=dtype,
            time_major=True,
        )


class LSTMBlockFusedCell(LSTMBlockWrapper):
    """An LSTM over a whole sequence, with the variables ``lstm_fused_cell/kernel`` and ``bias``.

    Args:
      num_units: the state's size.
      forget_bias: added to the forget gate.
      cell_clip: the limit of the cell's state; None for no limit.
      use_peephole: whether gates also read the cell's state.
      reuse: whether to reuse existing variables.
      dtype: the variables' type; that of the inputs by default.
      name: the layer's scope.
    """

    def __init__(
        self,
        num_units: int,
        forget_bias: float = 1.0,
        cell_clip: float | None = None,
        use_peephole: bool = False,
        reuse: bool | None = None,
        dtype: Any = None,
        name: str = "lstm_fused_cell",
    ):
        super().__init__(_reuse=reuse, name=name, dtype=dtype)
        self._num_units = num_units
        self._forget_bias = forget_bias
        self._cell_clip = cell_clip
        self._use_peephole = use_peephole

    @property
    def num_units(self) -> int:
        """The state's size."""
        return self._num_units

    def __call__(self, inputs: Any, *args: Any, **kwargs: Any) -> Any:
        """Runs over a sequence; see ``FusedRNNCell``."""
        if not isinstance(inputs, list):
            return super().__call__(inputs, *args, **kwargs)
        outputs, state = super().__call__(tf.stack(inputs), *args, **kwargs)
        return tf.unstack(outputs), state

    def build(self, inputs_shape: Any) -> None:
        """Makes the variables."""
        size = tf.TensorShape(inputs_shape).as_list()[-1]
        lstm_variables(self, size, self._num_units, self._use_peephole)
        self.built = True

    def step(self, inputs: Any, state: Any) -> Any:
        """Returns the step's output and the new state."""
        return lstm_step(self, inputs, state, self._forget_bias, self._cell_clip)


class StepCell:
    """A cell made from a function of inputs and state, for ``dynamic_rnn``.

    Args:
      step: a function that returns the output and the new state.
      units: the size of the output, and of each part of the state.
      lstm: whether the state has two parts.
    """

    def __init__(self, step: Callable[[Any, Any], Any], units: int, lstm: bool):
        self._step = step
        self.output_size = units
        self.state_size: Any = LSTMStateTuple(units, units) if lstm else units

    def zero_state(self, batch_size: Any, dtype: Any) -> Any:
        """Returns a state of zeros."""
        return tf.nest.map_structure(
            lambda size: tf.zeros([batch_size, size], dtype), self.state_size
        )

    def __call__(self, inputs: Any, state: Any, scope: Any = None) -> Any:
        """Returns the step's output and the new state."""
        del scope  # the variables exist already
        return self._step(inputs, state)
