"""The loop of a decoder: one step per token, until all sequences have ended."""

from __future__ import annotations

import abc
from typing import Any

import tensorflow as tf

from estimator_bridge_contrib.rnn.bidirectional import transpose_batch_time

__all__ = [
    "Decoder",
    "check_output_layer",
    "dynamic_decode",
    "output_size_of",
    "size_of",
    "zeros_of",
]

v1 = tf.compat.v1


class Decoder(abc.ABC):
    """A decoder, which makes a sequence step by step.

    The properties ``batch_size``, ``output_size`` and ``output_dtype`` (the latter two with one
    structure) describe its outputs.
    """

    @property
    def batch_size(self) -> Any:
        """The number of sequences."""
        raise NotImplementedError

    @property
    def output_size(self) -> Any:
        """The shapes of a step's outputs, without the batch."""
        raise NotImplementedError

    @property
    def output_dtype(self) -> Any:
        """The types of a step's outputs."""
        raise NotImplementedError

    @abc.abstractmethod
    def initialize(self, name: str | None = None) -> Any:
        """Prepares the first step.

        Returns:
          Which sequences have ended, [batch]; the first inputs; the initial state.
        """

    @abc.abstractmethod
    def step(self, time: Any, inputs: Any, state: Any, name: str | None = None) -> Any:
        """Runs one step.

        Returns:
          The outputs, the next state, the next inputs, and which sequences have ended.
        """

    def finalize(self, outputs: Any, final_state: Any, sequence_lengths: Any) -> Any:
        """Returns final outputs and a state, given the outputs of all steps, time first."""
        raise NotImplementedError

    @property
    def tracks_own_finished(self) -> bool:
        """True if ``step`` reports all sequences that have ended, not only new ones."""
        return False


def dynamic_decode(
    decoder: Decoder,
    output_time_major: bool = False,
    impute_finished: bool = False,
    maximum_iterations: Any = None,
    parallel_iterations: int = 32,
    swap_memory: bool = False,
    scope: Any = None,
) -> Any:
    """Runs a decoder until all sequences have ended.

    Args:
      decoder: the decoder.
      output_time_major: whether outputs are [time, batch, ...].
      impute_finished: whether an ended sequence keeps its state and outputs zeros.
      maximum_iterations: the maximal number of steps; None for no limit.
      parallel_iterations: as for ``tf.while_loop``.
      swap_memory: as for ``tf.while_loop``.
      scope: the variable scope; ``decoder`` by default.

    Returns:
      The outputs, [batch, time, ...]; the final state; the sequences' lengths, [batch].

    Raises:
      TypeError: decoder is not a Decoder.
      ValueError: maximum_iterations is not a scalar.
    """
    if not isinstance(decoder, Decoder):
        raise TypeError(f"Expected decoder to be type Decoder, but saw: {type(decoder)}")
    with v1.variable_scope(scope, "decoder"):
        if maximum_iterations is not None:
            maximum_iterations = tf.convert_to_tensor(maximum_iterations, tf.int32)
            if maximum_iterations.shape.rank != 0:
                raise ValueError(
                    f"maximum_iterations must be a scalar, got {maximum_iterations.shape}"
                )
        finished, inputs, state = decoder.initialize()
        if maximum_iterations is not None:
            finished = tf.logical_or(finished, maximum_iterations <= 0)
        zero_outputs = tf.nest.map_structure(
            lambda size, dtype: zeros_of(size, decoder.batch_size, dtype),
            decoder.output_size,
            decoder.output_dtype,
        )
        arrays = tf.nest.map_structure(
            lambda zeros: tf.TensorArray(
                zeros.dtype, size=0, dynamic_size=True, element_shape=zeros.shape
            ),
            zero_outputs,
        )

        def body(
            time: Any, arrays: Any, state: Any, inputs: Any, finished: Any, lengths: Any
        ) -> Any:
            outputs, next_state, next_inputs, now = decoder.step(time, inputs, state)
            ended = now if decoder.tracks_own_finished else tf.logical_or(now, finished)
            lengths = tf.where(finished, lengths, time + 1)
            for old, new in ((state, next_state), (arrays, outputs), (inputs, next_inputs)):
                tf.nest.assert_same_structure(old, new)
            if impute_finished:
                outputs = tf.nest.map_structure(
                    lambda zero, output: v1.where(finished, zero, output), zero_outputs, outputs
                )
                next_state = tf.nest.map_structure(
                    lambda new, old: _keep_finished(finished, new, old), next_state, state
                )
            arrays = tf.nest.map_structure(
                lambda array, output: array.write(time, output), arrays, outputs
            )
            return time + 1, arrays, next_state, next_inputs, ended, lengths

        _, arrays, state, _, _, lengths = tf.while_loop(
            lambda time, arrays, state, inputs, finished, lengths: tf.logical_not(
                tf.reduce_all(finished)
            ),
            body,
            (
                tf.constant(0),
                arrays,
                state,
                inputs,
                finished,
                tf.zeros_like(finished, dtype=tf.int32),
            ),
            parallel_iterations=parallel_iterations,
            maximum_iterations=maximum_iterations,
            swap_memory=swap_memory,
        )
        outputs = tf.nest.map_structure(lambda array: array.stack(), arrays)
        if type(decoder).finalize is not Decoder.finalize:
            outputs, state = decoder.finalize(outputs, state, lengths)
        if not output_time_major:
            outputs = tf.nest.map_structure(transpose_batch_time, outputs)
    return outputs, state, lengths


def zeros_of(size: Any, batch_size: Any, dtype: Any) -> tf.Tensor:
    """Returns zeros [batch, *size].

    Args:
      size: an int, a scalar tensor, or a shape.
      batch_size: an int or a scalar tensor.
      dtype: their type.
    """
    sizes = [size] if tf.is_tensor(size) else tf.TensorShape(size).as_list()
    outputs = tf.zeros(tf.stack([batch_size, *sizes]), dtype)
    static = [tf.get_static_value(each) if tf.is_tensor(each) else each for each in sizes]
    static_batch_size = tf.get_static_value(batch_size) if tf.is_tensor(batch_size) else batch_size
    outputs.set_shape([static_batch_size, *static])
    return outputs


def size_of(tensor: Any, axis: int) -> Any:
    """Returns the size of a dimension: a number if known, otherwise a tensor."""
    size = tensor.shape.as_list()[axis]
    return tf.shape(tensor)[axis] if size is None else size


def check_output_layer(layer: Any) -> None:
    """Checks that a decoder's output layer reports the size of its outputs.

    Raises:
      TypeError: it does not.
    """
    if layer is not None and not (callable(layer) and hasattr(layer, "compute_output_shape")):
        raise TypeError(
            f"output_layer must be a Layer, received: {type(layer)}. Give an object, such as "
            "tf.layers.Dense(size)."
        )


def output_size_of(cell: Any, layer: Any) -> Any:
    """Returns the size of a cell's outputs, after an output layer if there is one."""
    if layer is None:
        return cell.output_size
    return tf.nest.map_structure(
        lambda size: layer.compute_output_shape(tf.TensorShape([None]).concatenate(size))[1:],
        cell.output_size,
    )


def _keep_finished(finished: Any, new: Any, old: Any) -> Any:
    """Keeps the old state of ended sequences; scalars and arrays are always updated."""
    if isinstance(old, tf.TensorArray):
        return new
    new.set_shape(old.shape)
    return new if new.shape.rank == 0 else v1.where(finished, old, new)
