"""``tensorflow.contrib.rnn.python.ops.lstm_ops``: TensorFlow's kernel for an LSTM's sequence."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tensorflow as tf

__all__: list[str] = []


def _block_lstm(
    seq_len_max: Any,
    x: Sequence[Any],
    w: Any,
    b: Any,
    cs_prev: Any = None,
    h_prev: Any = None,
    wci: Any = None,
    wcf: Any = None,
    wco: Any = None,
    forget_bias: float | None = None,
    cell_clip: float | None = None,
    use_peephole: bool | None = None,
    name: str | None = None,
) -> list[list[tf.Tensor]]:
    """Runs an LSTM over a sequence with the operation BlockLSTM, for CPUs and GPUs.

    Args:
      seq_len_max: the number of steps to compute.
      x: a list of [batch, size], one a step.
      w: [size + units, 4 * units], with the gates in the order input, new, forget, output.
      b: [4 * units].
      cs_prev: [batch, units], the memory before the first step; zeros by default.
      h_prev: [batch, units], the output before the first step; zeros by default.
      wci: [units], how the input gate reads the memory.
      wcf: [units], how the forget gate reads the memory.
      wco: [units], how the output gate reads the memory.
      forget_bias: added to the forget gate; 1 by default.
      cell_clip: the limit of the memory; none by default.
      use_peephole: whether the gates read the memory.
      name: the operation's name.

    Returns:
      Lists, one tensor a step, of the input gate, the memory, the forget gate, the output gate, the
      new values, the memory's tanh and the output.
    """
    sequence = tf.stack(list(x))
    units = b.shape.with_rank(1).as_list()[0] // 4
    state = tf.zeros([tf.shape(sequence)[1], units], sequence.dtype)
    diagonal = tf.zeros([units], sequence.dtype)
    computed = tf.raw_ops.BlockLSTM(
        seq_len_max=seq_len_max,
        x=sequence,
        cs_prev=state if cs_prev is None else cs_prev,
        h_prev=state if h_prev is None else h_prev,
        w=tf.convert_to_tensor(w),
        wci=diagonal if wci is None else tf.convert_to_tensor(wci),
        wcf=diagonal if wcf is None else tf.convert_to_tensor(wcf),
        wco=diagonal if wco is None else tf.convert_to_tensor(wco),
        b=tf.convert_to_tensor(b),
        forget_bias=1.0 if forget_bias is None else forget_bias,
        cell_clip=-1.0 if cell_clip is None else cell_clip,
        use_peephole=bool(use_peephole),
        name=name,
    )
    return [tf.unstack(each, len(x)) for each in computed]
