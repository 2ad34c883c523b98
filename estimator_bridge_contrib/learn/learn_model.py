"""A model_fn of tf.contrib.learn as one of tf.estimator."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Generator, Iterator, Mapping
from typing import Any

import tensorflow as tf

from estimator_bridge.model import EstimatorSpec, ModeKeys
from estimator_bridge_contrib.learn.keys import MetricKey, PredictionKey, ProblemType
from estimator_bridge_contrib.learn.metric_spec import MetricSpec
from estimator_bridge_contrib.learn.model_fn_ops import ModelFnOps
from estimator_bridge_contrib.learn.signatures import (
    check_signature,
    placeholders_of,
    signature_of,
)

__all__ = ["LearnModel"]

_v1 = tf.compat.v1
# EstimatorSpec adds a metric "loss" itself, and has predictions by name.
_OWN_LOSS, _ONLY = "contrib_learn_loss", "contrib_learn_predictions"
_HEAD = "default_output_alternative"


class LearnModel:
    """A model_fn, and what has to be known from one mode to the next.

    Args:
      model_fn: see `Estimator`.
      params: hyperparameters for it.
      feature_engineering_fn: a function of features and labels that returns those for model_fn.
    """

    def __init__(
        self,
        model_fn: Callable[..., Any],
        params: Any = None,
        feature_engineering_fn: Callable[..., Any] | None = None,
    ):
        self.params = params
        self._model_fn = model_fn
        self._engineered = feature_engineering_fn or (lambda features, labels: (features, labels))
        # Their signatures, once the model was trained or evaluated.
        self._features: Any = None
        self._labels: Any = None

    def ops(self, features: Any, labels: Any, mode: str, config: Any = None) -> ModelFnOps:
        """Builds the model in a mode."""
        features, labels = self._engineered(features, labels)
        return self._built(features, labels, mode, config)

    def _built(self, features: Any, labels: Any, mode: str, config: Any) -> ModelFnOps:
        names = inspect.signature(self._model_fn).parameters
        optional = {
            "mode": mode,
            "params": self.params,
            "config": config,
            "model_dir": getattr(config, "model_dir", None),
        }
        arguments = {name: value for name, value in optional.items() if name in names}
        result = self._model_fn(features, labels, **arguments)
        if isinstance(result, ModelFnOps):
            return result
        if not isinstance(result, (tuple, list)) or len(result) != 3:
            raise ValueError(
                "Unrecognized value returned by model_fn, please return ModelFnOps. Got "
                f"{result!r}; a tuple (predictions, loss, train_op) is accepted too."
            )
        predictions, loss, train_op = result
        return ModelFnOps(mode, predictions, loss, train_op)

    def for_export(self, default_head: str | None) -> Callable[..., EstimatorSpec]:
        """Returns a model_fn for tf.estimator that has signatures.

        Args:
          default_head: of several heads, the one for the signature serving_default.
        """

        def model_fn(features: Any, labels: Any, mode: str, config: Any) -> EstimatorSpec:
            ops = self._to_predict(features, labels, config)
            return _for_serving(ops).estimator_spec(default_head)

        return model_fn

    def outputs(self, features: Any, config: Any, head: str | None) -> Mapping[str, Any]:
        """Builds the model for predictions, and returns the outputs of one of its heads.

        Args:
          features: the features.
          config: the estimator's configuration.
          head: its name; None for the only one.

        Raises:
          ValueError: there is no such head, or several and none is named.
        """
        ops = self._to_predict(features, None, config)
        heads = _for_serving(ops).output_alternatives
        alternatives = ops.output_alternatives or {}
        if head is not None and head not in alternatives:
            raise ValueError(
                f"Requested default_output_alternative: {head}, but available output_alternatives "
                f"are: {sorted(alternatives)}"
            )
        if head is None and len(heads) > 1:
            raise ValueError(
                "Please specify a default_output_alternative.  Available output_alternatives are: "
                f"{sorted(heads)}"
            )
        _, outputs = heads[head or next(iter(heads))]
        return outputs

    def with_metrics(self, metrics: Mapping[str, Any] | None) -> Callable[..., EstimatorSpec]:
        """Returns a model_fn for tf.estimator, to train, evaluate and predict.

        Args:
          metrics: further metrics; see `BaseEstimator.evaluate`.
        """

        def model_fn(features: Any, labels: Any, mode: str, config: Any) -> EstimatorSpec:
            if mode == ModeKeys.PREDICT:
                ops = self._to_predict(features, labels, config)
                return _for_serving(ops)._replace(output_alternatives=None).estimator_spec()
            self._check(features, labels)
            features, labels = self._engineered(features, labels)
            ops = self._built(features, labels, mode, config)
            all_metrics = dict(ops.eval_metric_ops)
            if mode == ModeKeys.EVAL and metrics:
                all_metrics.update(_called(metrics, features, labels, ops.predictions))
            if MetricKey.LOSS in all_metrics:
                all_metrics[_OWN_LOSS] = all_metrics.pop(MetricKey.LOSS)
            streamed = {name: _streamed(value) for name, value in all_metrics.items()}
            heads = None  # they are for exports
            return ops._replace(
                eval_metric_ops=streamed, output_alternatives=heads
            ).estimator_spec()

        return model_fn

    def _check(self, features: Any, labels: Any) -> None:
        """Compares inputs with those of the first call."""
        if self._features is None:
            self._features = signature_of(features)
        check_signature("Features", features, self._features)
        if labels is not None:
            if self._labels is None:
                self._labels = signature_of(labels)
            check_signature("Labels", labels, self._labels)

    def _to_predict(self, features: Any, labels: Any, config: Any) -> ModelFnOps:
        if labels is None and self._labels is not None:
            # Many model functions compute their loss in all modes.
            labels = placeholders_of(self._labels)
        features, labels = self._engineered(features, labels)
        return self._built(features, labels, ModeKeys.PREDICT, config)

    def with_own_loss(self, metrics: dict[str, Any]) -> dict[str, Any]:
        """Returns an evaluation's metrics, with the model's own metric "loss" if it has one."""
        own = metrics.pop(_OWN_LOSS, None)
        return metrics if own is None else {**metrics, MetricKey.LOSS: own}

    def as_predicted(self, predictions: Iterator[dict[str, Any]]) -> Generator[Any, None, None]:
        """Yields predictions as the model returned them: by name, or a single array."""
        for each in predictions:
            yield each.get(_ONLY, each)


def _for_serving(ops: ModelFnOps) -> ModelFnOps:
    """Returns what predictions and exports need; a model without heads gets one head."""
    by_name = dict(ops.predictions) if isinstance(ops.predictions, Mapping) else None
    heads = ops.output_alternatives
    if not heads:
        predictions = by_name or {PredictionKey.GENERIC: ops.predictions}
        heads = {_HEAD: (ProblemType.UNSPECIFIED, predictions)}
    return ops._replace(
        predictions=by_name or {_ONLY: ops.predictions},
        output_alternatives=heads,
        loss=None,
        train_op=None,
        eval_metric_ops={},
    )


def _called(
    metrics: Mapping[Any, Any], features: Any, labels: Any, predictions: Any
) -> dict[str, Any]:
    """Returns metrics' tensors; a name may be a tuple of a name and the key of predictions."""
    results = {}
    for key, metric in metrics.items():
        if isinstance(metric, MetricSpec):
            results[key] = metric.create_metric_ops(features, labels, predictions)
            continue
        name, of = key if isinstance(key, tuple) else (key, None)
        if of is not None and not isinstance(predictions, Mapping):
            raise ValueError(
                f"Metrics passed provide (name, prediction), but predictions are not dict. "
                f"Metrics: {metrics}, Predictions: {predictions}."
            )
        if of is None and isinstance(predictions, Mapping) and len(predictions) != 1:
            raise ValueError(
                f"Metrics without specified prediction key requires predictions to be a single "
                f"tensor: the metric {name!r} could be of any of {sorted(predictions)}. Use "
                f"MetricSpec(metric_fn, prediction_key=...)."
            )
        if isinstance(predictions, Mapping):
            chosen = next(iter(predictions.values())) if of is None else predictions[of]
        else:
            chosen = predictions
        results[name] = metric(chosen, labels)
    return results


def _streamed(metric: Any) -> Any:
    """Returns a value and its update; a tensor without an update keeps the last batch's value."""
    if isinstance(metric, (tuple, list)):
        return tuple(metric)
    value = tf.convert_to_tensor(metric)
    variable = _v1.Variable(
        _v1.placeholder_with_default(tf.zeros([], value.dtype), shape=None),
        trainable=False,
        collections=[_v1.GraphKeys.LOCAL_VARIABLES, _v1.GraphKeys.METRIC_VARIABLES],
        validate_shape=False,
        name="last_value",
    )
    return tf.identity(variable), _v1.assign(variable, value, validate_shape=False)
