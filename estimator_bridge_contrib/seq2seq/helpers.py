"""The base class of helpers, which choose a decoder's tokens and inputs, and shared functions."""

from __future__ import annotations

import abc
from collections.abc import Callable
from typing import Any

import tensorflow as tf

__all__ = ["Helper", "TokenHelper", "categorical_sample", "embedding_function", "start_and_end"]

v1 = tf.compat.v1


class Helper(abc.ABC):
    """Chooses tokens and makes inputs for a ``BasicDecoder``."""

    @property
    @abc.abstractmethod
    def batch_size(self) -> Any:
        """The number of sequences."""

    @property
    @abc.abstractmethod
    def sample_ids_shape(self) -> Any:
        """The shape of a token, without the batch."""

    @property
    @abc.abstractmethod
    def sample_ids_dtype(self) -> Any:
        """The type of a token."""

    @abc.abstractmethod
    def initialize(self, name: str | None = None) -> Any:
        """Returns which sequences have ended before the first step, and the first inputs."""

    @abc.abstractmethod
    def sample(self, time: Any, outputs: Any, state: Any, name: str | None = None) -> Any:
        """Returns the tokens of a step."""

    @abc.abstractmethod
    def next_inputs(
        self, time: Any, outputs: Any, state: Any, sample_ids: Any, name: str | None = None
    ) -> Any:
        """Returns which sequences have ended, the next inputs, and the state."""


class TokenHelper(Helper):
    """A helper whose tokens are int32."""

    @property
    def sample_ids_shape(self) -> tf.TensorShape:
        """The shape of a token: a scalar."""
        return tf.TensorShape([])

    @property
    def sample_ids_dtype(self) -> Any:
        """The type of a token."""
        return tf.int32


def embedding_function(embedding: Any) -> Callable[[Any], Any]:
    """Returns a function of tokens, from a function or a table."""
    if callable(embedding):
        return embedding
    return lambda ids: v1.nn.embedding_lookup(embedding, ids)


def start_and_end(start_tokens: Any, end_token: Any) -> tuple[tf.Tensor, tf.Tensor]:
    """Converts the tokens to tensors.

    Raises:
      ValueError: start_tokens is not a vector, or end_token not a scalar.
    """
    start = tf.convert_to_tensor(start_tokens, tf.int32, name="start_tokens")
    if start.shape.rank != 1:
        raise ValueError(f"start_tokens must be a vector, got the shape {start.shape}")
    end = tf.convert_to_tensor(end_token, tf.int32, name="end_token")
    if end.shape.rank != 0:
        raise ValueError(f"end_token must be a scalar, got the shape {end.shape}")
    return start, end


def categorical_sample(logits: Any, seed: int | None = None) -> tf.Tensor:
    """Draws a class for each row of logits [batch, classes]: int32 [batch]."""
    return tf.random.categorical(logits, 1, tf.int32, seed)[:, 0]
