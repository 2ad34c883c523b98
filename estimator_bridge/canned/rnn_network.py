"""An RNN's logits: recurrent layers on sequence feature columns."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from typing import Any

import tensorflow as tf

from estimator_bridge.tensorflow_private.keras import set_keras_mask

__all__ = ["CELL_TYPES", "USE_DEFAULT", "check_cells", "rnn_layer", "rnn_model_class"]

# The cell_type if none was given.
USE_DEFAULT = object()
_SIMPLE = "simple_rnn"
# By cell_type: the classes of the layer and the cell in tf_keras.layers.
CELL_TYPES = {
    _SIMPLE: ("SimpleRNN", "SimpleRNNCell"),
    "lstm": ("LSTM", "LSTMCell"),
    "gru": ("GRU", "GRUCell"),
}


def check_cells(rnn_cell_fn: Any, units: Any, cell_type: Any) -> None:
    """Checks that cells are described in one way.

    Raises:
      ValueError: they are described in two ways.
    """
    if rnn_cell_fn and (units or cell_type is not USE_DEFAULT):
        raise ValueError(
            "units and cell_type must not be specified when using rnn_cell_fn. Got units="
            f"{units!r}: leave rnn_cell_fn out, or make the cells of these widths in it."
        )


def rnn_layer(
    rnn_cell_fn: Callable[[], Any] | None,
    units: int | Iterable[int] | None,
    cell_type: Any,
    return_sequences: bool,
) -> Any:
    """Returns the recurrent layer.

    Args:
      rnn_cell_fn: returns a cell or a list of stacked cells; or None.
      units: the width of each cell; an int selects a layer of Keras, such as LSTM.
      cell_type: one of CELL_TYPES, a function of units that returns a cell, or USE_DEFAULT.
      return_sequences: whether each step has an output, and not only the last one.

    Raises:
      ValueError: cells are described in two ways, or cell_type does not yield a cell.
    """
    from tf_keras import layers

    check_cells(rnn_cell_fn, units, cell_type)
    if isinstance(cell_type, str) and cell_type in CELL_TYPES and isinstance(units, int):
        kind = getattr(layers, CELL_TYPES[cell_type][0])
        return kind(units=units, return_sequences=return_sequences)
    if rnn_cell_fn:
        return layers.RNN(cell=rnn_cell_fn(), return_sequences=return_sequences)
    kind = _SIMPLE if cell_type is USE_DEFAULT else cell_type
    if units is None or isinstance(units, int):
        raise ValueError(
            f"units must be a list of the RNN cells' widths, such as units=[32, 16]; got "
            f"{units!r}. An int makes one layer, with a cell_type of {sorted(CELL_TYPES)}."
        )
    cells = [_cell(width, kind) for width in units]
    cell = cells[0] if len(cells) == 1 else cells
    return layers.RNN(cell=cell, return_sequences=return_sequences)


def _cell(units: int, cell_type: Any) -> Any:
    from tf_keras import layers

    if isinstance(cell_type, str) and cell_type in CELL_TYPES:
        cell_type = getattr(layers, CELL_TYPES[cell_type][1])
    if not callable(cell_type):
        raise ValueError(
            "`cell_type` should be a class producing a RNN cell, or a string specifying the cell "
            f"type. Supported strings are: {list(CELL_TYPES)}. Got: {cell_type!r}."
        )
    cell = cell_type(units=units)
    if not hasattr(cell, "call") or not hasattr(cell, "state_size"):
        raise ValueError(
            "RNN cell should have a `call` and `state_size` method. Got a "
            f"{type(cell).__name__} of cell_type={cell_type!r}."
        )
    return cell


@functools.cache
def rnn_model_class() -> type:
    """Returns the class of the networks, created on first use: tf_keras is slow to import.

    It is a Keras model because its variables have the names of a Keras model's layers.
    """
    import tf_keras

    class RNNModel(tf_keras.Model):
        """Computes logits of sequences, for each step or the last one.

        Args:
          rnn_layer: a Keras layer with inputs [batch, steps, depth] and a mask.
          units: the number of logits.
          sequence_feature_columns: sequence columns, or dense columns made of them.
          context_feature_columns: dense columns without steps, inputs of every step; or None.
          activation: the activation of the logits.
          return_sequences: whether each step has logits.
          **kwargs: see ``tf_keras.Model``.
        """

        def __init__(
            self,
            rnn_layer: Any,
            units: int,
            sequence_feature_columns: Any,
            context_feature_columns: Any = None,
            activation: Any = None,
            return_sequences: bool = False,
            **kwargs: Any,
        ):
            super().__init__(**kwargs)
            if not isinstance(units, int):
                raise ValueError(f"units must be an int.  Given type: {type(units)}: {units!r}.")
            self._return_sequences = return_sequences
            self._sequence_features_layer = tf_keras.experimental.SequenceFeatures(
                sequence_feature_columns
            )
            self._dense_features_layer = None
            if context_feature_columns:
                features = tf.compat.v1.keras.layers.DenseFeatures
                self._dense_features_layer = features(context_feature_columns)
            self._rnn_layer = rnn_layer
            self._logits_layer = tf_keras.layers.Dense(units, activation=activation, name="logits")

        def call(self, inputs: Any, training: bool | None = None) -> tf.Tensor:
            """Computes the logits from features by key."""
            if not isinstance(inputs, dict):
                raise ValueError(
                    f"inputs should be a dictionary of `Tensor`s. Given type: {type(inputs)}. "
                    "Return ({'key': feature}, labels) from input_fn."
                )
            with tf.name_scope("sequence_input_layer"):
                sequence, lengths = self._sequence_features_layer(inputs, training=training)
                tf.compat.v1.summary.histogram("sequence_length", lengths)
                if self._dense_features_layer is not None:
                    context = self._dense_features_layer(inputs, training=training)
                    sequence = _with_context(sequence, context)
            # A core's part of the batch may have no sequence of the padded length.
            steps = tf.compat.dimension_value(sequence.shape[1])
            mask = tf.sequence_mask(lengths, tf.shape(sequence)[1] if steps is None else steps)
            # With a known batch size, Keras's loop would otherwise see another shape after a step.
            mask.set_shape([sequence.shape[0], steps])
            logits = self._logits_layer(self._rnn_layer(sequence, mask=mask, training=training))
            if self._return_sequences:
                set_keras_mask(logits, mask)
            return logits

    return RNNModel


def _with_context(sequence: tf.Tensor, context: tf.Tensor) -> tf.Tensor:
    """Appends the context, [batch, depth], to each step of sequences [batch, steps, depth]."""
    context_of_steps = tf.tile(context[:, tf.newaxis], [1, tf.shape(sequence)[1], 1])
    return tf.concat([sequence, context_of_steps], 2)
