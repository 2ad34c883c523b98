"""Cells that wrap other cells."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import tensorflow as tf

from estimator_bridge_contrib.rnn.base import RNNCell, check_cell, linear

__all__ = [
    "AttentionCellWrapper",
    "EmbeddingWrapper",
    "HighwayWrapper",
    "InputProjectionWrapper",
    "OutputProjectionWrapper",
]

v1 = tf.compat.v1


class _Wrapper(RNNCell):
    """A cell that keeps another one's state and output."""

    def __init__(self, cell: Any, reuse: bool | None = None):
        super().__init__(_reuse=reuse)
        check_cell(cell)
        self._cell = cell

    @property
    def state_size(self) -> Any:
        return self._cell.state_size

    @property
    def output_size(self) -> Any:
        return self._cell.output_size

    def zero_state(self, batch_size: Any, dtype: Any) -> Any:
        with v1.name_scope(f"{type(self).__name__}ZeroState", values=[batch_size]):
            return self._cell.zero_state(batch_size, dtype)


class InputProjectionWrapper(_Wrapper):
    """Multiplies the inputs of a cell by ``kernel``, and adds ``bias``.

    Args:
      cell: the cell.
      num_proj: the size of its inputs.
      activation: a function of the cell's inputs, or None.
      input_size: not used.
      reuse: whether to reuse existing variables.
    """

    def __init__(
        self,
        cell: Any,
        num_proj: int,
        activation: Callable[[Any], Any] | None = None,
        input_size: int | None = None,
        reuse: bool | None = None,
    ):
        super().__init__(cell, reuse)
        del input_size
        self._num_proj = num_proj
        self._activation = activation

    def call(self, inputs: Any, state: Any) -> Any:
        """Returns the step's output and the new state."""
        projected = linear(inputs, self._num_proj)
        if self._activation is not None:
            projected = self._activation(projected)
        return self._cell(projected, state)


class OutputProjectionWrapper(_Wrapper):
    """Multiplies the output of a cell by ``kernel``, and adds ``bias``.

    Args:
      cell: the cell.
      output_size: the size of the result.
      activation: a function of the result, or None.
      reuse: whether to reuse existing variables.

    Raises:
      ValueError: output_size is less than 1.
    """

    def __init__(
        self,
        cell: Any,
        output_size: int,
        activation: Callable[[Any], Any] | None = None,
        reuse: bool | None = None,
    ):
        super().__init__(cell, reuse)
        if output_size < 1:
            raise ValueError(f"Parameter output_size must be > 0: {output_size}.")
        self._size = output_size
        self._activation = activation

    @property
    def output_size(self) -> int:
        """The size of the result."""
        return self._size

    def call(self, inputs: Any, state: Any) -> Any:
        """Returns the step's output and the new state."""
        output, new_state = self._cell(inputs, state)
        projected = linear(output, self._size)
        if self._activation is not None:
            projected = self._activation(projected)
        return projected, new_state


class EmbeddingWrapper(_Wrapper):
    """Looks up the inputs of a cell, which are ids, in the variable ``embedding``.

    Args:
      cell: the cell.
      embedding_classes: the number of ids.
      embedding_size: a row's length.
      initializer: initializer of the table; by default the scope's, or uniform with variance 1.
      reuse: whether to reuse the existing variable.

    Raises:
      ValueError: a size is not positive.
    """

    def __init__(
        self,
        cell: Any,
        embedding_classes: int,
        embedding_size: int,
        initializer: Any = None,
        reuse: bool | None = None,
    ):
        super().__init__(cell, reuse)
        if embedding_classes <= 0 or embedding_size <= 0:
            raise ValueError(
                "Both embedding_classes and embedding_size must be > 0: "
                f"{embedding_classes}, {embedding_size}."
            )
        self._shape = (embedding_classes, embedding_size)
        self._initializer = initializer

    def call(self, inputs: Any, state: Any) -> Any:
        """Returns the step's output and the new state."""
        uniform = v1.random_uniform_initializer(-math.sqrt(3), math.sqrt(3))
        initializer = self._initializer or v1.get_variable_scope().initializer or uniform
        dtype = tf.nest.flatten(state)[0].dtype
        table = v1.get_variable("embedding", self._shape, dtype=dtype, initializer=initializer)
        return self._cell(v1.nn.embedding_lookup(table, tf.reshape(inputs, [-1])), state)


class HighwayWrapper(_Wrapper):
    """Passes a part of the inputs around a cell (https://arxiv.org/abs/1505.00387).

    Args:
      cell: the cell, whose output has the inputs' size.
      couple_carry_transform_gates: whether the carry and transform gates add up to 1.
      carry_bias_init: the initial value of the bias ``carry_b``.
    """

    def __init__(
        self, cell: Any, couple_carry_transform_gates: bool = True, carry_bias_init: float = 1.0
    ):
        super().__init__(cell)
        self._coupled = couple_carry_transform_gates
        self._bias = carry_bias_init

    def __call__(self, inputs: Any, state: Any, scope: Any = None) -> Any:
        """Returns the step's output and the new state."""
        outputs, new_state = self._cell(inputs, state, scope=scope)
        tf.nest.assert_same_structure(inputs, outputs)
        return tf.nest.map_structure(self._mixed, inputs, outputs), new_state

    def _mixed(self, inputs: Any, outputs: Any) -> tf.Tensor:
        inputs.shape.assert_is_compatible_with(outputs.shape)
        carry = self._gate("carry", inputs, self._bias)
        transform = 1 - carry if self._coupled else self._gate("transform", inputs, -self._bias)
        return inputs * carry + outputs * transform

    def _gate(self, name: str, inputs: Any, bias: float) -> tf.Tensor:
        size = inputs.shape.as_list()[1]
        weights = v1.get_variable(f"{name}_w", [size, size])
        biases = v1.get_variable(f"{name}_b", [size], initializer=v1.constant_initializer(bias))
        return tf.sigmoid(tf.nn.bias_add(tf.matmul(inputs, tf.convert_to_tensor(weights)), biases))


class AttentionCellWrapper(_Wrapper):
    """Lets a cell attend to its own last outputs (https://arxiv.org/abs/1409.0473).

    The state is (the cell's, the last attention, the outputs attended to).

    Args:
      cell: the cell.
      attn_length: the number of last outputs to attend to.
      attn_size: the size of an output; the cell's by default.
      attn_vec_size: the size of the attention's hidden layer; attn_size by default.
      input_size: the size of the cell's inputs; that of the inputs by default.
      state_is_tuple: whether states are tuples, instead of one concatenated tensor.
      reuse: whether to reuse existing variables.

    Raises:
      ValueError: attn_length is not positive, or the cell's state is a tuple but this one's not.
    """

    def __init__(
        self,
        cell: Any,
        attn_length: int,
        attn_size: int | None = None,
        attn_vec_size: int | None = None,
        input_size: int | None = None,
        state_is_tuple: bool = True,
        reuse: bool | None = None,
    ):
        super().__init__(cell, reuse)
        if tf.nest.is_nested(cell.state_size) and not state_is_tuple:
            raise ValueError(
                "Cell returns tuple of states, but the flag state_is_tuple is not set. State size "
                f"is: {cell.state_size}"
            )
        if attn_length <= 0:
            raise ValueError(f"attn_length should be greater than zero, got {attn_length}")
        self._length = attn_length
        self._attn_size = attn_size or cell.output_size
        self._vec_size = attn_vec_size or self._attn_size
        self._input_size = input_size
        self._state_is_tuple = state_is_tuple

    @property
    def state_size(self) -> Any:
        """The sizes of the cell's state, of the attention, and of all outputs seen."""
        size = (self._cell.state_size, self._attn_size, self._attn_size * self._length)
        return size if self._state_is_tuple else sum(size)

    @property
    def output_size(self) -> int:
        """The output's size."""
        return self._attn_size

    def zero_state(self, batch_size: Any, dtype: Any) -> Any:
        """Returns a state of zeros."""
        return RNNCell.zero_state(self, batch_size, dtype)

    def call(self, inputs: Any, state: Any) -> Any:
        """Returns the step's output and the new state."""
        if not self._state_is_tuple:
            sizes = [self._cell.state_size, self._attn_size, self._attn_size * self._length]
            state = tf.split(state, sizes, axis=1)
        inner, attention, memory = state
        memory = tf.reshape(memory, [-1, self._length, self._attn_size])
        inputs = linear([inputs, attention], self._input_size or inputs.shape.as_list()[1])
        output, inner = self._cell(inputs, inner)
        attention = self._attention(tf.concat(tf.nest.flatten(inner), 1), memory)
        with v1.variable_scope("attn_output_projection"):
            output = linear([output, attention], self._attn_size)
        memory = tf.concat([memory[:, 1:], output[:, None]], 1)
        new_state = (inner, attention, tf.reshape(memory, [-1, self._length * self._attn_size]))
        return output, new_state if self._state_is_tuple else tf.concat(new_state, 1)

    def _attention(self, query: Any, memory: Any) -> tf.Tensor:
        with v1.variable_scope("attention"):
            weights = v1.get_variable("attn_w", [1, 1, self._attn_size, self._vec_size])
            vector = v1.get_variable("attn_v", [self._vec_size])
            keys = tf.tensordot(memory, tf.convert_to_tensor(weights)[0, 0], 1)
            hidden = tf.tanh(keys + linear(query, self._vec_size)[:, None])
            shares = tf.nn.softmax(tf.reduce_sum(vector * hidden, 2))
            attention = tf.reduce_sum(shares[:, :, None] * memory, 1)
            return tf.reshape(attention, [-1, self._attn_size])
