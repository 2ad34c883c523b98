"""LSTMs over time and over the frequencies of a spectrum, whose slices are read one by one.

Li, Mohamed, Zweig, Gong, "LSTM Time and Frequency Recurrence" (2015); Kalchbrenner, Danihelka,
Graves, "Grid Long Short-Term Memory" (2015).
"""

from __future__ import annotations

import collections
from collections.abc import Sequence
from typing import Any, NamedTuple

import tensorflow as tf

from estimator_bridge_contrib.rnn.base import RNNCell, zeros
from estimator_bridge_contrib.rnn.frequency_slices import frequency_slices, sharded_kernel

__all__ = ["BidirectionalGridLSTMCell", "GridLSTMCell"]

v1 = tf.compat.v1


class _Pair(NamedTuple):
    """The state of a cell in one direction: the memory and the output."""

    c: Any
    m: Any


class GridLSTMCell(RNNCell):
    """An LSTM with a memory along time and one along frequency, which read each other's output.

    The inputs are cut into slices along frequency. Blocks of slices have weights of their own. The
    output is, for each slice, that of time and that of frequency.

    Args:
      num_units: the size of each memory.
      use_peepholes: whether the gates also read the memories.
      share_time_frequency_weights: whether both directions have the same weights.
      cell_clip: the limit of the memories; None for no limit.
      initializer: initializer of the weights; the scope's by default.
      num_unit_shards: the number of variables that a kernel is divided into.
      forget_bias: added to the forget gates.
      feature_size: the size of a slice.
      frequency_skip: the distance of a slice from the next one.
      num_frequency_blocks: a list of the number of slices of each block.
      start_freqindex_list: the first frequency of each block, if there are several.
      end_freqindex_list: the end of each block.
      couple_input_forget_gates: whether a forget gate is 1 minus the input gate.
      state_is_tuple: whether the state is a named tuple, of memories and outputs; otherwise they
        are concatenated.
      reuse: whether to reuse existing variables.

    Raises:
      ValueError: num_frequency_blocks is missing.
    """

    _KIND = "GridLSTMStateTuple"
    _PREFIXES: tuple[str, ...] = ("",)

    def __init__(
        self,
        num_units: int,
        use_peepholes: bool = False,
        share_time_frequency_weights: bool = False,
        cell_clip: float | None = None,
        initializer: Any = None,
        num_unit_shards: int = 1,
        forget_bias: float = 1.0,
        feature_size: int | None = None,
        frequency_skip: int | None = None,
        num_frequency_blocks: Sequence[int] | None = None,
        start_freqindex_list: Sequence[int] | None = None,
        end_freqindex_list: Sequence[int] | None = None,
        couple_input_forget_gates: bool = False,
        state_is_tuple: bool = True,
        reuse: bool | None = None,
    ):
        super().__init__(_reuse=reuse)
        if num_frequency_blocks is None:
            raise ValueError("Must specify num_frequency_blocks")
        self._num_units, self._shards = num_units, num_unit_shards
        self._use_peepholes, self._is_shared = use_peepholes, share_time_frequency_weights
        self._is_coupled, self._state_is_tuple = couple_input_forget_gates, state_is_tuple
        self._forget_bias, self._clip = forget_bias, cell_clip
        self._initializer = initializer
        self._slices = feature_size, frequency_skip
        self._blocks = list(num_frequency_blocks)
        self._ranges = start_freqindex_list, end_freqindex_list
        names = [
            f"{prefix}state_f{slice_:02d}_b{block:02d}_{part}"
            for prefix in self._PREFIXES
            for block, count in enumerate(self._blocks)
            for slice_ in range(count)
            for part in "cm"
        ]
        self._state_tuple_type = _state_type(self._KIND, names)

    @property
    def state_tuple_type(self) -> Any:
        """The class of states."""
        return self._state_tuple_type

    @property
    def output_size(self) -> int:
        """The output's size."""
        return len(self._state_tuple_type._fields) * self._num_units

    @property
    def state_size(self) -> Any:
        """The sizes of the state's parts, or their sum."""
        if not self._state_is_tuple:
            return self.output_size
        return self._state_tuple_type(*[self._num_units] * len(self._state_tuple_type._fields))

    def call(self, inputs: Any, state: Any) -> Any:
        """Returns the step's output and the new state."""
        blocks = frequency_slices(inputs, *self._slices, self._blocks, *self._ranges)
        parts = self._split(state)
        outputs, new_state = self._run(blocks, parts)
        if not self._state_is_tuple:
            return tf.concat(outputs, 1), tf.concat(new_state, 1)
        return tf.concat(outputs, 1), self._state_tuple_type(*new_state)

    def _split(self, state: Any) -> list[Any]:
        if self._state_is_tuple:
            return list(state)
        return tf.split(state, len(self._state_tuple_type._fields), axis=1)

    def _run(self, blocks: Sequence[Sequence[Any]], state: Sequence[Any]) -> Any:
        """Runs over all slices; returns lists of outputs and of the new state's parts."""
        outputs: list[Any] = []
        new_state: list[Any] = []
        position = iter(state)
        with v1.variable_scope(v1.get_variable_scope(), initializer=self._initializer):
            for number, slices in enumerate(blocks):
                step = _Step(self, number, slices[0])
                frequency = _Pair(*[tf.zeros_like(state[0])] * 2)
                for slice_ in slices:
                    time = _Pair(next(position), next(position))
                    time, frequency = step(slice_, time, frequency)
                    outputs += [time.m, frequency.m]
                    new_state += time
        return outputs, new_state


def _state_type(name: str, fields: Sequence[str]) -> Any:
    return collections.namedtuple(name, fields)


class _Step:
    """The weights of a block, and the step over one of its slices."""

    def __init__(self, cell: Any, block: int, inputs: tf.Tensor):
        self._cell, self._dtype = cell, inputs.dtype.base_dtype
        rows = inputs.shape.as_list()[1] + 2 * cell._num_units
        gates = 3 if cell._is_coupled else 4
        directions = ("f",) if cell._is_shared else ("f", "t")
        shape = [rows, gates * cell._num_units]
        self._affine = {
            direction: (
                sharded_kernel(f"W_{direction}_{block}", shape, self._dtype, cell._shards),
                v1.get_variable(f"B_{direction}_{block}", shape[1:], self._dtype, zeros()),
            )
            for direction in directions
        }
        names = ("I", "O") if cell._is_coupled else ("F", "I", "O")
        self._peepholes = {
            (gate, direction): [
                v1.get_variable(
                    f"W_{gate}_diag_{_DIRECTIONS[direction]}{axis}_{block}",
                    [cell._num_units],
                    self._dtype,
                )
                for axis in "ft"
            ]
            for direction in directions
            for gate in names
            if cell._use_peepholes
        }

    def __call__(self, inputs: Any, time: _Pair, frequency: _Pair) -> tuple[_Pair, _Pair]:
        """Returns the new states along time and along frequency."""
        step_inputs = tf.concat([inputs, time.m, frequency.m], 1)
        old = {"f": frequency.c, "t": time.c}
        gates = {}
        for direction, (kernel, bias) in self._affine.items():
            affine = tf.nn.bias_add(tf.matmul(step_inputs, kernel), tf.convert_to_tensor(bias))
            gates[direction] = tf.split(affine, 3 if self._cell._is_coupled else 4, axis=1)
        new = {each: self._memory(gates, each, old) for each in "ft"}
        outputs = {
            each: tf.sigmoid(self._read(gates, each, -1, "O", new)) * tf.tanh(new[each])
            for each in "ft"
        }
        return _Pair(new["t"], outputs["t"]), _Pair(new["f"], outputs["f"])

    def _memory(self, gates: Any, direction: str, old: Any) -> tf.Tensor:
        cell = self._cell
        enters = tf.sigmoid(self._read(gates, direction, 0, "I", old))
        if cell._is_coupled:
            stays = 1.0 - enters
        else:
            stays = self._read(gates, direction, 2, "F", old, cell._forget_bias)
            stays = tf.sigmoid(stays)
        new = tf.tanh(self._of(gates, direction)[1])
        memory = stays * old[direction] + enters * new
        if cell._clip is not None:
            memory = tf.clip_by_value(memory, -cell._clip, cell._clip)
        return memory

    def _read(
        self, gates: Any, direction: str, index: int, name: str, memories: Any, bias: float = 0.0
    ) -> tf.Tensor:
        """Returns a gate before its sigmoid, with what it reads of both memories."""
        gate = self._of(gates, direction)[index]
        gate = gate + bias if bias else gate
        if self._peepholes:
            weights = self._peepholes.get((name, direction)) or self._peepholes[(name, "f")]
            gate += weights[0] * memories["f"]
            gate += weights[1] * memories["t"]
        return gate

    def _of(self, gates: Any, direction: str) -> Any:
        return gates.get(direction) or gates["f"]  # shared weights are those along frequency


_DIRECTIONS = {"f": "freq", "t": "time"}


class BidirectionalGridLSTMCell(GridLSTMCell):
    """A GridLSTMCell that reads the slices from both ends, with weights for each.

    The arguments are those of ``GridLSTMCell``; the state is a named tuple.

    Args:
      num_units: see ``GridLSTMCell``.
      use_peepholes: see ``GridLSTMCell``.
      share_time_frequency_weights: see ``GridLSTMCell``.
      cell_clip: see ``GridLSTMCell``.
      initializer: see ``GridLSTMCell``.
      num_unit_shards: see ``GridLSTMCell``.
      forget_bias: see ``GridLSTMCell``.
      feature_size: see ``GridLSTMCell``.
      frequency_skip: see ``GridLSTMCell``.
      num_frequency_blocks: see ``GridLSTMCell``.
      start_freqindex_list: see ``GridLSTMCell``.
      end_freqindex_list: see ``GridLSTMCell``.
      couple_input_forget_gates: see ``GridLSTMCell``.
      backward_slice_offset: the distance by which the slices that are read backwards are moved.
      reuse: see ``GridLSTMCell``.
    """

    _KIND = "BidirectionalGridLSTMStateTuple"
    _PREFIXES = ("fwd_", "bwd_")

    def __init__(
        self,
        num_units: int,
        use_peepholes: bool = False,
        share_time_frequency_weights: bool = False,
        cell_clip: float | None = None,
        initializer: Any = None,
        num_unit_shards: int = 1,
        forget_bias: float = 1.0,
        feature_size: int | None = None,
        frequency_skip: int | None = None,
        num_frequency_blocks: Sequence[int] | None = None,
        start_freqindex_list: Sequence[int] | None = None,
        end_freqindex_list: Sequence[int] | None = None,
        couple_input_forget_gates: bool = False,
        backward_slice_offset: int = 0,
        reuse: bool | None = None,
    ):
        super().__init__(
            num_units,
            use_peepholes,
            share_time_frequency_weights,
            cell_clip,
            initializer,
            num_unit_shards,
            forget_bias,
            feature_size,
            frequency_skip,
            num_frequency_blocks,
            start_freqindex_list,
            end_freqindex_list,
            couple_input_forget_gates,
            True,
            reuse,
        )
        self._offset = backward_slice_offset

    def call(self, inputs: Any, state: Any) -> Any:
        """Returns the step's output and the new state."""
        half = len(state) // 2
        outputs: list[Any] = []
        new_state: list[Any] = []
        for scope, offset, order, part in (
            ("fwd", 0, 1, state[:half]),
            ("bwd", self._offset, -1, state[half:]),
        ):
            blocks = frequency_slices(inputs, *self._slices, self._blocks, *self._ranges, offset)
            with v1.variable_scope(scope):
                more = self._run([slices[::order] for slices in blocks], part)
            outputs += more[0]
            new_state += more[1]
        return tf.concat(outputs, 1), self._state_tuple_type(*new_state)
