"""Means and accuracies over the calls of an evaluation."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from estimator_bridge_contrib import summary
from estimator_bridge_contrib.eager.metric_base import Metric

__all__ = [
    "Accuracy",
    "BinaryAccuracy",
    "CategoricalAccuracy",
    "Mean",
    "SparseAccuracy",
]

_v1 = tf.compat.v1


class Mean(Metric):
    """The mean of values, which may have weights.

    Args:
      name: see `Metric`.
      dtype: the type of the variables and of the result.
      use_global_variables: see `Metric`.
    """

    def __init__(
        self,
        name: str | None = None,
        dtype: Any = tf.float64,
        use_global_variables: bool = False,
    ):
        super().__init__(name=name, use_global_variables=use_global_variables)
        self.dtype = dtype

    def build(self, *args: Any, **kwargs: Any) -> None:
        """Makes the variables ``numer`` and ``denom``: the sums of values and of weights.

        Args:
          *args: unused.
          **kwargs: unused.
        """
        del args, kwargs
        zeros = _v1.zeros_initializer
        self.numer = self.add_variable("numer", shape=(), dtype=self.dtype, initializer=zeros)
        self.denom = self.add_variable("denom", shape=(), dtype=self.dtype, initializer=zeros)

    def call(self, values: Any, weights: Any = None) -> Any:
        """Adds values.

        Args:
          values: numbers of any shape.
          weights: their weights, of a shape that can be broadcast; by default ones.

        Returns:
          The sum of the values; or, with weights, the weighted values and the weights.
        """
        if weights is None:
            self.denom.assign_add(tf.cast(tf.size(values), self.dtype))
            total = tf.reduce_sum(values)
            self.numer.assign_add(tf.cast(total, self.dtype))
            return total
        weights = tf.cast(weights, self.dtype)
        self.denom.assign_add(tf.reduce_sum(weights))
        weighted = tf.cast(values, self.dtype) * weights
        self.numer.assign_add(tf.reduce_sum(weighted))
        return weighted, weights

    def result(self, write_summary: Any = True) -> tf.Tensor:
        """Returns the mean; not a number before the first value.

        Args:
          write_summary: whether a scalar summary of the metric's name gets the mean, if
            ``tf.contrib.summary`` records; a bool, or a tensor of one.

        Returns:
          A scalar.
        """
        mean = self.numer / self.denom

        def write() -> tf.Tensor:
            summary.scalar(name=self.name, tensor=mean)
            return mean

        tensor = tf.convert_to_tensor(write_summary)
        static_condition = tf.get_static_value(tensor)
        if static_condition is None or tensor.dtype != tf.bool:
            _v1.cond(tensor, write, lambda: mean)
        elif static_condition:
            write()
        return mean


class _Matches(Mean):
    """The share of labels that predictions match; subclasses say what is compared."""

    def __init__(self, name: str | None = None, dtype: Any = tf.float64):
        super().__init__(name=name, dtype=dtype)

    def call(  # type: ignore[override]
        self, labels: Any, predictions: Any, weights: Any = None
    ) -> Any:
        """Compares a batch's predictions with its labels.

        Args:
          labels: the labels.
          predictions: the predictions.
          weights: the labels' weights; by default ones.

        Returns:
          The labels and the predictions as they were compared, and the weights if given.

        Raises:
          tf.errors.InvalidArgumentError: the shapes of labels and predictions do not fit.
        """
        self._check_shapes(labels, predictions)
        labels, predictions = self._comparable(labels, predictions)
        super().call(tf.cast(tf.equal(labels, predictions), self.dtype), weights=weights)
        return (labels, predictions) if weights is None else (labels, predictions, weights)

    def _check_shapes(self, labels: Any, predictions: Any) -> None:
        _v1.assert_equal(
            tf.shape(labels),
            tf.shape(predictions),
            message="Shapes of labels and predictions are unequal",
        )

    def _comparable(self, labels: Any, predictions: Any) -> tuple[Any, Any]:
        return labels, predictions


class Accuracy(_Matches):
    """The share of predictions that equal their labels.

    Args:
      name: see `Metric`.
      dtype: the type of the variables and of the result.
    """


class CategoricalAccuracy(_Matches):
    """The share of examples whose largest prediction is where the label, one-hot, has its 1.

    Args:
      name: see `Metric`.
      dtype: the type of the variables and of the result.
    """

    def _comparable(self, labels: Any, predictions: Any) -> tuple[Any, Any]:
        return tf.argmax(labels, axis=-1), tf.argmax(predictions, axis=-1)


class BinaryAccuracy(_Matches):
    """The share of labels, 0 or 1, that equal whether the prediction exceeds a threshold.

    Args:
      threshold: the threshold: 0.5 for probabilities, 0 for logits.
      name: see `Metric`.
      dtype: the type of the variables and of the result.
    """

    def __init__(self, threshold: float, name: str | None = None, dtype: Any = tf.float64):
        super().__init__(name=name, dtype=dtype)
        self.threshold = threshold

    def _comparable(self, labels: Any, predictions: Any) -> tuple[Any, Any]:
        return tf.cast(labels, tf.bool), tf.convert_to_tensor(predictions) > self.threshold


class SparseAccuracy(_Matches):
    """The share of examples whose largest prediction is at the label's number.

    The labels have the shape [batch], and the predictions [batch, classes].

    Args:
      name: see `Metric`.
      dtype: the type of the variables and of the result.
    """

    def _check_shapes(self, labels: Any, predictions: Any) -> None:
        _v1.assert_equal(
            tf.shape(labels),
            tf.shape(predictions)[0],
            message="First axis of labels and predictions is unequal",
        )

    def _comparable(self, labels: Any, predictions: Any) -> tuple[Any, Any]:
        return tf.cast(labels, tf.int64), tf.argmax(predictions, axis=-1)
