"""Attention over a memory, with the scores of Luong and of Bahdanau."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import tensorflow as tf

from estimator_bridge_contrib.seq2seq.attention_memory import Memory, dense
from estimator_bridge_contrib.seq2seq.decoder import size_of

__all__ = [
    "BahdanauAttention",
    "LuongAttention",
    "bahdanau_scores",
    "hardmax",
    "hidden_layer_of",
    "luong_scores",
    "scale_of",
]

v1 = tf.compat.v1


class LuongAttention(Memory):
    """Scores by the product of query and key (https://arxiv.org/abs/1508.04025).

    Args:
      num_units: the keys' size, which must be the queries'.
      memory: [batch, time, size].
      memory_sequence_length: [batch], the lengths; entries beyond have no weight.
      scale: whether to multiply scores by the variable ``attention_g``.
      probability_fn: a function of scores, which returns weights; softmax by default.
      score_mask_value: the score of entries beyond the length; minus infinity by default.
      dtype: the type of the layers' variables; float32 by default.
      custom_key_value_fn: a function of keys and values that replaces them.
      name: the operations' name.
    """

    def __init__(
        self,
        num_units: int,
        memory: Any,
        memory_sequence_length: Any = None,
        scale: bool = False,
        probability_fn: Callable[[Any], Any] | None = None,
        score_mask_value: Any = None,
        dtype: Any = None,
        custom_key_value_fn: Callable[[Any, Any], Any] | None = None,
        name: str = "LuongAttention",
    ):
        super().__init__(
            memory=memory,
            memory_layer=dense(num_units, "memory_layer", dtype),
            query_layer=None,
            probability_fn=_of_scores(probability_fn),
            memory_sequence_length=memory_sequence_length,
            score_mask_value=score_mask_value,
            custom_key_value_fn=custom_key_value_fn,
            name=name,
        )
        self._num_units = num_units
        self._scale = scale

    def __call__(self, query: Any, state: Any) -> Any:
        """Returns the weights, which are also the next state."""
        with v1.variable_scope(None, "luong_attention", [query]):
            scores = luong_scores(query, self._keys, scale_of(self._scale, query.dtype))
        return self.weigh(scores, state)


class BahdanauAttention(Memory):
    """Scores by a hidden layer over query and key (https://arxiv.org/abs/1409.0473).

    Args:
      num_units: the hidden layer's size.
      memory: [batch, time, size].
      memory_sequence_length: [batch], the lengths; entries beyond have no weight.
      normalize: whether to normalize the output's weights (https://arxiv.org/abs/1602.07868).
      probability_fn: a function of scores, which returns weights; softmax by default.
      score_mask_value: the score of entries beyond the length; minus infinity by default.
      dtype: the type of the layers' variables; float32 by default.
      custom_key_value_fn: a function of keys and values that replaces them.
      name: the operations' name.
    """

    def __init__(
        self,
        num_units: int,
        memory: Any,
        memory_sequence_length: Any = None,
        normalize: bool = False,
        probability_fn: Callable[[Any], Any] | None = None,
        score_mask_value: Any = None,
        dtype: Any = None,
        custom_key_value_fn: Callable[[Any, Any], Any] | None = None,
        name: str = "BahdanauAttention",
    ):
        super().__init__(
            memory=memory,
            memory_layer=dense(num_units, "memory_layer", dtype),
            query_layer=dense(num_units, "query_layer", dtype),
            probability_fn=_of_scores(probability_fn),
            memory_sequence_length=memory_sequence_length,
            score_mask_value=score_mask_value,
            custom_key_value_fn=custom_key_value_fn,
            name=name,
        )
        self._num_units = num_units
        self._normalize = normalize

    def __call__(self, query: Any, state: Any) -> Any:
        """Returns the weights, which are also the next state."""
        with v1.variable_scope(None, "bahdanau_attention", [query]):
            hidden = self.query_layer(query)
            weights = hidden_layer_of(self._num_units, self._normalize, query.dtype)
            scores = bahdanau_scores(hidden, self._keys, *weights)
        return self.weigh(scores, state)


def luong_scores(query: Any, keys: Any, scale: Any) -> tf.Tensor:
    """Returns products of queries [batch, units] and keys [batch, time, units], times a scale.

    Args:
      query: the queries.
      keys: the keys.
      scale: a tensor, or None.

    Raises:
      ValueError: they differ in size.
    """
    units, key_units = query.shape.as_list()[-1], keys.shape.as_list()[-1]
    if units != key_units:
        raise ValueError(
            "Incompatible or unknown inner dimensions between query and keys.  Query "
            f"({query.name}) has units: {units}.  Keys ({keys.name}) have units: {key_units}.  "
            f"Perhaps you need to set num_units to the query's dimension ({units})?"
        )
    scores = tf.matmul(query[:, None], keys, transpose_b=True)[:, 0]
    return scores if scale is None else scores * scale


def scale_of(is_scaled: bool, dtype: Any) -> Any:
    """Returns the variable ``attention_g``, or None."""
    return v1.get_variable("attention_g", [], dtype, v1.ones_initializer()) if is_scaled else None


def bahdanau_scores(
    processed_query: Any,
    keys: Any,
    attention_v: Any,
    attention_g: Any = None,
    attention_b: Any = None,
) -> tf.Tensor:
    """Returns ``v . tanh(key + query)``; normalized, ``g v / |v| . tanh(key + query + b)``.

    Args:
      processed_query: [batch, units].
      keys: [batch, time, units].
      attention_v: [units].
      attention_g: a scalar, for normalized scores.
      attention_b: [units], for normalized scores.
    """
    hidden = keys + processed_query[:, None]
    if attention_g is not None and attention_b is not None:
        squares = tf.reduce_sum(tf.square(attention_v))
        attention_v = attention_g * attention_v * tf.math.rsqrt(squares)
        hidden += attention_b
    return tf.reduce_sum(attention_v * tf.tanh(hidden), 2)


def hidden_layer_of(units: int, normalize: bool, dtype: Any) -> tuple[Any, Any, Any]:
    """Returns the variables ``attention_v``, ``attention_g`` and ``attention_b``, or None."""
    vector: Any = v1.get_variable("attention_v", [units], dtype)
    if not normalize:
        return vector, None, None
    start = v1.constant_initializer(math.sqrt(1.0 / units))
    gain = v1.get_variable("attention_g", [], dtype, start)
    return vector, gain, v1.get_variable("attention_b", [units], dtype, v1.zeros_initializer())


def hardmax(logits: Any, name: str | None = None) -> tf.Tensor:
    """Returns one for the largest entry of the last dimension, zero for the others.

    Args:
      logits: a tensor.
      name: the operations' name.
    """
    with v1.name_scope(name, "Hardmax", [logits]):
        logits = tf.convert_to_tensor(logits)
        depth = size_of(logits, -1)
        return tf.one_hot(tf.argmax(logits, -1), depth, dtype=logits.dtype)


def _of_scores(function: Callable[[Any], Any] | None) -> Callable[[Any, Any], Any]:
    chosen = function or tf.nn.softmax
    return lambda scores, state: chosen(scores)
