"""SequentialTimeSeriesModel: a model that goes through a series time by time."""

from __future__ import annotations

import abc
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import tensorflow as tf

from estimator_bridge_contrib.timeseries.base_model import ModelOutputs, TimeSeriesModel
from estimator_bridge_contrib.timeseries.feature_keys import (
    PredictionFeatures,
    TrainEvalFeatures,
)
from estimator_bridge_contrib.timeseries.static_shapes import static_size
from estimator_bridge_contrib.timeseries.window_loop import run_window_loop

__all__ = ["SequentialTimeSeriesModel"]

_v1 = tf.compat.v1
_TIMES, _VALUES = TrainEvalFeatures.TIMES, TrainEvalFeatures.VALUES
_STATE = PredictionFeatures.STATE_TUPLE


class SequentialTimeSeriesModel(TimeSeriesModel):
    """Describes a model by what happens at one time of a series.

    For each time, `_imputation_step` brings the state across a gap, `_exogenous_input_step` adds
    what is known besides the series, `_prediction_step` predicts, and while a series is observed,
    `_filtering_step` compares the prediction with the values.

    Args:
      train_output_names: the outputs of `_filtering_step`, besides its loss.
      predict_output_names: the outputs of `_prediction_step`.
      num_features: the number of features.
      normalize_features: whether `_filtering_step` gets scaled values; `_scale_back_predictions`
        then scales the outputs back.
      dtype: the type of the model's floats.
      exogenous_feature_columns: see `TimeSeriesModel`.
      exogenous_update_condition: a function of times [batch] and features by name [batch, ...],
        which returns bool [batch]: where to call `_exogenous_input_step`. By default everywhere.
      static_unrolling_window_size_threshold: up to which size of windows to unroll the loop over
        the times; by default never.
    """

    def __init__(
        self,
        train_output_names: Sequence[str],
        predict_output_names: Sequence[str],
        num_features: int,
        normalize_features: bool = False,
        dtype: Any = tf.float32,
        exogenous_feature_columns: Sequence[Any] | None = None,
        exogenous_update_condition: Callable[..., Any] | None = None,
        static_unrolling_window_size_threshold: int | None = None,
    ):
        super().__init__(
            num_features=num_features,
            exogenous_feature_columns=exogenous_feature_columns,
            dtype=dtype,
        )
        self._exogenous_update_condition = exogenous_update_condition
        self._train_output_names = train_output_names
        self._predict_output_names = predict_output_names
        self._normalize_features = normalize_features
        self._static_unrolling_window_size_threshold = static_unrolling_window_size_threshold

    def _scale_back_predictions(self, predictions: dict[str, Any]) -> dict[str, Any]:
        """Scales a window's outputs back, if values are scaled.

        Raises:
          NotImplementedError: a subclass with normalize_features does not define it.
        """
        raise NotImplementedError(
            "SequentialTimeSeriesModel normalized input data (normalize_features=True), but no "
            "method was provided to transform the predictions back to the input scale: "
            f"{type(self).__name__} has no _scale_back_predictions."
        )

    @abc.abstractmethod
    def _filtering_step(
        self, current_times: Any, current_values: Any, state: Any, predictions: dict[str, Any]
    ) -> tuple[Any, dict[str, Any]]:
        """Compares a prediction with the values of a time.

        Args:
          current_times: [batch].
          current_values: [batch, features].
          state: the state that `_prediction_step` returned.
          predictions: the outputs that it returned.

        Returns:
          The new state, and outputs by name: those of train_output_names, and "loss" [batch].
        """

    @abc.abstractmethod
    def _prediction_step(self, current_times: Any, state: Any) -> tuple[Any, dict[str, Any]]:
        """Predicts a time.

        Args:
          current_times: [batch].
          state: nested tensors, [batch, ...].

        Returns:
          The new state, and the outputs of predict_output_names by name.
        """

    @abc.abstractmethod
    def _imputation_step(self, current_times: Any, state: Any) -> Any:
        """Brings a state up to a time, across a gap; returns the new state."""

    @abc.abstractmethod
    def _exogenous_input_step(
        self, current_times: Any, current_exogenous_regressors: Any, state: Any
    ) -> Any:
        """Adds what is known besides the series, [batch, size]; returns the new state."""

    def _loss_additions(self, times: Any, values: Any, mode: str) -> Any:
        """Returns what to add to the loss, such as a regularization; here 0."""
        del times, values, mode
        return 0.0

    def _window_initializer(self, times: Any, state: Any) -> None:
        """Prepares for a window, before the loop over its times; here for nothing."""

    def get_batch_loss(self, features: Mapping[str, Any], mode: str, state: Any) -> ModelOutputs:
        """Computes the loss of windows; see the base class."""
        loss, states, outputs = self.per_step_batch_loss(features, mode, state)
        outputs["observed"] = features[_VALUES]
        return ModelOutputs(
            loss=loss,
            end_state=tf.nest.map_structure(lambda each: each[:, -1], states),
            predictions=outputs,
            prediction_times=features[_TIMES],
        )

    def per_step_batch_loss(
        self, features: Mapping[str, Any], mode: str, state: Any
    ) -> tuple[Any, Any, dict[str, Any]]:
        """Computes the loss of windows, with the state after each time.

        Args:
          features: see `TimeSeriesModel.define_loss`.
          mode: as well.
          state: the state before each window, [batch, ...].

        Returns:
          The loss, which is the mean over all times; the states, [batch, window, ...]; the outputs
          by name, [batch, window, ...].

        Raises:
          ValueError: `initialize_graph` has not been called.
        """
        self._check_graph_initialized()
        times = tf.cast(features[_TIMES], tf.int64)
        values = tf.cast(features[_VALUES], self.dtype)
        if self._normalize_features:
            values = self._scale_data(values)
        regressors = self._process_exogenous_features(
            times, {k: v for k, v in features.items() if k not in (_TIMES, _VALUES)}
        )

        def filter_step(position: Any, now: Any, state: Any) -> tuple[Any, dict[str, Any]]:
            observed = values[:, position, :]
            state = self._with_exogenous(position, now, state, features, regressors)
            state, predictions = self._prediction_step(current_times=now, state=state)
            return self._filtering_step(
                current_times=now, current_values=observed, state=state, predictions=predictions
            )

        states, outputs = self._state_update_loop(
            times, state, filter_step, ["loss", *self._train_output_names]
        )
        losses = outputs.pop("loss")
        losses.set_shape(times.shape)
        count = tf.cast(tf.reduce_prod(tf.shape(times)), self.dtype)
        loss = tf.reduce_sum(losses) / count + self._loss_additions(times, values, mode)
        if self._normalize_features:
            outputs = self._scale_back_predictions(outputs)
        return loss, states, outputs

    def predict(self, features: Mapping[str, Any]) -> dict[str, Any]:
        """Predicts values; see the base class."""
        times = tf.convert_to_tensor(features[_TIMES], tf.int64)
        regressors = self._process_exogenous_features(
            times, {k: v for k, v in features.items() if k not in (_TIMES, _STATE)}
        )

        def predict_step(position: Any, now: Any, state: Any) -> tuple[Any, dict[str, Any]]:
            state = self._with_exogenous(position, now, state, features, regressors)
            return self._prediction_step(current_times=now, state=state)

        _, outputs = self._state_update_loop(
            times, features[_STATE], predict_step, self._predict_output_names
        )
        return self._scale_back_predictions(outputs) if self._normalize_features else outputs

    def _with_exogenous(
        self, position: Any, now: Any, state: Any, features: Mapping[str, Any], regressors: Any
    ) -> Any:
        """Returns the state with what is known besides the series, where the condition holds."""
        if regressors is None:
            return state
        updated = self._exogenous_input_step(
            current_times=now, current_exogenous_regressors=regressors[:, position, :], state=state
        )
        if self._exogenous_update_condition is None:
            return updated
        raw = {
            name: value[:, position]
            for name, value in features.items()
            if name not in (_STATE, _TIMES, _VALUES)
        }
        chosen = [
            _v1.where(self._exogenous_update_condition(times=now, features=raw), new, old)
            for new, old in zip(tf.nest.flatten(updated), tf.nest.flatten(state))
        ]
        return tf.nest.pack_sequence_as(state, chosen)

    def _state_update_loop(
        self, times: Any, state: Any, state_update_fn: Callable[..., Any], outputs: Sequence[str]
    ) -> tuple[Any, dict[str, Any]]:
        """Runs a step for each time; see `run_window_loop`."""
        times = tf.convert_to_tensor(times, tf.int64)
        size, limit = static_size(times, 1), self._static_unrolling_window_size_threshold
        unroll = limit is not None and size is not None and size <= limit
        self._window_initializer(times, state)

        def step(position: Any, now: Any, state: Any) -> tuple[Any, dict[str, Any]]:
            state = self._imputation_step(current_times=now, state=state)
            return state_update_fn(position, now, state)

        return run_window_loop(times, state, step, outputs, self.dtype, unroll)
