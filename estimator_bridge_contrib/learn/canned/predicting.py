"""The methods that canned classifiers and regressors of tf.contrib.learn add to an estimator."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import tensorflow as tf

from estimator_bridge_contrib.learn.estimator import Estimator
from estimator_bridge_contrib.learn.keys import PredictionKey
from estimator_bridge_contrib.learn.metric_spec import MetricSpec

__all__ = [
    "CannedEstimator",
    "ClassPredictor",
    "Classifier",
    "Regressor",
    "check_columns",
    "without_names",
]


class CannedEstimator(Estimator):
    """An estimator whose model_fn is in this library."""

    def _predicted(self, key: str, arguments: Mapping[str, Any], as_iterable: bool) -> Any:
        predictions = super().predict(**arguments, outputs=[key], as_iterable=as_iterable)
        return _each(predictions, key) if as_iterable else predictions[key]


class ClassPredictor(CannedEstimator):
    """An estimator that predicts classes."""

    def predict_classes(
        self,
        x: Any = None,
        input_fn: Callable[[], Any] | None = None,
        batch_size: int | None = None,
        as_iterable: bool = True,
    ) -> Any:
        """Predicts classes: their ids, or their names if the estimator has label_keys.

        Args:
          x: arrays of features, if there is no input_fn.
          input_fn: returns features, or a dataset of them.
          batch_size: the number of examples of a batch of x; by default all.
          as_iterable: whether to return an iterator over examples; otherwise those of a batch.

        Returns:
          An iterator, or an array [batch].
        """
        arguments = {"x": x, "input_fn": input_fn, "batch_size": batch_size}
        return self._predicted(PredictionKey.CLASSES, arguments, as_iterable)


class Classifier(ClassPredictor):
    """An estimator that predicts classes and their probabilities."""

    def predict(  # type: ignore[override]
        self,
        x: Any = None,
        input_fn: Callable[[], Any] | None = None,
        batch_size: int | None = None,
        outputs: Sequence[str] | None = None,
        as_iterable: bool = True,
    ) -> Any:
        """Predicts classes; with outputs, the predictions of these names.

        Args:
          x: arrays of features, if there is no input_fn.
          input_fn: returns features, or a dataset of them.
          batch_size: the number of examples of a batch of x; by default all.
          outputs: names of predictions, such as those of PredictionKey.
          as_iterable: whether to return an iterator over examples; otherwise those of a batch.

        Returns:
          See `predict_classes`; with outputs, arrays by name.
        """
        if not outputs:
            return self.predict_classes(x, input_fn, batch_size, as_iterable)
        return super().predict(x, input_fn, batch_size, outputs, as_iterable)

    def predict_proba(
        self,
        x: Any = None,
        input_fn: Callable[[], Any] | None = None,
        batch_size: int | None = None,
        as_iterable: bool = True,
    ) -> Any:
        """Predicts the probabilities of all classes.

        Args:
          x: arrays of features, if there is no input_fn.
          input_fn: returns features, or a dataset of them.
          batch_size: the number of examples of a batch of x; by default all.
          as_iterable: whether to return an iterator over examples; otherwise those of a batch.

        Returns:
          An iterator over arrays [n_classes], or an array [batch, n_classes].
        """
        arguments = {"x": x, "input_fn": input_fn, "batch_size": batch_size}
        return self._predicted(PredictionKey.PROBABILITIES, arguments, as_iterable)


class Regressor(CannedEstimator):
    """An estimator that predicts numbers."""

    def evaluate(
        self,
        x: Any = None,
        y: Any = None,
        input_fn: Callable[[], Any] | None = None,
        feed_fn: Callable[[], Any] | None = None,
        batch_size: int | None = None,
        steps: int | None = None,
        metrics: Mapping[Any, Any] | None = None,
        name: str | None = None,
        checkpoint_path: str | None = None,
        hooks: Sequence[Any] | None = None,
        log_progress: bool = True,
    ) -> dict[str, Any]:
        """Computes metrics; see `BaseEstimator.evaluate`. A function in metrics gets the scores."""
        if metrics:
            metrics = {
                key
                if isinstance(metric, MetricSpec) or isinstance(key, tuple)
                else (key, PredictionKey.SCORES): metric
                for key, metric in metrics.items()
            }
        return super().evaluate(
            x, y, input_fn, feed_fn, batch_size, steps, metrics, name, checkpoint_path, hooks,
            log_progress,
        )  # fmt: skip

    def predict(  # type: ignore[override]
        self,
        x: Any = None,
        input_fn: Callable[[], Any] | None = None,
        batch_size: int | None = None,
        outputs: Sequence[str] | None = None,
        as_iterable: bool = True,
    ) -> Any:
        """Predicts numbers; with outputs, the predictions of these names.

        Args:
          x: arrays of features, if there is no input_fn.
          input_fn: returns features, or a dataset of them.
          batch_size: the number of examples of a batch of x; by default all.
          outputs: names of predictions, such as those of PredictionKey.
          as_iterable: whether to return an iterator over examples; otherwise those of a batch.

        Returns:
          See `predict_scores`; with outputs, arrays by name.
        """
        if not outputs:
            return self.predict_scores(x, input_fn, batch_size, as_iterable)
        return super().predict(x, input_fn, batch_size, outputs, as_iterable)

    def predict_scores(
        self,
        x: Any = None,
        input_fn: Callable[[], Any] | None = None,
        batch_size: int | None = None,
        as_iterable: bool = True,
    ) -> Any:
        """Predicts numbers.

        Args:
          x: arrays of features, if there is no input_fn.
          input_fn: returns features, or a dataset of them.
          batch_size: the number of examples of a batch of x; by default all.
          as_iterable: whether to return an iterator over examples; otherwise those of a batch.

        Returns:
          An iterator, or an array: [batch], or [batch, label_dimension] for several labels.
        """
        arguments = {"x": x, "input_fn": input_fn, "batch_size": batch_size}
        return self._predicted(PredictionKey.SCORES, arguments, as_iterable)


def check_columns(linear: Iterable[Any] | None, dnn: Iterable[Any] | None) -> tuple[Any, Any]:
    """Returns the columns of a wide and deep model as tuples.

    Raises:
      ValueError: there are none.
    """
    both = tuple(linear or ()), tuple(dnn or ())
    if not both[0] + both[1]:
        raise ValueError("Either linear_feature_columns or dnn_feature_columns must be defined.")
    return both


def without_names(features: Any) -> dict[str, tf.Tensor]:
    """Returns features by name; a single tensor has the name ''."""
    return features if isinstance(features, dict) else {"": features}


def _each(predictions: Iterator[Mapping[str, Any]], key: str) -> Iterator[Any]:
    for example in predictions:
        yield example[key]
