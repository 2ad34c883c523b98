"""Helpers for scheduled sampling (https://arxiv.org/abs/1506.03099)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tensorflow as tf

from estimator_bridge_contrib.rnn.bidirectional import transpose_batch_time
from estimator_bridge_contrib.seq2seq.helpers import categorical_sample, embedding_function
from estimator_bridge_contrib.seq2seq.training_helper import TrainingHelper, unstacked

__all__ = ["ScheduledEmbeddingTrainingHelper", "ScheduledOutputTrainingHelper"]

v1 = tf.compat.v1


class ScheduledEmbeddingTrainingHelper(TrainingHelper):
    """Reads given inputs, or randomly the embedding of a token that it draws.

    Args:
      inputs: [batch, time, size].
      sequence_length: [batch], the lengths.
      embedding: the table [vocabulary, size], or a function of tokens.
      sampling_probability: the probability of drawing a token, a scalar or [batch].
      time_major: whether the inputs are [time, batch, size].
      seed: the seed for drawing tokens.
      scheduling_seed: the seed for choosing whether to draw.
      name: the operations' name.

    Raises:
      ValueError: sampling_probability has a wrong shape.
    """

    def __init__(
        self,
        inputs: Any,
        sequence_length: Any,
        embedding: Any,
        sampling_probability: Any,
        time_major: bool = False,
        seed: int | None = None,
        scheduling_seed: int | None = None,
        name: str | None = None,
    ):
        self._probability = _probability(sampling_probability)
        super().__init__(inputs, sequence_length, time_major, name)
        self._embedding_fn = embedding_function(embedding)
        self._seed = seed
        self._scheduling_seed = scheduling_seed

    def sample(self, time: Any, outputs: Any, state: Any = None, name: str | None = None) -> Any:
        """Returns random tokens, and -1 where the given input is used."""
        chosen = _chosen(self.batch_size, self._probability, self._scheduling_seed)
        drawn = categorical_sample(outputs, self._seed)
        return tf.where(chosen, drawn, -tf.ones_like(drawn))

    def next_inputs(
        self,
        time: Any,
        outputs: Any,
        state: Any,
        sample_ids: Any = None,
        name: str | None = None,
    ) -> Any:
        """See ``Helper``."""
        finished, base_inputs, state = super().next_inputs(time, outputs, state)

        def mixed() -> Any:
            drawn = self._embedding_fn(tf.maximum(sample_ids, 0))
            return v1.where(sample_ids > -1, drawn, base_inputs)

        return finished, v1.cond(tf.reduce_all(finished), lambda: base_inputs, mixed), state


class ScheduledOutputTrainingHelper(TrainingHelper):
    """Reads given inputs, or randomly the decoder's own outputs.

    Args:
      inputs: [batch, time, size].
      sequence_length: [batch], the lengths.
      sampling_probability: the probability of using outputs, a scalar or [batch].
      time_major: whether the inputs are [time, batch, size].
      seed: the seed of the choice.
      next_inputs_fn: a function of outputs, which returns inputs; by default the outputs
        themselves.
      auxiliary_inputs: [batch, time, size], concatenated to inputs and outputs.
      name: the operations' name.

    Raises:
      ValueError: sampling_probability has a wrong shape.
    """

    def __init__(
        self,
        inputs: Any,
        sequence_length: Any,
        sampling_probability: Any,
        time_major: bool = False,
        seed: int | None = None,
        next_inputs_fn: Callable[[Any], Any] | None = None,
        auxiliary_inputs: Any = None,
        name: str | None = None,
    ):
        self._probability = _probability(sampling_probability)
        self._auxiliary = None
        if auxiliary_inputs is not None:
            inputs = tf.concat([inputs, auxiliary_inputs], -1)
            steps = tf.convert_to_tensor(auxiliary_inputs)
            self._auxiliary = unstacked(steps if time_major else transpose_batch_time(steps))
        super().__init__(inputs, sequence_length, time_major, name)
        self._seed = seed
        self._next_inputs_fn = next_inputs_fn or tf.identity

    def sample(self, time: Any, outputs: Any, state: Any = None, name: str | None = None) -> Any:
        """Returns 1 where outputs are the next inputs, 0 where the given ones are."""
        return tf.cast(_chosen(self.batch_size, self._probability, self._seed), tf.int32)

    def next_inputs(
        self,
        time: Any,
        outputs: Any,
        state: Any,
        sample_ids: Any = None,
        name: str | None = None,
    ) -> Any:
        """See ``Helper``."""
        finished, base_inputs, state = super().next_inputs(time, outputs, state)

        def mixed() -> Any:
            own = self._next_inputs_fn(outputs)
            if self._auxiliary is not None:
                own = tf.concat([own, self._auxiliary.read(time + 1)], -1)
            return v1.where(tf.cast(sample_ids, tf.bool), own, base_inputs)

        return finished, v1.cond(tf.reduce_all(finished), lambda: base_inputs, mixed), state


def _probability(value: Any) -> tf.Tensor:
    probability = tf.convert_to_tensor(value, name="sampling_probability")
    if probability.shape.rank not in (0, 1):
        raise ValueError(
            "sampling_probability must be either a scalar or a vector. saw shape: "
            f"{probability.shape}"
        )
    return probability


def _chosen(batch_size: Any, probability: tf.Tensor, seed: int | None) -> tf.Tensor:
    return tf.random.uniform([batch_size], dtype=probability.dtype, seed=seed) < probability
