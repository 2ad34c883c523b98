"""A memory for attention, such as the outputs of an encoder."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import tensorflow as tf

from estimator_bridge_contrib.seq2seq.decoder import size_of, zeros_of

__all__ = ["AttentionMechanism", "Memory", "dense"]

v1 = tf.compat.v1


class AttentionMechanism:
    """Weights the entries of a memory; programs may derive from it.

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
    """The memory of a mechanism: its values, and the keys that a linear layer makes from them.

    Args:
      memory: [batch, time, size].
      memory_layer: the layer that makes the keys.
      query_layer: the layer that is applied to queries, or None.
      probability_fn: a function of scores [batch, time] and the state, which returns weights.
      memory_sequence_length: [batch], the lengths; entries beyond have no weight.
      score_mask_value: the score of entries beyond the length; minus infinity by default.
      check_inner_dims_defined: whether the entries' size must be known.
      custom_key_value_fn: a function of keys and values that replaces them.
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
            self._batch_size = size_of(self._keys, 0)
            self._alignments_size = size_of(self._keys, 1)

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
        """Returns the weights before the first step: zeros."""
        return zeros_of(self._alignments_size, batch_size, dtype)

    def initial_state(self, batch_size: Any, dtype: Any) -> tf.Tensor:
        """Returns the state before the first step."""
        return self.initial_alignments(batch_size, dtype)

    def weigh(self, scores: Any, state: Any) -> Any:
        """Returns weights of scores, both [batch, time], twice: they are also the next state."""
        if self._lengths is not None:
            message = "All values in memory_sequence_length must be greater than zero."
            positive = v1.assert_positive(self._lengths, message=message)
            with tf.control_dependencies([positive]):
                mask = tf.sequence_mask(self._lengths, tf.shape(scores)[1])
            scores = tf.where(mask, scores, tf.cast(self._mask_value, scores.dtype))
        weights = self._probability(scores, state)
        return weights, weights


def dense(units: int, name: str, dtype: Any) -> Any:
    """Returns a linear layer without biases."""
    return v1.layers.Dense(units, name=name, use_bias=False, dtype=dtype or tf.float32)


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
