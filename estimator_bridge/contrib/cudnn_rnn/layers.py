"""cuDNN's recurrent layers in plain operations, which run on every device.

On a GPU, TF1 kept all weights of a layer in one variable in cuDNN's own order, and converted it to
the variables of equivalent cells when it wrote a checkpoint. Here the layers have these variables
from the start, so checkpoints are the same.
"""

from __future__ import annotations

import types
from typing import Any

import tensorflow as tf

from estimator_bridge.contrib.cudnn_rnn.cells import gru_step, gru_variables
from estimator_bridge.contrib.rnn.base import Layer, LSTMStateTuple
from estimator_bridge.contrib.rnn.block_cells import lstm_step
from estimator_bridge.contrib.rnn.fused import StepCell

__all__ = ["CudnnGRU", "CudnnLSTM", "CudnnRNNRelu", "CudnnRNNTanh"]

v1 = tf.compat.v1


class _CudnnRNN(Layer):
    """A stack of recurrent layers.

    Args:
      num_layers: the number of layers.
      num_units: the size of the states.
      input_mode: 'linear_input', or 'auto_select' if the inputs' size is not num_units.
      direction: 'unidirectional' or 'bidirectional'.
      dropout: the probability that a value between two layers is dropped.
      seed: the seed of initial values and dropout.
      dtype: the variables' type.
      kernel_initializer: makes each gate's matrices; Glorot's by default.
      bias_initializer: makes each of cuDNN's two biases of a gate; zeros by default.
      name: the layer's scope.

    Raises:
      ValueError: an argument has an unsupported value.
    """

    _cell_name = ""
    _gates = 1

    def __init__(
        self,
        num_layers: int,
        num_units: int,
        input_mode: str = "linear_input",
        direction: str = "unidirectional",
        dropout: float = 0.0,
        seed: int | None = None,
        dtype: Any = tf.float32,
        kernel_initializer: Any = None,
        bias_initializer: Any = None,
        name: str | None = None,
    ):
        super().__init__(dtype=dtype, name=name)
        if direction not in ("unidirectional", "bidirectional"):
            raise ValueError(
                f"Invalid direction: {direction}, expecting unidirectional or bidirectional"
            )
        if input_mode not in ("linear_input", "auto_select"):
            raise ValueError(
                f"Invalid input_mode: {input_mode}. Only linear_input is supported, and "
                "auto_select if it is equivalent."
            )
        self.num_layers = num_layers
        self.num_units = num_units
        self.input_mode = input_mode
        self.direction = direction
        self.num_dirs = 1 if direction == "unidirectional" else 2
        self._dropout = dropout
        self._seed = seed
        self._kernel_initializer = kernel_initializer or v1.glorot_uniform_initializer(seed=seed)
        self._bias_initializer = bias_initializer or v1.zeros_initializer()
        self._sets: list[Any] = []

    def state_shape(self, batch_size: Any) -> tuple[Any, ...]:
        """Returns the shapes of the state's parts, each [layers * directions, batch, units]."""
        return ([self.num_layers * self.num_dirs, batch_size, self.num_units],)

    def build(self, inputs_shape: Any) -> None:
        """Makes the variables for inputs [time, batch, size]."""
        if self._sets:
            return
        size = tf.TensorShape(inputs_shape).as_list()[-1]
        if size is None:
            raise ValueError(
                "The last dimension of the inputs to `CudnnRNN` should be defined. Found `None`."
            )
        if self.input_mode == "auto_select" and size == self.num_units:
            raise ValueError(
                "input_mode='auto_select' with inputs of the size num_units means "
                f"'skip_input', which is not supported: {size}. Use 'linear_input'."
            )
        for layer in range(self.num_layers):
            for place in self._places(layer):

                def make(name: str, shape: list[int], place: str = place) -> Any:
                    return self.add_weight(
                        f"{place}/{self._cell_name}/{name}",
                        shape,
                        initializer=self._initializer(shape[0] - self.num_units),
                    )

                self._sets.append(self._variables(make, size))
            size = self.num_units * self.num_dirs
        self.built = True

    def call(
        self,
        inputs: Any,
        initial_state: Any = None,
        sequence_lengths: Any = None,
        time_major: bool = True,
        training: bool = True,
    ) -> Any:
        """Runs over sequences.

        Args:
          inputs: [time, batch, size], or [batch, time, size] if not time_major.
          initial_state: a tuple with the state's parts: the outputs, and for an LSTM the cells'
            states, each [layers * directions, batch, units]; zeros by default.
          sequence_lengths: [batch], the lengths; all steps by default.
          time_major: whether time is the first dimension of inputs and outputs.
          training: whether to drop values.

        Returns:
          The outputs, [time, batch, units * directions], and the final state, structured as
          initial_state.

        Raises:
          TypeError: the state is not a tuple.
        """
        if initial_state is not None and not isinstance(initial_state, tuple):
            raise TypeError(f"Invalid initial_state type: {initial_state}, expecting tuple.")
        outputs = tf.convert_to_tensor(inputs)
        if not time_major:
            outputs = tf.transpose(outputs, [1, 0, 2])
        final = []
        for layer in range(self.num_layers):
            if layer and training and self._dropout:
                outputs = tf.nn.dropout(outputs, self._dropout, seed=self._seed)
            ways = []
            for way in range(self.num_dirs):
                number = layer * self.num_dirs + way
                values, state = v1.nn.dynamic_rnn(
                    self._cell(number),
                    _turned(outputs, sequence_lengths) if way else outputs,
                    sequence_length=sequence_lengths,
                    initial_state=self._part(initial_state, number),
                    dtype=outputs.dtype,
                    time_major=True,
                )
                ways.append(_turned(values, sequence_lengths) if way else values)
                final.append(self._as_parts(state))
            outputs = tf.concat(ways, 2)
        if not time_major:
            outputs = tf.transpose(outputs, [1, 0, 2])
        return outputs, tuple(tf.stack(parts) for parts in zip(*final))

    def _places(self, layer: int) -> list[str]:
        if self.num_dirs == 1:
            return [f"rnn/multi_rnn_cell/cell_{layer}"]
        stack = f"stack_bidirectional_rnn/cell_{layer}/bidirectional_rnn"
        return [f"{stack}/fw", f"{stack}/bw"]

    def _initializer(self, input_size: int) -> Any:
        """Returns an initializer that joins cuDNN's matrices for each gate, input and state."""

        def initialize(shape: Any, dtype: Any = tf.float32, partition_info: Any = None) -> Any:
            del partition_info
            shape = tf.TensorShape(shape).as_list()
            if len(shape) == 1:
                biases = [self._bias_initializer(shape, dtype=dtype) for _ in range(2)]
                return biases[0] + biases[1]
            rows = [input_size, self.num_units] if input_size > 0 else [shape[0]]
            blocks = [
                [
                    tf.transpose(self._kernel_initializer([self.num_units, row], dtype=dtype))
                    for _ in range(shape[1] // self.num_units)
                ]
                for row in rows
            ]
            return tf.concat([tf.concat(row, 1) for row in blocks], 0)

        return initialize

    def _variables(self, make: Any, input_size: int) -> Any:
        gates = self._gates * self.num_units
        return types.SimpleNamespace(
            kernel=make("kernel", [input_size + self.num_units, gates]),
            bias=make("bias", [gates]),
            w_i_diag=None,
            w_o_diag=None,
        )

    def _cell(self, number: int) -> StepCell:
        raise NotImplementedError

    def _part(self, state: Any, number: int) -> Any:
        return None if state is None else state[0][number]

    def _as_parts(self, state: Any) -> tuple[Any, ...]:
        return (state,)


class CudnnLSTM(_CudnnRNN):
    """LSTM layers, whose state is (outputs, cells' states)."""

    _cell_name = "cudnn_compatible_lstm_cell"
    _gates = 4

    def state_shape(self, batch_size: Any) -> tuple[Any, ...]:
        """Returns the shapes of outputs and states, each [layers * directions, batch, units]."""
        return super().state_shape(batch_size) * 2

    def _cell(self, number: int) -> StepCell:
        weights = self._sets[number]
        return StepCell(
            lambda inputs, state: lstm_step(weights, inputs, state, 0.0, None),
            self.num_units,
            lstm=True,
        )

    def _part(self, state: Any, number: int) -> Any:
        return None if state is None else LSTMStateTuple(state[1][number], state[0][number])

    def _as_parts(self, state: Any) -> tuple[Any, ...]:
        return state.h, state.c


class CudnnGRU(_CudnnRNN):
    """GRU layers, whose state is (outputs,)."""

    _cell_name = "cudnn_compatible_gru_cell"

    def _variables(self, make: Any, input_size: int) -> Any:
        return gru_variables(make, input_size, self.num_units)

    def _cell(self, number: int) -> StepCell:
        weights = self._sets[number]
        return StepCell(
            lambda inputs, state: gru_step(weights, inputs, state), self.num_units, lstm=False
        )


class _Simple(_CudnnRNN):
    _cell_name = "basic_rnn_cell"

    def _cell(self, number: int) -> StepCell:
        weights = self._sets[number]

        def step(inputs: Any, state: Any) -> Any:
            kernel = tf.convert_to_tensor(weights.kernel)
            total = tf.matmul(tf.concat([inputs, state], 1), kernel)
            output = self._activation(tf.nn.bias_add(total, weights.bias))
            return output, output

        return StepCell(step, self.num_units, lstm=False)

    def _activation(self, values: Any) -> Any:
        raise NotImplementedError


class CudnnRNNTanh(_Simple):
    """Layers with tanh, whose state is (outputs,)."""

    def _activation(self, values: Any) -> Any:
        return tf.tanh(values)


class CudnnRNNRelu(_Simple):
    """Layers with relu, whose state is (outputs,)."""

    def _activation(self, values: Any) -> Any:
        return tf.nn.relu(values)


def _turned(steps: Any, lengths: Any) -> tf.Tensor:
    if lengths is None:
        return tf.reverse(steps, [0])
    return tf.reverse_sequence(steps, lengths, seq_axis=0, batch_axis=1)
