"""A memory for attention, such as the outputs of an encoder."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import tensorflow as tf

from estimator_bridge_contrib.seq2seq.decoder import size_of, zeros_of

__all__ = ["AttentionMechanism", "Memory", "dense", "mask_memory", "mask_scores"]

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
      query_layer: the layer that is applied to queries, or None.
      memory: [batch, time, size].
      probability_fn: a function of scores [batch, time] and the state, which returns weights.
      memory_sequence_length: [batch], the lengths; entries beyond have no weight.
      memory_layer: the layer that makes the keys.
      check_inner_dims_defined: whether the entries' size must be known.
      score_mask_value: the score of entries beyond the length; minus infinity by default.
      custom_key_value_fn: a function of keys and values that replaces them.
      name: the operations' name.

    Raises:
      ValueError: the entries' size is unknown.
    """

    def __init__(
        self,
        query_layer: Any,
        memory: Any,
        probability_fn: Callable[[Any, Any], Any],
        memory_sequence_length: Any = None,
        memory_layer: Any = None,
        check_inner_dims_defined: bool = True,
        score_mask_value: Any = None,
        custom_key_value_fn: Callable[[Any, Any], Any] | None = None,
        name: str | None = None,
    ):
        if not callable(probability_fn):
            raise TypeError(f"probability_fn must be callable, saw: {probability_fn!r}")
        self.dtype = memory_layer.dtype
        self._name = name
        self._memory_layer = memory_layer
        self._query_layer = query_layer
        # Derived classes call it with their own scores.
        self._probability_fn = self._masked(probability_fn, score_mask_value)
        with v1.name_scope(name, "BaseAttentionMechanismInit", [memory]):
            if memory_sequence_length is not None:
                memory_sequence_length = tf.convert_to_tensor(memory_sequence_length)
            self._lengths = memory_sequence_length
            self._values = mask_memory(
                memory, self._lengths, check_inner_dims_defined=check_inner_dims_defined
            )
            self._keys = memory_layer(self._values)
            if custom_key_value_fn is not None:
                self._keys, self._values = custom_key_value_fn(self._keys, self._values)
            self._batch_size = size_of(self._keys, 0)
            self._alignments_size = size_of(self._keys, 1)

    def _masked(self, probability_fn: Any, score_mask_value: Any) -> Callable[[Any, Any], Any]:
        def weights_of(score: Any, state: Any) -> Any:
            masked = mask_scores(score, self._lengths, score_mask_value=score_mask_value)
            return probability_fn(masked, state)

        return weights_of

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
        weights = self._probability_fn(scores, state)
        return weights, weights


def dense(units: int, name: str, dtype: Any) -> Any:
    """Returns a linear layer without biases."""
    return v1.layers.Dense(units, name=name, use_bias=False, dtype=dtype or tf.float32)


def mask_scores(
    score: Any,
    memory_sequence_length: Any = None,
    memory_mask: Any = None,
    score_mask_value: Any = None,
) -> Any:
    """Returns scores with another value for entries that have no weight.

    Args:
      score: [batch, time].
      memory_sequence_length: [batch], the lengths.
      memory_mask: [batch, time], which entries have weight, instead of the lengths.
      score_mask_value: the score of the others; minus infinity by default.

    Raises:
      ValueError: both lengths and a mask are given.
    """
    _check_one_of(memory_sequence_length, memory_mask)
    if memory_sequence_length is not None:
        message = "All values in memory_sequence_length must be greater than zero."
        positive = v1.assert_positive(memory_sequence_length, message=message)
        with tf.control_dependencies([positive]):
            memory_mask = tf.sequence_mask(memory_sequence_length, tf.shape(score)[1])
    if memory_mask is None:
        return score
    value = -math.inf if score_mask_value is None else score_mask_value
    return tf.where(memory_mask, score, tf.cast(value, score.dtype))


def mask_memory(
    memory: Any,
    memory_sequence_length: Any = None,
    memory_mask: Any = None,
    check_inner_dims_defined: bool = True,
) -> Any:
    """Returns memories with zeros for entries that have no weight.

    Args:
      memory: [batch, time, ...], or a structure of such tensors.
      memory_sequence_length: [batch], the lengths.
      memory_mask: [batch, time], which entries have weight, instead of the lengths.
      check_inner_dims_defined: whether the entries' size must be known.

    Raises:
      ValueError: the entries' size is unknown, or both lengths and a mask are given.
    """
    memory = tf.nest.map_structure(lambda each: tf.convert_to_tensor(each, name="memory"), memory)
    _check_one_of(memory_sequence_length, memory_mask)
    first = tf.nest.flatten(memory)[0]
    for each in tf.nest.flatten(memory) if check_inner_dims_defined else ():
        if not each.shape[2:].is_fully_defined():
            raise ValueError(
                f"Expected memory {each.name} to have fully defined inner dims, but saw shape: "
                f"{each.shape}"
            )
    if memory_sequence_length is not None:
        memory_mask = tf.sequence_mask(memory_sequence_length, tf.shape(first)[1])
    if memory_mask is None:
        return memory
    mask = tf.cast(memory_mask, first.dtype)
    return tf.nest.map_structure(
        lambda each: each * tf.reshape(mask, [*tf.unstack(tf.shape(mask)), *[1] * _extra(each)]),
        memory,
    )


def _check_one_of(lengths: Any, mask: Any) -> None:
    if lengths is not None and mask is not None:
        raise ValueError(
            "memory_sequence_length and memory_mask can't be provided at same time. Leave one out."
        )


def _extra(memory: Any) -> int:
    return memory.shape.rank - 2
