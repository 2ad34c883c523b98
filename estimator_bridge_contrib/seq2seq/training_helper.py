"""Teacher forcing: a decoder reads the correct tokens."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from estimator_bridge_contrib.rnn.bidirectional import transpose_batch_time
from estimator_bridge_contrib.seq2seq.helpers import TokenHelper

__all__ = ["TrainingHelper", "unstacked"]

v1 = tf.compat.v1


class TrainingHelper(TokenHelper):
    """Reads given inputs, regardless of the decoder's outputs: teacher forcing.

    Args:
      inputs: [batch, time, ...].
      sequence_length: [batch], the lengths.
      time_major: whether the inputs are [time, batch, ...].
      name: the operations' name.

    Raises:
      ValueError: sequence_length is not a vector.
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
            self._lengths = tf.convert_to_tensor(sequence_length, name="sequence_length")
            if self._lengths.shape.rank != 1:
                raise ValueError(
                    "Expected sequence_length to be a vector, but received shape: "
                    f"{self._lengths.shape}"
                )
            self._array = unstacked(steps)
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
        """Returns the most probable tokens."""
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


def unstacked(steps: tf.Tensor) -> tf.TensorArray:
    """Returns the steps of a tensor [time, ...], to read one by one."""
    array = tf.TensorArray(
        steps.dtype,
        tf.shape(steps)[0],
        clear_after_read=False,  # several decoders may share a helper
        element_shape=steps.shape[1:],
    )
    return array.unstack(steps)
