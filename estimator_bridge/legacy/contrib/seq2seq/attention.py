"""Attention over a memory, such as the outputs of an encoder."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import tensorflow as tf

from estimator_bridge.legacy.contrib.seq2seq.decoder import zeros_of

__all__ = ["AttentionMechanism", "BahdanauAttention", "LuongAttention", "Memory", "hardmax"]

v1 = tf.compat.v1


class AttentionMechanism:
    """What weighs the entries of a memory; programs may derive from it.

    It is called with a query [batch, size] and a state, and returns the weights [batch, time] and
    the next state.
    """

    @property
    def alignments_size(self) -> Any:
        """The number of entries."""
        raise NotImplementedError

    @property
    def state_size(self) -> Any:
        """The state's size."""
        raise NotImplementedError


class Memory(AttentionMechanism):
    """The memory of a mechanism: its values, and keys that a linear layer makes of them.

    Args:
      memory: [batch, time, size].
      memory_layer: makes the keys.
      query_layer: is applied to queries, if there is one.
      probability_fn: a function of scores [batch, time] and the state, which returns weights.
      memory_sequence_length: [batch], the lengths; entries behind have no weight.
      score_mask_value: the score of those; minus infinity by default.
      check_inner_dims_defined: whether the entries' size has to be known.
      custom_key_value_fn: a function of keys and values, which returns others.
      name: the operations' name.

    Raises:
      ValueError: the entries' size is unknown.
    """

    def __init__(
        self,
        memory: Any,
        memory_layer: Any,
        query_layer: Any,
        probability_fn: Callable[[Any, Any], Any],
        memory_sequence_length: Any = None,
        score_mask_value: Any = None,
        check_inner_dims_defined: bool = True,
        custom_key_value_fn: Callable[[Any, Any], Any] | None = None,
        name: str | None = None,
    ):
        if not callable(probability_fn):
            raise TypeError(f"probability_fn must be callable, saw: {probability_fn!r}")
        self.dtype = memory_layer.dtype
        self._memory_layer = memory_layer
        self._query_layer = query_layer
        self._probability = probability_fn
        self._mask_value = -math.inf if score_mask_value is None else score_mask_value
        with v1.name_scope(name, "BaseAttentionMechanismInit", [memory]):
            self._lengths = memory_sequence_length
            if memory_sequence_length is not None:
                self._lengths = tf.convert_to_tensor(memory_sequence_length)
            self._values = _masked(memory, self._lengths, check_inner_dims_defined)
            self._keys = memory_layer(self._values)
            if custom_key_value_fn is not None:
                self._keys, self._values = custom_key_value_fn(self._keys, self._values)
            shape = tf.shape(self._keys)
            self._batch_size, self._alignments_size = (
                shape[i] if self._keys.shape[i] is None else self._keys.shape[i] for i in (0, 1)
            )

    @property
    def memory_layer(self) -> Any:
        """The layer that makes keys."""
        return self._memory_layer

    @property
    def query_layer(self) -> Any:
        """The layer that is applied to queries, or None."""
        return self._query_layer

    @property
    def values(self) -> Any:
        """[batch, time, size]: the entries."""
        return self._values

    @property
    def keys(self) -> Any:
        """[batch, time, units]: what queries are compared with."""
        return self._keys

    @property
    def batch_size(self) -> Any:
        """The number of memories."""
        return self._batch_size

    @property
    def alignments_size(self) -> Any:
        """The number of entries."""
        return self._alignments_size

    @property
    def state_size(self) -> Any:
        """The state's size: the state is the last weights."""
        return self._alignments_size

    def initial_alignments(self, batch_size: Any, dtype: Any) -> tf.Tensor:
        """The weights before the first step: zeros."""
        return zeros_of(self._alignments_size, batch_size, dtype)

    def initial_state(self, batch_size: Any, dtype: Any) -> tf.Tensor:
        """The state before the first step."""
        return self.initial_alignments(batch_size, dtype)

    def weigh(self, scores: Any, state: Any) -> Any:
        """Weights from scores, [batch, time] both; returned twice, as they are the next state."""
        if self._lengths is not None:
            message = "All values in memory_sequence_length must be greater than zero."
            positive = v1.assert_positive(self._lengths, message=message)
            with tf.control_dependencies([positive]):
                mask = tf.sequence_mask(self._lengths, tf.shape(scores)[1])
            scores = tf.where(mask, scores, tf.cast(self._mask_value, scores.dtype))
        weights = self._probability(scores, state)
        return weights, weights


class LuongAttention(Memory):
    """Scores by the product of query and key (https://arxiv.org/abs/1508.04025).

    Args:
      num_units: the keys' size, which has to be the queries'.
      memory: [batch, time, size].
      memory_sequence_length: [batch], the lengths; entries behind have no weight.
      scale: whether to multiply scores by the variable ``attention_g``.
      probability_fn: a function of scores, which returns weights; softmax by default.
      score_mask_value: the score of entries behind the length; minus infinity by default.
      dtype: the type of the layers' variables; float32 by default.
      custom_key_value_fn: a function of keys and values, which returns others.
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
            memory,
            memory_layer=dense(num_units, "memory_layer", dtype),
            query_layer=None,
            probability_fn=_of_scores(probability_fn),
            memory_sequence_length=memory_sequence_length,
            score_mask_value=score_mask_value,
            custom_key_value_fn=custom_key_value_fn,
            name=name,
        )
        self._scale = scale

    def __call__(self, query: Any, state: Any) -> Any:
        """The weights, and the same as next state."""
        with v1.variable_scope(None, "luong_attention", [query]):
            scores = luong_scores(query, self._keys, self._scale)
        return self.weigh(scores, state)


class BahdanauAttention(Memory):
    """Scores by a hidden layer over query and key (https://arxiv.org/abs/1409.0473).

    Args:
      num_units: the hidden layer's size.
      memory: [batch, time, size].
      memory_sequence_length: [batch], the lengths; entries behind have no weight.
      normalize: whether to normalize the output's weights (https://arxiv.org/abs/1602.07868).
      probability_fn: a function of scores, which returns weights; softmax by default.
      score_mask_value: the score of entries behind the length; minus infinity by default.
      dtype: the type of the layers' variables; float32 by default.
      custom_key_value_fn: a function of keys and values, which returns others.
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
            memory,
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
        """The weights, and the same as next state."""
        with v1.variable_scope(None, "bahdanau_attention", [query]):
            hidden = self.query_layer(query)
            scores = bahdanau_scores(hidden, self._keys, self._num_units, self._normalize)
        return self.weigh(scores, state)


def dense(units: int, name: str, dtype: Any) -> Any:
    """A linear layer without biases."""
    return v1.layers.Dense(units, name=name, use_bias=False, dtype=dtype or tf.float32)


def luong_scores(query: Any, keys: Any, scale: bool) -> tf.Tensor:
    """Products of queries [batch, units] and keys [batch, time, units].

    Raises:
      ValueError: they differ in size.
    """
    if query.shape[-1] != keys.shape[-1]:
        raise ValueError(
            "Incompatible or unknown inner dimensions between query and keys.  Query "
            f"({query.name}) has units: {query.shape[-1]}.  Keys ({keys.name}) have units: "
            f"{keys.shape[-1]}.  Perhaps you need to set num_units to the query's dimension "
            f"({query.shape[-1]})?"
        )
    scores = tf.matmul(query[:, None], keys, transpose_b=True)[:, 0]
    if scale:
        ones = v1.ones_initializer()
        scores *= v1.get_variable("attention_g", [], query.dtype, ones)
    return scores


def bahdanau_scores(query: Any, keys: Any, units: int, normalize: bool) -> tf.Tensor:
    """``v . tanh(key + query)``; normalized, ``g v / |v| . tanh(key + query + b)``."""
    vector: Any = v1.get_variable("attention_v", [units], query.dtype)
    hidden = keys + query[:, None]
    if normalize:
        start = v1.constant_initializer(math.sqrt(1.0 / units))
        gain = v1.get_variable("attention_g", [], query.dtype, start)
        bias = v1.get_variable("attention_b", [units], query.dtype, v1.zeros_initializer())
        vector = gain * vector * tf.math.rsqrt(tf.reduce_sum(tf.square(vector)))
        hidden += bias
    return tf.reduce_sum(vector * tf.tanh(hidden), 2)


def hardmax(logits: Any, name: str | None = None) -> tf.Tensor:
    """One for the largest entry of the last dimension, zero for the others.

    Args:
      logits: a tensor.
      name: the operations' name.
    """
    with v1.name_scope(name, "Hardmax", [logits]):
        logits = tf.convert_to_tensor(logits)
        depth = tf.shape(logits)[-1] if logits.shape[-1] is None else logits.shape[-1]
        return tf.one_hot(tf.argmax(logits, -1), depth, dtype=logits.dtype)


def _of_scores(function: Callable[[Any], Any] | None) -> Callable[[Any, Any], Any]:
    chosen = function or tf.nn.softmax
    return lambda scores, state: chosen(scores)


def _masked(memory: Any, lengths: Any, check: bool) -> tf.Tensor:
    memory = tf.convert_to_tensor(memory, name="memory")
    if check and not memory.shape[2:].is_fully_defined():
        raise ValueError(
            f"Expected memory {memory.name} to have fully defined inner dims, but saw shape: "
            f"{memory.shape}"
        )
    if lengths is None:
        return memory
    mask = tf.sequence_mask(lengths, tf.shape(memory)[1], dtype=memory.dtype)
    return memory * tf.reshape(mask, [*tf.unstack(tf.shape(mask)), *[1] * (memory.shape.rank - 2)])
