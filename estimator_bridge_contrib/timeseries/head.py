"""Heads: from a model of a series to the spec of an estimator."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import tensorflow as tf

from estimator_bridge.export import PredictOutput
from estimator_bridge.heads import AnyV1Head, MetricKeys
from estimator_bridge.model import EstimatorSpec, ModeKeys
from estimator_bridge_contrib.timeseries.base_model import ModelOutputs
from estimator_bridge_contrib.timeseries.feature_checks import (
    check_predict_features,
    check_train_eval_features,
)
from estimator_bridge_contrib.timeseries.feature_keys import (
    FilteringResults,
    PredictionFeatures,
    SavedModelLabels,
    State,
    TrainEvalFeatures,
)
from estimator_bridge_contrib.timeseries.last_values import last_value, last_values

__all__ = ["OneShotPredictionHead", "TimeSeriesRegressionHead", "state_to_dictionary"]

_v1 = tf.compat.v1
_TIMES, _VALUES = TrainEvalFeatures.TIMES, TrainEvalFeatures.VALUES
_STATE = State.STATE_TUPLE
_STATE_PART = re.compile(rf"^{State.STATE_PREFIX}_(\d+)$")


class _OutputWithoutState(PredictOutput):
    """A prediction whose signature has no inputs for the state."""

    def as_signature_def(self, receiver_tensors: Mapping[str, tf.Tensor]) -> Any:
        """Builds a Predict signature; see the base class."""
        return super().as_signature_def(
            {
                name: tensor
                for name, tensor in receiver_tensors.items()
                if not name.startswith(State.STATE_PREFIX)
            }
        )


class TimeSeriesRegressionHead(AnyV1Head):
    """Makes an estimator's spec of a model.

    An export has three signatures: a prediction from a state, an update of a state by values, and
    such an update of the start state.

    Args:
      model: the model.
      state_manager: says with which state a window begins.
      optimizer: an optimizer of tf.compat.v1.train.
      input_statistics_generator: an InputStatisticsFromMiniBatch; without one, data are not scaled.
      name: the head's name.
    """

    logits_dimension = 1

    def __init__(
        self,
        model: Any,
        state_manager: Any,
        optimizer: Any,
        input_statistics_generator: Any = None,
        name: str | None = None,
    ):
        self.model = model
        self.state_manager = state_manager
        self.optimizer = optimizer
        self.input_statistics_generator = input_statistics_generator
        self.name = name

    def create_loss(  # type: ignore[override]
        self, features: Any, mode: str, logits: Any = None, labels: Any = None
    ) -> ModelOutputs:
        """Computes the loss of windows, with a summary.

        Args:
          features: tensors by name.
          mode: ModeKeys.TRAIN or ModeKeys.EVAL.
          logits: not used.
          labels: as well.
        """
        del logits, labels
        outputs = self.state_manager.define_loss(self.model, features, mode)
        key = f"{MetricKeys.LOSS}/{self.name}" if self.name else MetricKeys.LOSS
        _v1.summary.scalar(key, outputs.loss)
        return outputs

    def create_estimator_spec(  # type: ignore[override]
        self, features: Any, mode: str, labels: Any = None
    ) -> EstimatorSpec:
        """Makes the spec that a model_fn returns.

        Args:
          features: tensors by name; in predictions, with the state.
          mode: one of `ModeKeys`.
          labels: must be None or empty: values are a feature.

        Raises:
          ValueError: a feature is missing or has a wrong shape, there are labels, or the mode is
            unknown.
        """
        with _v1.name_scope(self.name, "head"):
            if labels is not None and not (isinstance(labels, Mapping) and not labels):
                raise ValueError(
                    "The model received a `labels`, which is not supported. Pass "
                    f"'{_TIMES}' and '{_VALUES}' as features."
                )
            features = {name: self._as_tensor(name, value) for name, value in features.items()}
            statistics = None
            if self.input_statistics_generator is not None:
                statistics = self.input_statistics_generator.initialize_graph(
                    features, update_statistics=mode == ModeKeys.TRAIN
                )
            self.model.initialize_graph(input_statistics=statistics)
            features, is_export = self._with_state(features)
            if mode in (ModeKeys.TRAIN, ModeKeys.EVAL):
                check_train_eval_features(features, self.model)
            elif mode == ModeKeys.PREDICT:
                self._check_predict_features(features)
            else:
                raise ValueError(
                    f"Unknown mode '{mode}' passed to model_fn. Use tf.estimator.ModeKeys."
                )
            self.state_manager.initialize_graph(model=self.model, input_statistics=statistics)
            if mode == ModeKeys.TRAIN:
                return self._train_ops(features)
            if mode == ModeKeys.EVAL:
                return self._evaluate_ops(features)
            return self._serving_ops(features) if is_export else self._predict_ops(features)

    def _check_predict_features(self, features: Mapping[str, Any]) -> None:
        """Raises a ValueError if features are not those of a prediction."""
        check_predict_features(features)

    def _as_tensor(self, name: str, value: Any) -> Any:
        """Casts a feature to the type that its name stands for."""
        if name == _TIMES:
            return tf.cast(value, tf.int64)
        if name == _VALUES:
            return tf.cast(value, self.model.dtype)
        if name == _STATE:
            return value  # its types are the model's
        return _v1.convert_to_tensor_or_sparse_tensor(value)

    def _with_state(self, features: dict[str, Any]) -> tuple[dict[str, Any], bool]:
        """Packs an export's tensors of the state; returns whether there are any."""
        parts = {}
        for name, tensor in features.items():
            match = _STATE_PART.search(name)
            if match:
                parts[int(match.group(1))] = tensor
        if not parts:
            return features, False
        rest = {name: value for name, value in features.items() if not _STATE_PART.search(name)}
        rest[_STATE] = tf.nest.pack_sequence_as(
            self.model.get_start_state(), [parts[number] for number in sorted(parts)]
        )
        return rest, True

    def _train_ops(self, features: Any) -> EstimatorSpec:
        with _v1.variable_scope("model", use_resource=True):
            outputs = self.create_loss(features, ModeKeys.TRAIN)
        step = _v1.train.get_global_step()
        train_op = self.optimizer.minimize(outputs.loss, global_step=step)
        return EstimatorSpec(mode=ModeKeys.TRAIN, loss=outputs.loss, train_op=train_op)

    def _evaluate_ops(self, features: Any) -> EstimatorSpec:
        with _v1.variable_scope("model", use_resource=True):
            outputs = self.create_loss(features, ModeKeys.EVAL)
        metrics: dict[str, Any] = {
            name: last_value(name, value) for name, value in outputs.predictions.items()
        }
        metrics[FilteringResults.TIMES] = last_value(
            FilteringResults.TIMES, outputs.prediction_times
        )
        metrics[FilteringResults.STATE_TUPLE] = last_values(
            FilteringResults.STATE_TUPLE, outputs.end_state
        )
        metrics[MetricKeys.LOSS_MEAN] = _v1.metrics.mean(outputs.loss, name="average_loss")
        return EstimatorSpec(
            mode=ModeKeys.EVAL,
            loss=outputs.loss,
            eval_metric_ops=metrics,
            predictions=outputs.predictions,
        )

    def _predict_ops(self, features: Any) -> EstimatorSpec:
        with _v1.variable_scope("model", use_resource=True):
            predictions = self.model.predict(features=features)
        predictions[_TIMES] = features[PredictionFeatures.TIMES]
        return EstimatorSpec(mode=ModeKeys.PREDICT, predictions=predictions)

    def _serving_ops(self, features: Any) -> EstimatorSpec:
        """Makes the three signatures of an export."""
        with _v1.variable_scope("model", use_resource=True):
            predictions = self.model.predict(features=features)
        with _v1.variable_scope("model", reuse=True):
            filtered = self.create_loss(features, ModeKeys.EVAL)
        with _v1.variable_scope("model", reuse=True):
            started = self.model.define_loss(
                features={
                    name: value
                    for name, value in features.items()
                    if not name.startswith(State.STATE_PREFIX)
                },
                mode=ModeKeys.EVAL,
            )
        return _export_spec(
            {
                SavedModelLabels.PREDICT: PredictOutput(predictions),
                SavedModelLabels.FILTER: PredictOutput(state_to_dictionary(filtered.end_state)),
                SavedModelLabels.COLD_START_FILTER: _OutputWithoutState(
                    state_to_dictionary(started.end_state)
                ),
            }
        )


class OneShotPredictionHead(TimeSeriesRegressionHead):
    """A head whose export has one signature, without a state.

    It takes values [batch, n, features], and times [batch, n + m] and what else is known of these;
    it predicts the last m times. See `TimeSeriesRegressionHead` for the arguments.
    """

    def _check_predict_features(self, features: Mapping[str, Any]) -> None:
        """Raises a ValueError if features are not those of a prediction from values."""
        check_predict_features(features, (_TIMES, _VALUES, _STATE), with_other_times=(_VALUES,))

    def _evaluate_ops(self, features: Any) -> EstimatorSpec:
        spec = super()._evaluate_ops(features)
        del spec.eval_metric_ops[_STATE]  # nothing takes it
        return spec

    def _serving_ops(self, features: Any) -> EstimatorSpec:
        """Makes the signature of an export."""
        with _v1.variable_scope("model", use_resource=True):
            observed, future = {}, {}
            length = tf.shape(features[_VALUES])[1]
            for name, value in features.items():
                if name == _VALUES:
                    observed[name] = value
                elif name != _STATE:
                    observed[name] = value[:, :length]
                    future[name] = value[:, length:]
            started = self.model.define_loss(features=observed, mode=ModeKeys.EVAL)
            future[_STATE] = started.end_state
        with _v1.variable_scope("model", reuse=True):
            predictions = self.model.predict(features=future)
        return _export_spec({SavedModelLabels.PREDICT: _OutputWithoutState(predictions)})


def state_to_dictionary(state_tuple: Any) -> dict[str, Any]:
    """Returns the tensors of a state by the names that an export gives them."""
    return {
        f"{State.STATE_PREFIX}_{number:02d}": value
        for number, value in enumerate(tf.nest.flatten(state_tuple))
    }


def _export_spec(outputs: dict[str, Any]) -> EstimatorSpec:
    # A spec of predictions must have some, though nobody reads them in an export.
    return EstimatorSpec(mode=ModeKeys.PREDICT, predictions={}, export_outputs=outputs)
