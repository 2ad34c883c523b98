"""The recursions of a conditional random field, as cells of ``tf.nn.dynamic_rnn``.

``crf_log_norm`` and ``crf_decode`` run these recursions themselves; programs that need the values
of each step, such as marginal probabilities, run the cells.
"""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from estimator_bridge_contrib.rnn.base import RNNCell

__all__ = ["CrfDecodeBackwardRnnCell", "CrfDecodeForwardRnnCell", "CrfForwardRnnCell"]


class _OverTransitions(RNNCell):
    """A cell whose state has a number for each tag."""

    def __init__(self, transition_params: Any):
        super().__init__()
        transitions = tf.convert_to_tensor(transition_params)
        self._transitions = transitions[None]
        self._tags = transitions.shape.as_list()[0]

    @property
    def state_size(self) -> int:
        """The number of tags."""
        return self._tags

    @property
    def output_size(self) -> int:
        """The number of tags."""
        return self._tags

    def _ways(self, state: Any) -> tf.Tensor:
        """Returns [batch, tags before, tags], scores of going from one tag to another."""
        return tf.expand_dims(state, 2) + self._transitions


class CrfForwardRnnCell(_OverTransitions):
    """The forward recursion, whose states are logarithms of sums over all paths to a tag.

    Args:
      transition_params: [tags, tags].
    """

    def __call__(self, inputs: Any, state: Any, scope: Any = None) -> tuple[Any, Any]:
        """Makes a step.

        Args:
          inputs: [batch, tags], the step's potentials.
          state: [batch, tags], the sums of the step before; at first, its potentials.
          scope: not used.

        Returns:
          [batch, tags], the step's sums, as the output and as the state.
        """
        del scope
        sums = inputs + tf.reduce_logsumexp(self._ways(state), axis=1)
        return sums, sums


class CrfDecodeForwardRnnCell(_OverTransitions):
    """The forward part of Viterbi's algorithm, whose states are scores of the best path to a tag.

    Args:
      transition_params: [tags, tags].
    """

    def __call__(self, inputs: Any, state: Any, scope: Any = None) -> tuple[Any, Any]:
        """Makes a step.

        Args:
          inputs: [batch, tags], the step's potentials.
          state: [batch, tags], the scores of the step before; at first, its potentials.
          scope: not used.

        Returns:
          int32 [batch, tags], the tag before each tag on its best path; and [batch, tags], the
          scores.
        """
        del scope
        ways = self._ways(state)
        before = tf.argmax(ways, axis=1, output_type=tf.int32)
        return before, inputs + tf.reduce_max(ways, axis=1)


class CrfDecodeBackwardRnnCell(RNNCell):
    """The backward part of Viterbi's algorithm, which follows the best path.

    Args:
      num_tags: the number of tags.
    """

    def __init__(self, num_tags: int):
        super().__init__()
        self._num_tags = num_tags

    @property
    def state_size(self) -> int:
        """1, a tag."""
        return 1

    @property
    def output_size(self) -> int:
        """1, a tag."""
        return 1

    def __call__(self, inputs: Any, state: Any, scope: Any = None) -> tuple[Any, Any]:
        """Makes a step.

        Args:
          inputs: int32 [batch, tags], the tag before each tag.
          state: int32 [batch, 1], a tag.
          scope: not used.

        Returns:
          int32 [batch, 1], the tag before it, as the output and as the state.
        """
        del scope
        tags = tf.gather(inputs, tf.squeeze(state, [1]), axis=1, batch_dims=1)
        before = tf.expand_dims(tags, -1)
        return before, before
