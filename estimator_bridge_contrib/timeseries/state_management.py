"""State managers: with which state a model begins a window."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from estimator_bridge.model import ModeKeys
from estimator_bridge_contrib.timeseries.base_model import ModelOutputs
from estimator_bridge_contrib.timeseries.feature_keys import (
    FilteringFeatures,
    TrainEvalFeatures,
)
from estimator_bridge_contrib.timeseries.state_tables import (
    TupleOfTensorsLookup,
    replicate_state,
)

__all__ = ["ChainingStateManager", "FilteringOnlyStateManager", "PassthroughStateManager"]

_v1 = tf.compat.v1
_TIMES = TrainEvalFeatures.TIMES
_STATE = FilteringFeatures.STATE_TUPLE


class PassthroughStateManager:
    """Begins each window with the model's start state."""

    def __init__(self) -> None:
        self._input_statistics: Any = None
        self._graph_initialized = False

    def initialize_graph(self, model: Any, input_statistics: Any = None) -> None:
        """Prepares for the current graph.

        Args:
          model: the model, initialized in this graph.
          input_statistics: statistics of the series, or None.
        """
        del model
        self._graph_initialized = True
        self._input_statistics = input_statistics

    def define_loss(self, model: Any, features: dict[str, Any], mode: str) -> ModelOutputs:
        """Computes a model's loss of windows.

        Args:
          model: the model.
          features: tensors by name.
          mode: ModeKeys.TRAIN or ModeKeys.EVAL.

        Raises:
          ValueError: the features have a state.
        """
        if _STATE in features:
            raise ValueError(
                "Overriding start state is not supported for this model. Leave the feature "
                f"'{_STATE}' out, or use another state manager."
            )
        return model.define_loss(features, mode)


class _OverridableStateManager(PassthroughStateManager):
    """Takes a state from the features if there is one."""

    def _define_loss_with_saved_state(
        self, model: Any, features: dict[str, Any], mode: str
    ) -> ModelOutputs:
        """Computes the loss of windows for which no state is given."""
        raise NotImplementedError(f"{type(self).__name__} has no _define_loss_with_saved_state.")

    def define_loss(self, model: Any, features: dict[str, Any], mode: str) -> ModelOutputs:
        """Computes a model's loss of windows; the features may have a state to begin with.

        Raises:
          ValueError: the features have a state in training.
        """
        if _STATE not in features:
            return self._define_loss_with_saved_state(model=model, features=features, mode=mode)
        if mode == ModeKeys.TRAIN:
            raise ValueError(
                "Overriding saved state for training is not supported (but a value for feature "
                f"{_STATE} was specified)."
            )
        state = features.pop(_STATE)
        return model.get_batch_loss(features=features, mode=mode, state=state)


class FilteringOnlyStateManager(_OverridableStateManager):
    """Takes a state from the features, or begins with the start state.

    Models of windows, such as `ARModel`, need no state in training.
    """

    def _define_loss_with_saved_state(
        self, model: Any, features: dict[str, Any], mode: str
    ) -> ModelOutputs:
        return model.define_loss(features, mode)


class ChainingStateManager(_OverridableStateManager):
    """Begins a window with the state that an earlier step left for its first time.

    So a model can be trained on windows of a long series in any order. States are kept in tables,
    one for each interval of times.

    Args:
      state_saving_interval: the length of the intervals. A model fills the gap between the
        beginning of an interval and a window's.
      checkpoint_state: whether checkpoints have the tables. Otherwise the states are computed
        anew, which takes some steps.
    """

    def __init__(self, state_saving_interval: int = 20, checkpoint_state: bool = False):
        super().__init__()
        self._checkpoint_state = checkpoint_state
        self._state_saving_interval = state_saving_interval
        self._start_state: Any = None
        self._cached_states: Any = None

    def initialize_graph(self, model: Any, input_statistics: Any = None) -> None:
        """Makes the tables; see the base class."""
        super().initialize_graph(model=model, input_statistics=input_statistics)
        self._start_state = model.get_start_state()
        self._cached_states = TupleOfTensorsLookup(
            key_dtype=tf.int64,
            default_values=self._start_state,
            empty_key=-1,
            deleted_key=-2,
            name="cached_states",
            checkpoint=self._checkpoint_state,
        )

    def _define_loss_with_saved_state(
        self, model: Any, features: dict[str, Any], mode: str
    ) -> ModelOutputs:
        if not self._graph_initialized:
            raise ValueError(
                "ChainingStateManager requires initialize_graph() to be called before use."
            )
        times = features[_TIMES]
        loss, states, predictions = model.per_step_batch_loss(
            features=features, mode=mode, state=self._states_before(times[:, 0])
        )
        saved = self._save(times, states)
        last = tf.nest.map_structure(lambda each: each[:, -1], states)
        with tf.control_dependencies([saved]):
            loss = tf.identity(loss)
        predictions["observed"] = features[TrainEvalFeatures.VALUES]
        return ModelOutputs(
            loss=loss,
            end_state=tf.nest.map_structure(lambda each: each[-1][None], last),
            predictions=predictions,
            prediction_times=times,
        )

    def _get_chunk_number(self, time: Any) -> Any:
        return time // self._state_saving_interval

    def _states_before(self, starts: Any) -> Any:
        """Returns the states of times [batch]: the start state for the first interval.

        Gradients reach a trained start state that way; a table has none.
        """
        numbers = self._get_chunk_number(starts)
        states = self._cached_states.lookup(tf.cast(numbers, tf.int64))
        begin = 0 if self._input_statistics is None else self._input_statistics.start_time
        is_first = tf.equal(numbers, self._get_chunk_number(begin))
        first = replicate_state(self._start_state, tf.shape(starts)[0])
        chosen = [
            _v1.where(is_first, start, cached)
            for start, cached in zip(tf.nest.flatten(first), tf.nest.flatten(states))
        ]
        return tf.nest.pack_sequence_as(states, chosen)

    def _save(self, times: Any, states: Any) -> tf.Operation:
        """Writes the state after each time of a window, for the interval of the next time."""
        following = tf.concat([times[:, 1:], times[:, -1:] + 1], axis=1)
        # A state never replaces that of its own interval. Of several, the last one stays.
        numbers = tf.maximum(self._get_chunk_number(following), self._get_chunk_number(times) + 1)
        return self._cached_states.insert(keys=numbers, values=states)
