"""A decoder with a helper that chooses its tokens."""

from __future__ import annotations

from collections import namedtuple
from typing import Any

import tensorflow as tf

from estimator_bridge_contrib.rnn.base import check_cell
from estimator_bridge_contrib.seq2seq.decoder import (
    Decoder,
    check_output_layer,
    output_size_of,
)
from estimator_bridge_contrib.seq2seq.helpers import Helper

__all__ = ["BasicDecoder", "BasicDecoderOutput"]

BasicDecoderOutput = namedtuple("BasicDecoderOutput", ["rnn_output", "sample_id"])


class BasicDecoder(Decoder):
    """Runs a cell, whose next inputs a helper makes.

    Args:
      cell: the cell.
      helper: a Helper.
      initial_state: the cell's initial state.
      output_layer: a layer for the cell's outputs, such as ``tf.layers.Dense(vocabulary)``.

    Raises:
      TypeError: an argument has a wrong type.
    """

    def __init__(self, cell: Any, helper: Helper, initial_state: Any, output_layer: Any = None):
        check_cell(cell)
        if not isinstance(helper, Helper):
            raise TypeError(f"helper must be a Helper, received: {type(helper)}")
        check_output_layer(output_layer)
        self._cell = cell
        self._helper = helper
        self._initial_state = initial_state
        self._output_layer = output_layer

    @property
    def batch_size(self) -> Any:
        """The number of sequences."""
        return self._helper.batch_size

    @property
    def output_size(self) -> Any:
        """The shapes of the cell's outputs and of the tokens."""
        size = output_size_of(self._cell, self._output_layer)
        return BasicDecoderOutput(size, self._helper.sample_ids_shape)

    @property
    def output_dtype(self) -> Any:
        """The types of the cell's outputs (the type of its state) and of the tokens."""
        dtype = tf.nest.flatten(self._initial_state)[0].dtype
        outputs = tf.nest.map_structure(lambda _: dtype, self.output_size.rnn_output)
        return BasicDecoderOutput(outputs, self._helper.sample_ids_dtype)

    def initialize(self, name: str | None = None) -> Any:
        """See ``Decoder``."""
        return (*self._helper.initialize(), self._initial_state)

    def step(self, time: Any, inputs: Any, state: Any, name: str | None = None) -> Any:
        """See ``Decoder``."""
        with tf.compat.v1.name_scope(name, "BasicDecoderStep", [time, inputs, state]):
            outputs, next_state = self._cell(inputs, state)
            if self._output_layer is not None:
                outputs = self._output_layer(outputs)
            sample_ids = self._helper.sample(time=time, outputs=outputs, state=next_state)
            finished, next_inputs, next_state = self._helper.next_inputs(
                time=time, outputs=outputs, state=next_state, sample_ids=sample_ids
            )
        return BasicDecoderOutput(outputs, sample_ids), next_state, next_inputs, finished
