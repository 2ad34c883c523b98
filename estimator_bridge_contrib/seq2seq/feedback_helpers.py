"""Helpers that feed back the embedding of a chosen token."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from estimator_bridge_contrib.seq2seq.helpers import (
    TokenHelper,
    categorical_sample,
    embedding_function,
    start_and_end,
)

__all__ = ["GreedyEmbeddingHelper", "SampleEmbeddingHelper"]

v1 = tf.compat.v1


class GreedyEmbeddingHelper(TokenHelper):
    """Chooses the most probable token, whose embedding is the next input.

    Args:
      embedding: the table [vocabulary, size], or a function of tokens.
      start_tokens: [batch], the first tokens.
      end_token: the token that ends a sequence.

    Raises:
      ValueError: start_tokens is not a vector, or end_token not a scalar.
    """

    def __init__(self, embedding: Any, start_tokens: Any, end_token: Any):
        self._embedding_fn = embedding_function(embedding)
        self._start_tokens, self._end_token = start_and_end(start_tokens, end_token)
        self._batch_size = tf.size(self._start_tokens)
        self._start_inputs = self._embedding_fn(self._start_tokens)

    @property
    def batch_size(self) -> Any:
        """The number of sequences."""
        return self._batch_size

    def initialize(self, name: str | None = None) -> Any:
        """See ``Helper``."""
        return tf.fill([self._batch_size], False), self._start_inputs

    def sample(self, time: Any, outputs: Any, state: Any = None, name: str | None = None) -> Any:
        """Returns the most probable tokens."""
        return tf.argmax(_one_tensor(outputs), axis=-1, output_type=tf.int32)

    def next_inputs(
        self, time: Any, outputs: Any, state: Any, sample_ids: Any, name: str | None = None
    ) -> Any:
        """See ``Helper``."""
        finished = tf.equal(sample_ids, self._end_token)
        next_inputs = v1.cond(
            tf.reduce_all(finished),
            lambda: self._start_inputs,
            lambda: self._embedding_fn(sample_ids),
        )
        return finished, next_inputs, state


class SampleEmbeddingHelper(GreedyEmbeddingHelper):
    """Draws a random token by its probability.

    Args:
      embedding: the table [vocabulary, size], or a function of tokens.
      start_tokens: [batch], the first tokens.
      end_token: the token that ends a sequence.
      softmax_temperature: divides the logits; above 1 for more varied tokens.
      seed: the op's seed.
    """

    def __init__(
        self,
        embedding: Any,
        start_tokens: Any,
        end_token: Any,
        softmax_temperature: Any = None,
        seed: int | None = None,
    ):
        super().__init__(embedding, start_tokens, end_token)
        self._temperature = softmax_temperature
        self._seed = seed

    def sample(self, time: Any, outputs: Any, state: Any = None, name: str | None = None) -> Any:
        """Returns random tokens."""
        logits = _one_tensor(outputs)
        if self._temperature is not None:
            logits = logits / self._temperature
        return categorical_sample(logits, self._seed)


def _one_tensor(outputs: Any) -> Any:
    if not tf.is_tensor(outputs):
        raise TypeError(f"Expected outputs to be a single Tensor, got: {type(outputs)}")
    return outputs
