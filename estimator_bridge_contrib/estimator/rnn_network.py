"""The logits of a recurrent network of ``tf.nn.rnn_cell`` cells on feature columns."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import tensorflow as tf

from estimator_bridge_contrib.feature_column import sequence_input_layer

__all__ = ["USE_DEFAULT", "CellFn", "check_cells", "make_rnn_cell_fn", "rnn_logit_fn_builder"]

_v1 = tf.compat.v1
_CELLS = {"basic_rnn": "BasicRNNCell", "lstm": "BasicLSTMCell", "gru": "GRUCell"}
_BASIC = "basic_rnn"

# The cell_type if none was given.
USE_DEFAULT = object()

# Takes the mode, returns a cell.
CellFn = Callable[[str], Any]


def check_cells(rnn_cell_fn: CellFn | None, num_units: Any, cell_type: Any) -> CellFn:
    """Returns the function that makes the cells.

    Args:
      rnn_cell_fn: the program's own; or None.
      num_units: the width of each layer's cell.
      cell_type: see `make_rnn_cell_fn`; or USE_DEFAULT.

    Raises:
      ValueError: cells are described in two ways.
    """
    if rnn_cell_fn is None:
        kind = _BASIC if cell_type is USE_DEFAULT else cell_type
        return make_rnn_cell_fn(num_units, kind)
    if num_units or cell_type is not USE_DEFAULT:
        raise ValueError(
            "num_units and cell_type must not be specified when using rnn_cell_fn. Got num_units="
            f"{num_units!r}: leave rnn_cell_fn out, or make the cells of these widths in it."
        )
    return rnn_cell_fn


def make_rnn_cell_fn(num_units: Iterable[int] | None, cell_type: Any = _BASIC) -> CellFn:
    """Returns a function that makes stacked cells, one a layer.

    Args:
      num_units: the width of each layer's cell.
      cell_type: 'basic_rnn', 'lstm', 'gru', or a subclass of ``tf.nn.rnn_cell.RNNCell``.

    Returns:
      A function of the mode, which it ignores. It raises a ValueError if cell_type is none of
      these, and a TypeError if num_units is not iterable.
    """

    def rnn_cell_fn(mode: str) -> Any:
        del mode
        if num_units is None:
            raise TypeError(
                "'NoneType' object is not iterable: num_units is None. Give the width of each "
                "layer, such as num_units=[32, 16], or an rnn_cell_fn."
            )
        cells = [_cell_class(cell_type)(num_units=width) for width in num_units]
        return cells[0] if len(cells) == 1 else _v1.nn.rnn_cell.MultiRNNCell(cells)

    return rnn_cell_fn


def _cell_class(cell_type: Any) -> Any:
    cells = _v1.nn.rnn_cell
    if isinstance(cell_type, str) and cell_type in _CELLS:
        return getattr(cells, _CELLS[cell_type])
    if isinstance(cell_type, type) and issubclass(cell_type, cells.RNNCell):
        return cell_type
    described = f"Supported cell types are {list(_CELLS)}; got {cell_type}"
    if cell_type and not isinstance(cell_type, type):  # what issubclass raised
        raise TypeError(f"issubclass() arg 1 must be a class. {described}.")
    raise ValueError(described)


def rnn_logit_fn_builder(
    output_units: int,
    rnn_cell_fn: CellFn,
    sequence_feature_columns: Sequence[Any],
    context_feature_columns: Sequence[Any],
    input_layer_partitioner: Any,
    return_sequences: bool = False,
) -> Callable[..., tuple[tf.Tensor, tf.Tensor]]:
    """Returns a function that computes the logits in the current variable scope.

    Args:
      output_units: the number of logits.
      rnn_cell_fn: takes the mode, returns the cell.
      sequence_feature_columns: columns of sequences, the inputs of each step.
      context_feature_columns: dense columns without steps, inputs of every step; may be empty.
      input_layer_partitioner: the partitioner of the columns' variables.
      return_sequences: whether each step has logits, and not only the last one.

    Returns:
      A function of features and mode. It returns the logits, ``[batch, output_units]`` or
      ``[batch, steps, output_units]``, and the mask of the steps, ``[batch, steps]``.

    Raises:
      ValueError: output_units is not an int.
    """
    if not isinstance(output_units, int):
        raise ValueError(f"output_units must be an int.  Given type: {type(output_units)}")

    def rnn_logit_fn(features: dict[str, Any], mode: str) -> tuple[tf.Tensor, tf.Tensor]:
        scope = _v1.variable_scope(
            "sequence_input_layer",
            values=tuple(features.values()),
            partitioner=input_layer_partitioner,
        )
        with scope:
            steps, lengths = sequence_input_layer(features, sequence_feature_columns)
            _v1.summary.histogram("sequence_length", lengths)
            if context_feature_columns:
                context = _v1.feature_column.input_layer(features, context_feature_columns)
                steps = _with_context(steps, context)
        outputs, _ = _v1.nn.dynamic_rnn(
            rnn_cell_fn(mode), steps, lengths, dtype=tf.float32, time_major=False
        )
        if not return_sequences:
            outputs = _last_steps(outputs, lengths)
        with _v1.variable_scope("logits", values=(outputs,)):
            glorot = _v1.glorot_uniform_initializer()
            logits = _v1.layers.dense(outputs, output_units, kernel_initializer=glorot)
        return logits, tf.sequence_mask(lengths)

    return rnn_logit_fn


def _with_context(steps: tf.Tensor, context: tf.Tensor) -> tf.Tensor:
    """Appends the context ``[batch, more]`` to each step of ``[batch, steps, depth]``.

    Raises:
      ValueError: one of them has another rank.
      TypeError: one of them is not of float32.
    """
    checks = []
    for name, tensor, rank in (("sequence_input", steps, 3), ("context_input", context, 2)):
        shape = [tf.shape(tensor)]
        checks.append(
            _v1.assert_rank(tensor, rank, data=shape, message=f"{name} must have rank {rank}")
        )
        message = f"{name} must have dtype float32; got {tensor.dtype}."
        checks.append(_v1.assert_type(tensor, tf.float32, message=message))
    with tf.control_dependencies(checks):
        length = tf.shape(steps)[1]
        times = tf.concat([[1], [length], [1]], 0)
        repeated = tf.tile(tf.expand_dims(context, 1), times)
    return tf.concat([steps, repeated], 2)


def _last_steps(outputs: tf.Tensor, lengths: tf.Tensor) -> tf.Tensor:
    """Returns the outputs ``[batch, units]`` of the last step of each sequence."""
    with tf.name_scope("select_last_activations"):
        shape = tf.shape(outputs)
        batch, padded, units = shape[0], shape[1], shape[2]
        starts = tf.cast(tf.range(batch) * padded, tf.int64)
        rows = tf.reshape(outputs, [batch * padded, units])
        last = tf.gather(rows, starts + lengths - 1)
        last.set_shape([outputs.shape[0], outputs.shape[2]])
        return last
