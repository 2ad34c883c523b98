"""Decoders that are unrolled: one cell, a list of inputs."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import tensorflow as tf

from estimator_bridge_contrib.rnn.base import linear

__all__ = [
    "attention_decoder",
    "check_projection",
    "embedding_attention_decoder",
    "embedding_rnn_decoder",
    "fed_back",
    "rnn_decoder",
]

_v1 = tf.compat.v1
Loop = Callable[[Any, int], Any]


def fed_back(embedding: Any, output_projection: Any, is_trained: bool) -> Loop:
    """Returns a loop_function that looks up the symbol with the largest output.

    Args:
      embedding: the table of symbols.
      output_projection: (weights, biases) from outputs to symbols; None if outputs are symbols'.
      is_trained: whether gradients reach the table through it.
    """

    def loop(previous: Any, step: int) -> Any:
        del step
        if output_projection is not None:
            previous = _v1.nn.xw_plus_b(previous, output_projection[0], output_projection[1])
        vectors = tf.nn.embedding_lookup(embedding, tf.argmax(previous, 1))
        return vectors if is_trained else tf.stop_gradient(vectors)

    return loop


def rnn_decoder(
    decoder_inputs: Iterable[Any],
    initial_state: Any,
    cell: Any,
    loop_function: Loop | None = None,
    scope: Any = None,
) -> tuple[list[Any], Any]:
    """Runs a cell over a list of inputs.

    Args:
      decoder_inputs: by step, a tensor [batch, size].
      initial_state: the state before the first step.
      cell: the cell.
      loop_function: from the second step on, computes a step's input from the output before it and
        the step's number.
      scope: the variables' scope; by default "rnn_decoder".

    Returns:
      The outputs by step, and the last state.
    """
    with _v1.variable_scope(scope or "rnn_decoder"):
        state = initial_state
        outputs: list[Any] = []
        for step, plain in enumerate(decoder_inputs):
            step_input = plain
            if loop_function is not None and step:
                with _v1.variable_scope("loop_function", reuse=True):
                    step_input = loop_function(outputs[-1], step)
            if step:
                _v1.get_variable_scope().reuse_variables()
            output, state = cell(step_input, state)
            outputs.append(output)
    return outputs, state


def embedding_rnn_decoder(
    decoder_inputs: list[Any],
    initial_state: Any,
    cell: Any,
    num_symbols: int,
    embedding_size: int,
    output_projection: Any = None,
    feed_previous: bool = False,
    update_embedding_for_previous: bool = True,
    scope: Any = None,
) -> tuple[list[Any], Any]:
    """Runs a cell over symbols, which are looked up in the variable ``embedding``.

    Args:
      decoder_inputs: by step, symbols [batch].
      initial_state: the state before the first step.
      cell: the cell.
      num_symbols: the number of symbols.
      embedding_size: the size of a row of the table.
      output_projection: (weights, biases) from the cell's outputs to symbols.
      feed_previous: whether the most likely symbol of a step is the next one's input.
      update_embedding_for_previous: whether gradients reach the table through such symbols.
      scope: the variables' scope; by default "embedding_rnn_decoder".

    Returns:
      The outputs by step, and the last state.

    Raises:
      ValueError: the shapes of output_projection do not fit num_symbols.
    """
    with _v1.variable_scope(scope or "embedding_rnn_decoder") as used:
        check_projection(output_projection, num_symbols, used.dtype)
        embedding = _v1.get_variable("embedding", [num_symbols, embedding_size])
        loop = None
        if feed_previous:
            loop = fed_back(embedding, output_projection, update_embedding_for_previous)
        # Made as the decoder asks for them: names of operations depend on it.
        inputs = (tf.nn.embedding_lookup(embedding, symbols) for symbols in decoder_inputs)
        return rnn_decoder(inputs, initial_state, cell, loop)


def attention_decoder(
    decoder_inputs: list[Any],
    initial_state: Any,
    attention_states: Any,
    cell: Any,
    output_size: int | None = None,
    num_heads: int = 1,
    loop_function: Loop | None = None,
    dtype: Any = None,
    scope: Any = None,
    initial_state_attention: bool = False,
) -> tuple[list[Any], Any]:
    """Runs a cell that attends to states, with Bahdanau's additive attention.

    Args:
      decoder_inputs: by step, a tensor [batch, size].
      initial_state: the state before the first step.
      attention_states: the states to attend to: [batch, length, size], the size known.
      cell: the cell.
      output_size: the size of outputs; by default the cell's.
      num_heads: the number of attention heads.
      loop_function: see ``rnn_decoder``.
      dtype: the variables' type; by default the scope's.
      scope: the variables' scope; by default "attention_decoder".
      initial_state_attention: whether the first step attends with initial_state, instead of zeros.

    Returns:
      The outputs by step, and the last state.

    Raises:
      ValueError: there is no input or head, or a size is unknown.
    """
    if not decoder_inputs:
        raise ValueError("Must provide at least 1 input to attention decoder.")
    if num_heads < 1:
        raise ValueError("With less than 1 heads, use a non-attention decoder: rnn_decoder.")
    if attention_states.shape.as_list()[2] is None:
        raise ValueError(
            f"Shape[2] of attention_states must be known: {attention_states.shape}. Call "
            "attention_states.set_shape([None, None, size])."
        )
    size = cell.output_size if output_size is None else output_size
    with _v1.variable_scope(scope or "attention_decoder", dtype=dtype) as used:
        attend = _Attention(attention_states, num_heads, used.dtype)
        state = initial_state
        outputs: list[Any] = []
        contexts = attend(initial_state) if initial_state_attention else None
        if contexts is None:
            contexts = attend.nothing(tf.shape(decoder_inputs[0])[0])
        for step, plain in enumerate(decoder_inputs):
            step_input = plain
            if step:
                _v1.get_variable_scope().reuse_variables()
            if loop_function is not None and step:
                with _v1.variable_scope("loop_function", reuse=True):
                    step_input = loop_function(outputs[-1], step)
            width = step_input.shape.with_rank(2).as_list()[1]
            if width is None:
                raise ValueError(f"Could not infer input size from input: {step_input.name}.")
            mixed = linear([tf.cast(part, used.dtype) for part in [step_input, *contexts]], width)
            output, state = cell(mixed, state)
            reuse = True if not step and initial_state_attention else None
            with _v1.variable_scope(_v1.get_variable_scope(), reuse=reuse):
                contexts = attend(state)
            with _v1.variable_scope("AttnOutputProjection"):
                outputs.append(linear([tf.cast(output, used.dtype), *contexts], size))
    return outputs, state


class _Attention:
    """Attention heads over fixed states.

    Args:
      states: [batch, length, size].
      heads: the number of heads.
      dtype: the type of variables.
    """

    def __init__(self, states: Any, heads: int, dtype: Any):
        length, self._size = states.shape.as_list()[1:]
        self._length = tf.shape(states)[1] if length is None else length
        self._dtype = dtype
        self._states = tf.reshape(states, [-1, self._length, 1, self._size])
        self._heads = []
        for head in range(heads):
            shape = [1, 1, self._size, self._size]
            kernel = _v1.get_variable(f"AttnW_{head}", shape, dtype)
            keys = tf.nn.conv2d(self._states, kernel, [1, 1, 1, 1], "SAME")
            self._heads.append((keys, _v1.get_variable(f"AttnV_{head}", [self._size], dtype)))

    def nothing(self, batch_size: Any) -> list[tf.Tensor]:
        """Returns what the heads find before the first step: zeros."""
        zeros = [tf.zeros([batch_size, self._size], self._dtype) for _ in self._heads]
        for each in zeros:
            each.set_shape([None, self._size])
        return zeros

    def __call__(self, query: Any) -> list[tf.Tensor]:
        """Returns for each head the weighted mean of the states: [batch, size]."""
        if tf.nest.is_nested(query):
            query = tf.concat(tf.nest.flatten(query), 1)
        means = []
        for number, (keys, vector) in enumerate(self._heads):
            with _v1.variable_scope(f"Attention_{number}"):
                features = tf.reshape(linear(query, self._size), [-1, 1, 1, self._size])
                features = tf.cast(features, self._dtype)
                scores = tf.reduce_sum(vector * tf.tanh(keys + features), [2, 3])
                weights = tf.cast(tf.nn.softmax(tf.cast(scores, tf.float32)), self._dtype)
                weights = tf.reshape(weights, [-1, self._length, 1, 1])
                mean = tf.reduce_sum(weights * self._states, [1, 2])
                means.append(tf.reshape(mean, [-1, self._size]))
        return means


def embedding_attention_decoder(
    decoder_inputs: list[Any],
    initial_state: Any,
    attention_states: Any,
    cell: Any,
    num_symbols: int,
    embedding_size: int,
    num_heads: int = 1,
    output_size: int | None = None,
    output_projection: Any = None,
    feed_previous: bool = False,
    update_embedding_for_previous: bool = True,
    dtype: Any = None,
    scope: Any = None,
    initial_state_attention: bool = False,
) -> tuple[list[Any], Any]:
    """Runs a cell that attends to states over symbols.

    For its arguments, see ``attention_decoder`` and ``embedding_rnn_decoder``. The default scope is
    "embedding_attention_decoder".

    Returns:
      The outputs by step, and the last state.

    Raises:
      ValueError: see ``attention_decoder``; or output_projection does not fit num_symbols.
    """
    size = cell.output_size if output_size is None else output_size
    if output_projection is not None:
        biases = tf.convert_to_tensor(output_projection[1], dtype)
        biases.shape.assert_is_compatible_with([num_symbols])
    with _v1.variable_scope(scope or "embedding_attention_decoder", dtype=dtype):
        embedding = _v1.get_variable("embedding", [num_symbols, embedding_size])
        loop = None
        if feed_previous:
            loop = fed_back(embedding, output_projection, update_embedding_for_previous)
        inputs = [tf.nn.embedding_lookup(embedding, symbols) for symbols in decoder_inputs]
        return attention_decoder(
            inputs,
            initial_state,
            attention_states,
            cell,
            output_size=size,
            num_heads=num_heads,
            loop_function=loop,
            initial_state_attention=initial_state_attention,
        )


def check_projection(projection: Any, symbols: int, dtype: Any) -> None:
    """Checks the shapes of an output projection.

    Raises:
      ValueError: they do not fit the number of symbols.
    """
    if projection is not None:
        weights, biases = (tf.convert_to_tensor(part, dtype) for part in projection)
        weights.shape.assert_is_compatible_with([None, symbols])
        biases.shape.assert_is_compatible_with([symbols])
