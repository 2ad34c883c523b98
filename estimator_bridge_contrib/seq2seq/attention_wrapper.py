"""A cell with attention to memories."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable, Iterable
from typing import Any

import tensorflow as tf

from estimator_bridge_contrib.rnn.base import RNNCell, check_cell
from estimator_bridge_contrib.seq2seq.attention import bahdanau_scores, luong_scores
from estimator_bridge_contrib.seq2seq.attention_memory import (
    AttentionMechanism,
    Memory,
    mask_memory,
    mask_scores,
)
from estimator_bridge_contrib.seq2seq.decoder import size_of, zeros_of
from estimator_bridge_contrib.seq2seq.monotonic_mechanisms import (
    MonotonicMemory,
    monotonic_probabilities,
)

__all__ = [
    "AttentionWrapper",
    "AttentionWrapperState",
    "_BaseAttentionMechanism",
    "_BaseMonotonicAttentionMechanism",
    "_bahdanau_score",
    "_compute_attention",
    "_luong_score",
    "_maybe_mask_score",
    "_monotonic_probability_fn",
    "_prepare_memory",
    "_zero_state_tensors",
]

v1 = tf.compat.v1

_TILE = (
    "Are you using the BeamSearchDecoder?  If so, tile the encoder's outputs and states with "
    "tf.contrib.seq2seq.tile_batch, multiple=beam_width, and give zero_state the batch size times "
    "beam_width."
)


class AttentionWrapperState(
    namedtuple(
        "AttentionWrapperState",
        ("cell_state", "attention", "time", "alignments", "alignment_history", "attention_state"),
    )
):
    """The state of an ``AttentionWrapper``.

    Attributes:
      cell_state: the cell's state.
      attention: [batch, size], the last attention.
      time: the number of steps so far.
      alignments: [batch, time of the memory], the last weights; a tuple for several mechanisms.
      alignment_history: a TensorArray of all weights so far; () if they are not kept.
      attention_state: the mechanism's state; a tuple for several.
    """

    __slots__ = ()

    def clone(self, **kwargs: Any) -> AttentionWrapperState:
        """Returns the state with some parts replaced: ``state.clone(cell_state=encoder_state)``.

        Args:
          **kwargs: the new parts.

        Raises:
          ValueError: a part has a different shape.
        """
        return tf.nest.map_structure(_like, self, self._replace(**kwargs))


def _like(old: Any, new: Any) -> Any:
    if not (tf.is_tensor(old) and tf.is_tensor(new)):
        return new
    if not old.shape.is_compatible_with(new.shape):
        raise ValueError(
            "The shape of the AttentionWrapperState is expected to be same as the one to clone. "
            f"self.shape: {old.shape}, input.shape: {new.shape}"
        )
    return tf.ensure_shape(new, old.shape)


class AttentionWrapper(RNNCell):
    """Feeds a cell its last attention with the inputs, and attends with its output.

    Args:
      cell: the cell.
      attention_mechanism: an AttentionMechanism, or a list of several.
      attention_layer_size: the size of a linear layer over the cell's output and the context,
        whose result is the attention; a list for several mechanisms. None for no such layer.
      alignment_history: whether to keep the weights of all steps.
      cell_input_fn: a function of inputs and attention, which returns the cell's inputs; by
        default it concatenates them.
      output_attention: whether the output is the attention (Luong), or the cell's (Bahdanau).
      initial_cell_state: the cell's initial state; zeros by default.
      name: the cell's scope; ``attention_wrapper`` by default.
      attention_layer: layers to use instead of those of attention_layer_size.
      attention_fn: a function of (mechanism, cell output, mechanism's state, layer) that returns
        (attention, weights, next state of the mechanism), instead of the default one.
      dtype: the type of the cell.

    Raises:
      TypeError: an argument is not a mechanism, or cell_input_fn is not a function.
      ValueError: the numbers of layers and mechanisms differ, or layers are given in both ways.
    """

    def __init__(
        self,
        cell: Any,
        attention_mechanism: Any,
        attention_layer_size: Any = None,
        alignment_history: bool = False,
        cell_input_fn: Callable[[Any, Any], Any] | None = None,
        output_attention: bool = True,
        initial_cell_state: Any = None,
        name: str | None = None,
        attention_layer: Any = None,
        attention_fn: Callable[..., Any] | None = None,
        dtype: Any = None,
    ):
        super().__init__(name=name, dtype=dtype)
        check_cell(cell)
        self._is_multi = isinstance(attention_mechanism, (list, tuple))
        self._attention_mechanisms = _listed(attention_mechanism)
        for mechanism in self._attention_mechanisms:
            if not isinstance(mechanism, AttentionMechanism):
                raise TypeError(
                    "attention_mechanism must be an AttentionMechanism or list of multiple "
                    f"AttentionMechanism instances, saw type: {type(mechanism).__name__}"
                )
        if cell_input_fn is not None and not callable(cell_input_fn):
            raise TypeError(f"cell_input_fn must be callable, saw: {cell_input_fn!r}")
        self._cell = cell
        self._cell_input_fn = cell_input_fn or _side_by_side
        self._output_attention = output_attention
        self._alignment_history = alignment_history
        self._attention_fn = attention_fn or _attend
        self._attention_layers, self._attention_layer_size = self._made_layers(
            attention_layer_size, attention_layer
        )
        self._initial_cell_state = None
        if initial_cell_state is not None:
            sizes = tf.nest.flatten(initial_cell_state)[-1]
            self._initial_cell_state = self._checked(
                f"When constructing AttentionWrapper {self.name}: Non-matching batch sizes between "
                "the memory (encoder output) and initial_cell_state.",
                size_of(sizes, 0),
                initial_cell_state,
            )

    @property
    def output_size(self) -> Any:
        """The size of the attention, or of the cell's output."""
        return self._attention_layer_size if self._output_attention else self._cell.output_size

    @property
    def state_size(self) -> Any:
        """The sizes of the parts of the state."""
        history = [
            each.alignments_size if self._alignment_history else ()
            for each in self._attention_mechanisms
        ]
        return AttentionWrapperState(
            cell_state=self._cell.state_size,
            time=tf.TensorShape([]),
            attention=self._attention_layer_size,
            alignments=self._item_or_tuple(
                each.alignments_size for each in self._attention_mechanisms
            ),
            attention_state=self._item_or_tuple(
                each.state_size for each in self._attention_mechanisms
            ),
            alignment_history=self._item_or_tuple(history),
        )

    def zero_state(self, batch_size: Any, dtype: Any) -> AttentionWrapperState:
        """Returns the state before the first step.

        Args:
          batch_size: the number of sequences.
          dtype: the state's type.
        """
        with v1.name_scope(f"{type(self).__name__}ZeroState", values=[batch_size]):
            cell_state = self._initial_cell_state
            if cell_state is None:
                cell_state = self._cell.zero_state(batch_size, dtype)
            cell_state = self._checked(
                f"When calling zero_state of AttentionWrapper {self.name}: Non-matching batch "
                "sizes between the memory (encoder output) and the requested batch size.",
                batch_size,
                cell_state,
            )
            weights = [
                each.initial_alignments(batch_size, dtype) for each in self._attention_mechanisms
            ]
            states = [each.initial_state(batch_size, dtype) for each in self._attention_mechanisms]
            history = [
                tf.TensorArray(dtype, size=0, dynamic_size=True, element_shape=each.shape)
                if self._alignment_history
                else ()
                for each in weights
            ]
            return AttentionWrapperState(
                cell_state=cell_state,
                time=tf.zeros([], tf.int32),
                attention=zeros_of(self._attention_layer_size, batch_size, dtype),
                alignments=self._item_or_tuple(weights),
                attention_state=self._item_or_tuple(states),
                alignment_history=self._item_or_tuple(history),
            )

    def call(self, inputs: Any, state: Any) -> Any:
        """Returns the step's output and the new state."""
        if not isinstance(state, AttentionWrapperState):
            raise TypeError(
                "Expected state to be instance of AttentionWrapperState. Received type "
                f"{type(state)} instead. Start with wrapper.zero_state(batch_size, dtype)."
            )
        output, cell_state = self._cell(
            self._cell_input_fn(inputs, state.attention), state.cell_state
        )
        output = self._checked(
            f"When applying AttentionWrapper {self.name}: Non-matching batch sizes between the "
            "memory (encoder output) and the query (decoder output).",
            size_of(output, 0),
            output,
        )
        states, histories = state.attention_state, state.alignment_history
        if not self._is_multi:
            states, histories = (states,), (histories,)
        attentions, all_weights, new_states, new_histories = [], [], [], []
        for i, mechanism in enumerate(self._attention_mechanisms):
            layer = self._attention_layers[i] if self._attention_layers else None
            attention, weights, new_state = self._attention_fn(mechanism, output, states[i], layer)
            attentions.append(attention)
            all_weights.append(weights)
            new_states.append(new_state)
            history = histories[i].write(state.time, weights) if self._alignment_history else ()
            new_histories.append(history)
        attention = tf.concat(attentions, 1)
        new = AttentionWrapperState(
            cell_state=cell_state,
            attention=attention,
            time=state.time + 1,
            alignments=self._item_or_tuple(all_weights),
            alignment_history=self._item_or_tuple(new_histories),
            attention_state=self._item_or_tuple(new_states),
        )
        return (attention if self._output_attention else output), new

    def _made_layers(self, sizes: Any, layers: Any) -> tuple[Any, int]:
        values = [each.values.shape.as_list()[-1] for each in self._attention_mechanisms]
        if sizes is not None and layers is not None:
            raise ValueError("Only one of attention_layer_size and attention_layer should be set")
        if sizes is None and layers is None:
            return None, sum(values)
        name = "attention_layer" if sizes is None else "attention_layer_size"
        entries = _listed(layers if sizes is None else sizes)
        if len(entries) != len(self._attention_mechanisms):
            raise ValueError(
                f"If provided, {name} must contain exactly one entry per attention_mechanism, saw: "
                f"{len(entries)} vs {len(self._attention_mechanisms)}"
            )
        if sizes is None:
            shapes = [tf.TensorShape([None, self._cell.output_size + size]) for size in values]
            outputs = [
                int(layer.compute_output_shape(shape)[-1]) for layer, shape in zip(entries, shapes)
            ]
            return entries, sum(outputs)
        dense_layers = tuple(
            v1.layers.Dense(size, name="attention_layer", use_bias=False, dtype=mechanism.dtype)
            for size, mechanism in zip(entries, self._attention_mechanisms)
        )
        return dense_layers, sum(entries)

    def _item_or_tuple(self, values: Iterable[Any]) -> Any:
        entries = tuple(values)
        return entries if self._is_multi else entries[0]

    def _batch_size_checks(self, batch_size: Any, error_message: str) -> list[Any]:
        checks = [
            v1.assert_equal(batch_size, each.batch_size, message=error_message)
            for each in self._attention_mechanisms
            if hasattr(each, "batch_size")
        ]
        return [check for check in checks if check is not None]

    def _checked(self, problem: str, batch_size: Any, values: Any) -> Any:
        with tf.control_dependencies(self._batch_size_checks(batch_size, f"{problem}  {_TILE}")):
            return tf.nest.map_structure(
                lambda each: tf.identity(each, "checked_cell_output"), values
            )


def _listed(value: Any) -> tuple[Any, ...]:
    return tuple(value) if isinstance(value, (list, tuple)) else (value,)


def _side_by_side(inputs: Any, attention: Any) -> tf.Tensor:
    return tf.concat([inputs, attention], -1)


def _attend(mechanism: Any, output: Any, state: Any, layer: Any) -> Any:
    """Returns the attention, the weights, and the mechanism's next state."""
    weights, next_state = mechanism(output, state=state)
    context = tf.matmul(weights[:, None], mechanism.values)[:, 0]
    attention = context if layer is None else layer(tf.concat([output, context], 1))
    return attention, weights, next_state


def _zeros_of_all(state_size: Any, batch_size: Any, dtype: Any) -> Any:
    """Returns zeros [batch, *size] for each size of a structure."""
    return tf.nest.map_structure(lambda size: zeros_of(size, batch_size, dtype), state_size)


# Private names of TF1's file that programs import to write their own mechanisms and wrappers.
_BaseAttentionMechanism = Memory
_BaseMonotonicAttentionMechanism = MonotonicMemory
_bahdanau_score = bahdanau_scores
_compute_attention = _attend
_luong_score = luong_scores
_maybe_mask_score = mask_scores
_monotonic_probability_fn = monotonic_probabilities
_prepare_memory = mask_memory
_zero_state_tensors = _zeros_of_all
