"""Helpers that delegate to functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tensorflow as tf

from estimator_bridge_contrib.seq2seq.helpers import Helper

__all__ = ["CustomHelper", "InferenceHelper"]


class CustomHelper(Helper):
    """Delegates everything to functions.

    Args:
      initialize_fn: a function that returns which sequences have ended, [batch], and the first
        inputs.
      sample_fn: a function of (time, outputs, state) by name, which returns tokens.
      next_inputs_fn: a function of (time, outputs, state, sample_ids) by name, which returns the
        sequences that have ended, the next inputs, and the state.
      sample_ids_shape: a token's shape; a scalar by default.
      sample_ids_dtype: its type; int32 by default.
    """

    def __init__(
        self,
        initialize_fn: Callable[[], Any],
        sample_fn: Callable[..., Any],
        next_inputs_fn: Callable[..., Any],
        sample_ids_shape: Any = None,
        sample_ids_dtype: Any = None,
    ):
        self._initialize_fn = initialize_fn
        self._sample_fn = sample_fn
        self._next_inputs_fn = next_inputs_fn
        self._batch_size: Any = None
        self._shape = tf.TensorShape(sample_ids_shape or [])
        self._dtype = sample_ids_dtype or tf.int32

    @property
    def batch_size(self) -> Any:
        """The number of sequences, known after ``initialize`` has been called."""
        if self._batch_size is None:
            raise ValueError("batch_size accessed before initialize was called")
        return self._batch_size

    @property
    def sample_ids_shape(self) -> tf.TensorShape:
        """The shape of a token."""
        return self._shape

    @property
    def sample_ids_dtype(self) -> Any:
        """The type of a token."""
        return self._dtype

    def initialize(self, name: str | None = None) -> Any:
        """See ``Helper``."""
        finished, next_inputs = self._initialize_fn()
        if self._batch_size is None:
            self._batch_size = tf.size(finished)
        return finished, next_inputs

    def sample(self, time: Any, outputs: Any, state: Any, name: str | None = None) -> Any:
        """See ``Helper``."""
        return self._sample_fn(time=time, outputs=outputs, state=state)

    def next_inputs(
        self, time: Any, outputs: Any, state: Any, sample_ids: Any, name: str | None = None
    ) -> Any:
        """See ``Helper``."""
        return self._next_inputs_fn(time=time, outputs=outputs, state=state, sample_ids=sample_ids)


class InferenceHelper(Helper):
    """Samples outputs that need not be tokens, with functions.

    Args:
      sample_fn: a function of outputs, which returns samples.
      sample_shape: a sample's shape, without the batch.
      sample_dtype: its type.
      start_inputs: [batch, ...], the first inputs.
      end_fn: a function of samples, which returns which sequences have ended.
      next_inputs_fn: a function of samples, which returns the next inputs; by default the
        samples themselves.
    """

    def __init__(
        self,
        sample_fn: Callable[[Any], Any],
        sample_shape: Any,
        sample_dtype: Any,
        start_inputs: Any,
        end_fn: Callable[[Any], Any],
        next_inputs_fn: Callable[[Any], Any] | None = None,
    ):
        self._sample_fn = sample_fn
        self._end_fn = end_fn
        self._shape = tf.TensorShape(sample_shape)
        self._dtype = sample_dtype
        self._next_inputs_fn = next_inputs_fn or tf.identity
        self._start_inputs = tf.convert_to_tensor(start_inputs, name="start_inputs")
        self._batch_size = tf.shape(self._start_inputs)[0]

    @property
    def batch_size(self) -> Any:
        """The number of sequences."""
        return self._batch_size

    @property
    def sample_ids_shape(self) -> tf.TensorShape:
        """The shape of a sample."""
        return self._shape

    @property
    def sample_ids_dtype(self) -> Any:
        """The type of a sample."""
        return self._dtype

    def initialize(self, name: str | None = None) -> Any:
        """See ``Helper``."""
        return tf.fill([self._batch_size], False), self._start_inputs

    def sample(self, time: Any, outputs: Any, state: Any = None, name: str | None = None) -> Any:
        """See ``Helper``."""
        return self._sample_fn(outputs)

    def next_inputs(
        self, time: Any, outputs: Any, state: Any, sample_ids: Any, name: str | None = None
    ) -> Any:
        """See ``Helper``."""
        return self._end_fn(sample_ids), self._next_inputs_fn(sample_ids), state
