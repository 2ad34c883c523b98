"""cuDNN's recurrent layers in plain operations, which run on every device.

On a GPU, TF1 kept all weights of a layer in one variable in cuDNN's own order, and converted it to
the variables of equivalent cells when it wrote a checkpoint. Here the layers have these variables
from the start, so checkpoints are the same.
"""

from __future__ import annotations

import types
from typing import Any

import tensorflow as tf

from estimator_bridge.tensorflow_private.layers import layer_scope, place_layer
from estimator_bridge_contrib.cudnn_rnn.cells import gru_step, gru_variables
from estimator_bridge_contrib.cudnn_rnn.modes import (
    CUDNN_GRU,
    CUDNN_GRU_PARAMS_PER_LAYER,
    CUDNN_LSTM,
    CUDNN_LSTM_PARAMS_PER_LAYER,
    CUDNN_RNN_RELU,
    CUDNN_RNN_RELU_PARAMS_PER_LAYER,
    CUDNN_RNN_TANH,
    CUDNN_RNN_TANH_PARAMS_PER_LAYER,
    check_linear_input,
)
from estimator_bridge_contrib.cudnn_rnn.opaque_layers import LayerWithSaveable
from estimator_bridge_contrib.cudnn_rnn.recurrence import drop_between_layers, turned
from estimator_bridge_contrib.cudnn_rnn.saveables import (
    CudnnGRUSaveable,
    CudnnLSTMSaveable,
    CudnnRNNReluSaveable,
    CudnnRNNTanhSaveable,
)
from estimator_bridge_contrib.rnn.base import LSTMStateTuple
from estimator_bridge_contrib.rnn.block_cells import lstm_step
from estimator_bridge_contrib.rnn.fused import StepCell

__all__ = ["CudnnGRU", "CudnnLSTM", "CudnnRNNRelu", "CudnnRNNTanh"]

v1 = tf.compat.v1


class _CudnnRNN(LayerWithSaveable):
    """A stack of recurrent layers; its arguments are those of ``LayerWithSettings``."""

    built: bool
    _num_params_per_layer = 0

    def build(self, input_shape: Any) -> None:
        """Makes the variables.

        If the program calls it, and not the layer, the variables' names begin with the current
        scope, without the layer's name, as in checkpoints of TensorFlow 1.

        Args:
          input_shape: the inputs' shape, [time, batch, size].

        Raises:
          ValueError: the shape has not three dimensions, or the last is unknown.
        """
        if self.built:
            return
        shape = tf.TensorShape(input_shape)
        if shape.rank != 3:
            raise ValueError(f"Expecting input_shape with 3 dims, got {shape.rank}")
        size = shape.as_list()[-1]
        if size is None:
            raise ValueError(
                "The last dimension of the inputs to `CudnnRNN` should be defined. Found `None`."
            )
        check_linear_input(self._input_mode, size, self._num_units)
        self._input_size = size
        if self._saves_variables():
            self._make_cells(size)
        else:
            self._make_opaque_kernel()
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
            states, each [layers * directions, batch, units], or [batch, layers * directions, units]
            if not time_major; zeros by default.
          sequence_lengths: [batch], the lengths; all steps by default.
          time_major: whether time is the first dimension of inputs and outputs.
          training: whether to drop values.

        Returns:
          The outputs, [time, batch, units * directions], or [batch, time, ...]; and the final
          state, structured as initial_state.

        Raises:
          TypeError: the state is not a tuple.
          ValueError: the state has not the right number of parts.
        """
        if initial_state is not None:
            if not isinstance(initial_state, tuple):
                raise TypeError(f"Invalid initial_state type: {initial_state}, expecting tuple.")
            expected = len(self.state_shape(1))
            if len(initial_state) != expected:
                raise ValueError(
                    f"initial_state has {len(initial_state)} parts, expected {expected}: the "
                    "outputs, and for an LSTM the states of the cells."
                )
        values = tf.convert_to_tensor(inputs, self._plain_dtype)
        # In a loop, the size that the layer was built for may be unknown.
        values = tf.ensure_shape(values, [None, None, self.input_size])
        if not self._saves_variables():
            return self._run_opaque(values, initial_state, sequence_lengths, time_major, training)
        if time_major:
            return self._run_cells(values, initial_state, sequence_lengths, training)
        state = None if initial_state is None else tuple(map(_swapped, initial_state))
        outputs, final = self._run_cells(_swapped(values), state, sequence_lengths, training)
        return _swapped(outputs), tuple(map(_swapped, final))

    def _make_cells(self, size: int) -> None:
        self._sets: list[Any] = []
        scope = self._scope_of_cells()
        own = layer_scope(self)
        if scope is not None:
            place_layer(self, scope)
        for layer in range(self.num_layers):
            for place in self._places(layer):

                def make(name: str, shape: list[int], place: str = place) -> Any:
                    return self.add_weight(
                        f"{place}/{name}",
                        shape,
                        initializer=self._initializer(shape[0] - self.num_units),
                    )

                self._sets.append(self._variables(make, size))
            size = self.num_units * self.num_dirs
        place_layer(self, own)

    def _scope_of_cells(self) -> Any:
        """Returns the scope of the variables; None for the layer's."""
        current = v1.get_variable_scope()
        if layer_scope(self) is not None:
            return None
        # A second layer there could not have been saved; its names need only differ.
        first = "/".join(filter(None, (current.name, self._places(0)[0], "")))
        is_taken = any(each.op.name.startswith(first) for each in v1.global_variables())
        return None if is_taken and not current.reuse else current

    def _run_cells(
        self, inputs: tf.Tensor, initial_state: Any, lengths: Any, training: Any
    ) -> tuple[tf.Tensor, tuple[tf.Tensor, ...]]:
        outputs = inputs
        final = []
        for layer in range(self.num_layers):
            if layer and training:
                outputs = drop_between_layers(outputs, self._dropout, self._seed, layer)
            ways = []
            for way in range(self.num_dirs):
                number = layer * self.num_dirs + way
                values, state = v1.nn.dynamic_rnn(
                    self._cell(number),
                    turned(outputs, lengths) if way else outputs,
                    sequence_length=lengths,
                    initial_state=self._part(initial_state, number),
                    dtype=outputs.dtype,
                    time_major=True,
                )
                ways.append(turned(values, lengths) if way else values)
                final.append(self._as_parts(state))
            outputs = tf.concat(ways, 2)
        return outputs, tuple(tf.stack(parts) for parts in zip(*final))

    def _places(self, layer: int) -> list[str]:
        cell = self._saveable_cls._rnn_cell_name
        if self.num_dirs == 1:
            return [f"rnn/multi_rnn_cell/cell_{layer}/{cell}"]
        stack = f"stack_bidirectional_rnn/cell_{layer}/bidirectional_rnn"
        return [f"{stack}/fw/{cell}", f"{stack}/bw/{cell}"]

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
        gates = self._num_params_per_layer // 2 * self.num_units
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

    _rnn_mode = CUDNN_LSTM
    _num_params_per_layer = CUDNN_LSTM_PARAMS_PER_LAYER
    _saveable_cls = CudnnLSTMSaveable

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

    _rnn_mode = CUDNN_GRU
    _num_params_per_layer = CUDNN_GRU_PARAMS_PER_LAYER
    _saveable_cls = CudnnGRUSaveable

    def _variables(self, make: Any, input_size: int) -> Any:
        return gru_variables(make, input_size, self.num_units)

    def _cell(self, number: int) -> StepCell:
        weights = self._sets[number]
        return StepCell(
            lambda inputs, state: gru_step(weights, inputs, state), self.num_units, lstm=False
        )


class _Simple(_CudnnRNN):
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

    _rnn_mode = CUDNN_RNN_TANH
    _num_params_per_layer = CUDNN_RNN_TANH_PARAMS_PER_LAYER
    _saveable_cls = CudnnRNNTanhSaveable

    def _activation(self, values: Any) -> Any:
        return tf.tanh(values)


class CudnnRNNRelu(_Simple):
    """Layers with relu, whose state is (outputs,)."""

    _rnn_mode = CUDNN_RNN_RELU
    _num_params_per_layer = CUDNN_RNN_RELU_PARAMS_PER_LAYER
    _saveable_cls = CudnnRNNReluSaveable

    def _activation(self, values: Any) -> Any:
        return tf.nn.relu(values)


def _swapped(values: Any) -> tf.Tensor:
    return tf.transpose(values, [1, 0, 2])
