"""What chooses a decoder's tokens, and makes its inputs."""

from __future__ import annotations

import abc
from collections.abc import Callable
from typing import Any

import tensorflow as tf

from estimator_bridge.legacy.contrib.rnn.bidirectional import transpose_batch_time

__all__ = [
    "CustomHelper",
    "GreedyEmbeddingHelper",
    "Helper",
    "InferenceHelper",
    "SampleEmbeddingHelper",
    "TrainingHelper",
    "categorical_sample",
    "embedding_function",
]

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


class _TokenHelper(Helper):
    """A helper whose tokens are int32 numbers."""

    @property
    def sample_ids_shape(self) -> tf.TensorShape:
        return tf.TensorShape([])

    @property
    def sample_ids_dtype(self) -> Any:
        return tf.int32


class TrainingHelper(_TokenHelper):
    """Reads given inputs, whatever the decoder says: teacher forcing.

    Args:
      inputs: [batch, time, ...].
      sequence_length: [batch], the lengths.
      time_major: whether the inputs are [time, batch, ...].
      name: the operations' name.

    Raises:
      ValueError: sequence_length is no vector.
    """

    def __init__(
        self,
        inputs: Any,
        sequence_length: Any,
        time_major: bool = False,
        name: str | None = None,
    ):
        with v1.name_scope(name, "TrainingHelper", [inputs, sequence_length]):
            self._inputs = tf.convert_to_tensor(inputs, name="inputs")
            steps = self._inputs if time_major else transpose_batch_time(self._inputs)
            self._array = unstacked(steps)
            self._lengths = tf.convert_to_tensor(sequence_length, name="sequence_length")
            if self._lengths.shape.rank != 1:
                raise ValueError(
                    "Expected sequence_length to be a vector, but received shape: "
                    f"{self._lengths.shape}"
                )
            self._zero_inputs = tf.zeros_like(steps[0])
            self._batch_size = tf.size(self._lengths)

    @property
    def inputs(self) -> Any:
        """The inputs."""
        return self._inputs

    @property
    def sequence_length(self) -> Any:
        """The lengths."""
        return self._lengths

    @property
    def batch_size(self) -> Any:
        """The number of sequences."""
        return self._batch_size

    def initialize(self, name: str | None = None) -> Any:
        """See ``Helper``."""
        finished = tf.equal(0, self._lengths)
        return finished, self._read(0, finished)

    def sample(self, time: Any, outputs: Any, state: Any = None, name: str | None = None) -> Any:
        """The most probable tokens."""
        return tf.argmax(outputs, axis=-1, output_type=tf.int32)

    def next_inputs(
        self,
        time: Any,
        outputs: Any,
        state: Any,
        sample_ids: Any = None,
        name: str | None = None,
    ) -> Any:
        """See ``Helper``."""
        finished = time + 1 >= self._lengths
        return finished, self._read(time + 1, finished), state

    def _read(self, time: Any, finished: Any) -> Any:
        return v1.cond(
            tf.reduce_all(finished), lambda: self._zero_inputs, lambda: self._array.read(time)
        )


class GreedyEmbeddingHelper(_TokenHelper):
    """Takes the most probable token, whose embedding is the next input.

    Args:
      embedding: the table [vocabulary, size], or a function of tokens.
      start_tokens: [batch], the first tokens.
      end_token: the token that ends a sequence.

    Raises:
      ValueError: start_tokens is no vector, or end_token no scalar.
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
        """The most probable tokens."""
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
    """Draws a token at random, by its probability.

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
        """Random tokens."""
        logits = _one_tensor(outputs)
        if self._temperature is not None:
            logits = logits / self._temperature
        return categorical_sample(logits, self._seed)


class CustomHelper(Helper):
    """Leaves everything to functions.

    Args:
      initialize_fn: returns which sequences have ended, [batch], and the first inputs.
      sample_fn: a function of (time, outputs, state) by name, which returns tokens.
      next_inputs_fn: a function of (time, outputs, state, sample_ids) by name, which returns which
        sequences have ended, the next inputs, and the state.
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
        """The number of sequences, known once ``initialize`` has been called."""
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
      next_inputs_fn: a function of samples, which returns the next inputs; by default the samples
        are these.
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


def embedding_function(embedding: Any) -> Callable[[Any], Any]:
    """A function of tokens, from one or from a table."""
    if callable(embedding):
        return embedding
    return lambda ids: v1.nn.embedding_lookup(embedding, ids)


def start_and_end(start_tokens: Any, end_token: Any) -> tuple[tf.Tensor, tf.Tensor]:
    """The tokens as tensors.

    Raises:
      ValueError: start_tokens is no vector, or end_token no scalar.
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


def unstacked(steps: tf.Tensor) -> tf.TensorArray:
    """The steps of a tensor [time, ...], to read one by one."""
    array = tf.TensorArray(steps.dtype, tf.shape(steps)[0], element_shape=steps.shape[1:])
    return array.unstack(steps)


def _one_tensor(outputs: Any) -> Any:
    if not tf.is_tensor(outputs):
        raise TypeError(f"Expected outputs to be a single Tensor, got: {type(outputs)}")
    return outputs
