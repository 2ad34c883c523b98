"""Attention that only moves forward (https://arxiv.org/abs/1704.00784)."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import tensorflow as tf

from estimator_bridge_contrib.seq2seq.attention import (
    bahdanau_scores,
    hidden_layer_of,
    luong_scores,
    scale_of,
)
from estimator_bridge_contrib.seq2seq.attention_memory import Memory, dense

__all__ = [
    "BahdanauMonotonicAttention",
    "LuongMonotonicAttention",
    "MonotonicMemory",
    "monotonic_attention",
    "monotonic_probabilities",
    "safe_cumprod",
]

v1 = tf.compat.v1


def safe_cumprod(x: Any, *args: Any, **kwargs: Any) -> tf.Tensor:
    """Returns cumulative products, computed as exponentials of sums of logarithms.

    Args:
      x: numbers from 0 to 1.
      *args: arguments of ``tf.cumsum``.
      **kwargs: arguments of ``tf.cumsum``.
    """
    with v1.name_scope(None, "SafeCumprod", [x]):
        x = tf.convert_to_tensor(x, name="x")
        tiny = np.finfo(x.dtype.as_numpy_dtype).tiny
        return tf.exp(tf.cumsum(tf.math.log(tf.clip_by_value(x, tiny, 1)), *args, **kwargs))


def monotonic_attention(p_choose_i: Any, previous_attention: Any, mode: str) -> tf.Tensor:
    """Returns the probabilities that attention stops at each entry.

    Args:
      p_choose_i: [batch, time], the probability of stopping at an entry once it is reached.
      previous_attention: [batch, time], the probabilities of the previous step.
      mode: 'recursive', exact and slow; 'parallel', which may be inaccurate for small
        probabilities; or 'hard', for probabilities that are 0 or 1.

    Returns:
      [batch, time].

    Raises:
      ValueError: the mode is unknown.
    """
    choose = tf.convert_to_tensor(p_choose_i, name="p_choose_i")
    previous = tf.convert_to_tensor(previous_attention, name="previous_attention")
    if mode == "recursive":
        passed = tf.concat([tf.ones_like(choose[:, :1]), 1 - choose[:, :-1]], 1)
        reached = tf.scan(
            lambda before, now: now[0] * before + now[1],
            [tf.transpose(passed), tf.transpose(previous)],
            tf.zeros_like(choose[:, 0]),
        )
        return choose * tf.transpose(reached)
    if mode == "parallel":
        passed = safe_cumprod(1 - choose, axis=1, exclusive=True)
        return choose * passed * tf.cumsum(previous / tf.clip_by_value(passed, 1e-10, 1.0), axis=1)
    if mode == "hard":
        choose *= tf.cumsum(previous, axis=1)
        return choose * tf.math.cumprod(1 - choose, axis=1, exclusive=True)
    raise ValueError(f"mode must be 'recursive', 'parallel', or 'hard', got {mode!r}.")


class MonotonicMemory(Memory):
    """The memory of a mechanism whose attention starts at the first entry."""

    def initial_alignments(self, batch_size: Any, dtype: Any) -> tf.Tensor:
        """Returns the weights before the first step: all on the first entry."""
        first = tf.zeros(tf.stack([batch_size]), tf.int32)
        return tf.one_hot(first, self._alignments_size, dtype=dtype)


class _Monotonic(MonotonicMemory):
    """A mechanism with the scores of another and a bias."""

    _scope = ""

    def __init__(
        self,
        num_units: int,
        memory: Any,
        memory_sequence_length: Any,
        score_mask_value: Any,
        sigmoid_noise: float,
        sigmoid_noise_seed: int | None,
        score_bias_init: float,
        mode: str,
        dtype: Any,
        name: str,
        query_layer: Any,
    ):
        super().__init__(
            memory=memory,
            memory_layer=dense(num_units, "memory_layer", dtype),
            query_layer=query_layer,
            probability_fn=functools.partial(
                monotonic_probabilities,
                sigmoid_noise=sigmoid_noise,
                mode=mode,
                seed=sigmoid_noise_seed,
            ),
            memory_sequence_length=memory_sequence_length,
            score_mask_value=score_mask_value,
            name=name,
        )
        self._num_units = num_units
        self._score_bias_init = score_bias_init

    def __call__(self, query: Any, state: Any) -> Any:
        """Returns the weights, which are also the next state."""
        with v1.variable_scope(None, self._scope, [query]):
            scores = self._scores(query)
            start = v1.constant_initializer(self._score_bias_init)
            scores += v1.get_variable("attention_score_bias", [], query.dtype, start)
        return self.weigh(scores, state)

    def _scores(self, query: Any) -> tf.Tensor:
        raise NotImplementedError


class BahdanauMonotonicAttention(_Monotonic):
    """Monotonic attention with the scores of ``BahdanauAttention``.

    Args:
      num_units: the hidden layer's size.
      memory: [batch, time, size].
      memory_sequence_length: [batch], the lengths; entries beyond have no weight.
      normalize: as for ``BahdanauAttention``.
      score_mask_value: the score of entries beyond the length; minus infinity by default.
      sigmoid_noise: the deviation of noise added to scores, which sharpens choices.
      sigmoid_noise_seed: the noise's seed.
      score_bias_init: the initial value of the scores' bias; negative for long memories.
      mode: as for ``monotonic_attention``.
      dtype: the type of the layers' variables; float32 by default.
      name: the operations' name.
    """

    _scope = "bahdanau_monotonic_attention"

    def __init__(
        self,
        num_units: int,
        memory: Any,
        memory_sequence_length: Any = None,
        normalize: bool = False,
        score_mask_value: Any = None,
        sigmoid_noise: float = 0.0,
        sigmoid_noise_seed: int | None = None,
        score_bias_init: float = 0.0,
        mode: str = "parallel",
        dtype: Any = None,
        name: str = "BahdanauMonotonicAttention",
    ):
        super().__init__(
            num_units,
            memory,
            memory_sequence_length,
            score_mask_value,
            sigmoid_noise,
            sigmoid_noise_seed,
            score_bias_init,
            mode,
            dtype,
            name,
            query_layer=dense(num_units, "query_layer", dtype),
        )
        self._normalize = normalize

    def _scores(self, query: Any) -> tf.Tensor:
        hidden = self.query_layer(query)
        weights = hidden_layer_of(self._num_units, self._normalize, query.dtype)
        return bahdanau_scores(hidden, self._keys, *weights)


class LuongMonotonicAttention(_Monotonic):
    """Monotonic attention with the scores of ``LuongAttention``.

    Args:
      num_units: the keys' size, which must be the queries'.
      memory: [batch, time, size].
      memory_sequence_length: [batch], the lengths; entries beyond have no weight.
      scale: as for ``LuongAttention``.
      score_mask_value: the score of entries beyond the length; minus infinity by default.
      sigmoid_noise: the deviation of noise added to scores, which sharpens choices.
      sigmoid_noise_seed: the noise's seed.
      score_bias_init: the initial value of the scores' bias; negative for long memories.
      mode: as for ``monotonic_attention``.
      dtype: the type of the layers' variables; float32 by default.
      name: the operations' name.
    """

    _scope = "luong_monotonic_attention"

    def __init__(
        self,
        num_units: int,
        memory: Any,
        memory_sequence_length: Any = None,
        scale: bool = False,
        score_mask_value: Any = None,
        sigmoid_noise: float = 0.0,
        sigmoid_noise_seed: int | None = None,
        score_bias_init: float = 0.0,
        mode: str = "parallel",
        dtype: Any = None,
        name: str = "LuongMonotonicAttention",
    ):
        super().__init__(
            num_units,
            memory,
            memory_sequence_length,
            score_mask_value,
            sigmoid_noise,
            sigmoid_noise_seed,
            score_bias_init,
            mode,
            dtype,
            name,
            query_layer=None,
        )
        self._scale = scale

    def _scores(self, query: Any) -> tf.Tensor:
        return luong_scores(query, self._keys, scale_of(self._scale, query.dtype))


def monotonic_probabilities(
    score: Any, previous_alignments: Any, sigmoid_noise: float, mode: str, seed: int | None = None
) -> tf.Tensor:
    """Returns the weights of scores, both [batch, time], which move on from the last ones.

    Args:
      score: the scores.
      previous_alignments: the last weights.
      sigmoid_noise: the deviation of noise added to scores.
      mode: as for ``monotonic_attention``.
      seed: the noise's seed.
    """
    if sigmoid_noise > 0:
        score += sigmoid_noise * tf.random.normal(tf.shape(score), dtype=score.dtype, seed=seed)
    choose = tf.cast(score > 0, score.dtype) if mode == "hard" else tf.sigmoid(score)
    return monotonic_attention(choose, previous_alignments, mode)
