"""LSTMs over sequences, whose tensors have the shape [length, batch, depth]."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from estimator_bridge_contrib.model_variables import model_variable

__all__ = [
    "ndlstm_base",
    "ndlstm_base_dynamic",
    "ndlstm_base_unrolled",
    "sequence_softmax",
    "sequence_to_final",
]

_v1 = tf.compat.v1


def ndlstm_base_unrolled(
    inputs: tf.Tensor, noutput: int, scope: Any = None, reverse: bool = False
) -> tf.Tensor:
    """Runs an LSTM with operations of its own for each step.

    Args:
      inputs: a sequence of known shape [length, batch, depth].
      noutput: the depth of the output.
      scope: the variables' scope.
      reverse: whether to begin at the end.

    Returns:
      The outputs of all steps, of shape [length, batch, noutput].
    """
    with _v1.variable_scope(scope, "SeqLstmUnrolled", [inputs]):
        outputs = _steps(inputs, noutput, reverse)
        return tf.stack(outputs[::-1] if reverse else outputs)


def ndlstm_base_dynamic(
    inputs: tf.Tensor, noutput: int, scope: Any = None, reverse: bool = False
) -> tf.Tensor:
    """Runs an LSTM in a loop, so lengths and batches may be of unknown size.

    Args:
      inputs: a sequence of shape [length, batch, depth].
      noutput: the depth of the output.
      scope: the variables' scope.
      reverse: whether to begin at the end.

    Returns:
      The outputs of all steps, of shape [length, batch, noutput].
    """
    with _v1.variable_scope(scope, "SeqLstm", [inputs]):
        cell = _v1.nn.rnn_cell.BasicLSTMCell(noutput)
        steps = tf.reverse(inputs, [0]) if reverse else inputs
        outputs, _ = _v1.nn.dynamic_rnn(cell, steps, time_major=True, dtype=inputs.dtype)
        return tf.reverse(outputs, [0]) if reverse else outputs


def ndlstm_base(
    inputs: tf.Tensor,
    noutput: int,
    scope: Any = None,
    reverse: bool = False,
    dynamic: bool = True,
) -> tf.Tensor:
    """Runs an LSTM over a sequence.

    Args:
      inputs: a sequence of shape [length, batch, depth].
      noutput: the depth of the output.
      scope: the variables' scope.
      reverse: whether to begin at the end.
      dynamic: whether to use a loop; see `ndlstm_base_dynamic` and `ndlstm_base_unrolled`.

    Returns:
      The outputs of all steps, of shape [length, batch, noutput].
    """
    run = ndlstm_base_dynamic if dynamic else ndlstm_base_unrolled
    return run(inputs, noutput, scope=scope, reverse=reverse)


def sequence_to_final(
    inputs: tf.Tensor,
    noutput: int,
    scope: Any = None,
    name: str | None = None,
    reverse: bool = False,
) -> tf.Tensor:
    """Runs an LSTM over a sequence and returns its last output.

    Args:
      inputs: a sequence of known shape [length, batch, depth].
      noutput: the depth of the output.
      scope: the variables' scope.
      name: the name of the returned tensor.
      reverse: whether to begin at the end.

    Returns:
      The output of the last step, of shape [batch, noutput].
    """
    with _v1.variable_scope(scope, "SequenceToFinal", [inputs]):
        last = _steps(inputs, noutput, reverse)[-1]
        return tf.reshape(last, [inputs.shape[1], noutput], name=name)


def sequence_softmax(
    inputs: tf.Tensor,
    noutput: int,
    scope: Any = None,
    name: str | None = None,
    linear_name: str | None = None,
) -> tf.Tensor:
    """Classifies each step of a sequence, with the same weights.

    Args:
      inputs: a sequence of known shape [length, batch, depth].
      noutput: the number of classes.
      scope: the variables' scope.
      name: the name of the returned tensor.
      linear_name: the name of each step's logits.

    Returns:
      Probabilities, of shape [length, batch, noutput].
    """
    steps = tf.unstack(inputs)
    outputs = []
    with _v1.variable_scope(scope, "SequenceSoftmax", [inputs]):
        start = _v1.truncated_normal([inputs.shape.as_list()[2], noutput], stddev=0.1)
        weights = model_variable("weights", initializer=start)
        biases = model_variable("biases", initializer=tf.constant(0.1, shape=[noutput]))
        for step in steps:
            with _v1.variable_scope(scope, "SequenceSoftmaxStep", [step]):
                logits = _v1.nn.xw_plus_b(step, weights, biases, name=linear_name)
                outputs.append(tf.nn.softmax(logits))
        return tf.stack(outputs, name=name)


def _steps(inputs: tf.Tensor, noutput: int, reverse: bool) -> list[tf.Tensor]:
    """Returns the outputs of the steps of an unrolled LSTM, in the order in which they ran."""
    cell = _v1.nn.rnn_cell.BasicLSTMCell(noutput, state_is_tuple=False)
    state = tf.zeros([inputs.shape[1], cell.state_size])
    steps = tf.unstack(inputs)
    outputs = []
    for number, step in enumerate(steps[::-1] if reverse else steps):
        if number:
            _v1.get_variable_scope().reuse_variables()
        output, state = cell(step, state)
        outputs.append(output)
    return outputs
