"""MetricSpec: which labels, predictions and weights a metric is computed from."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from typing import Any

from tensorflow.compat.v1 import logging

__all__ = ["MetricSpec"]

# The names that a metric's function may have for its arguments, the usual one first.
_NAMES = {
    "labels": ("labels", "label", "targets", "target"),
    "predictions": ("predictions", "prediction", "logits", "logit"),
    "weights": ("weights", "weight"),
}


class MetricSpec:
    """A metric's function, and the keys of the tensors to call it with.

    Args:
      metric_fn: a function of predictions and, optionally, labels and weights, such as those of
        tf.contrib.metrics. It returns a tensor, or a tuple (value, update_op). Its arguments have
        the usual names; an argument for predictions of another name comes first, or after labels.
      prediction_key: the key of the predictions; None if there is one tensor.
      label_key: the key of the labels; None if there is one tensor.
      weight_key: the key of the weights, among the features; None for no weights.

    Raises:
      ValueError: metric_fn has several arguments of one meaning, or none for a given key.
    """

    def __init__(
        self,
        metric_fn: Callable[..., Any],
        prediction_key: str | None = None,
        label_key: str | None = None,
        weight_key: str | None = None,
    ):
        self._name = _name_of(metric_fn)
        needed = {"labels": label_key is not None, "weights": weight_key is not None}
        self._metric_fn = _with_usual_names(metric_fn, self._name, needed)
        self._keys = prediction_key, label_key, weight_key

    @property
    def prediction_key(self) -> str | None:
        """The key of the predictions."""
        return self._keys[0]

    @property
    def label_key(self) -> str | None:
        """The key of the labels."""
        return self._keys[1]

    @property
    def weight_key(self) -> str | None:
        """The key of the weights."""
        return self._keys[2]

    @property
    def metric_fn(self) -> Callable[..., Any]:
        """The function, with arguments labels, predictions and weights."""
        return self._metric_fn

    def __str__(self) -> str:
        prediction_key, label_key, weight_key = self._keys
        return (
            f"MetricSpec(metric_fn={self._name}, prediction_key={prediction_key}, "
            f"label_key={label_key}, weight_key={weight_key})"
        )

    def create_metric_ops(self, inputs: Any, labels: Any, predictions: Any) -> Any:
        """Calls the function.

        Args:
          inputs: the features.
          labels: a tensor, or a dict of tensors.
          predictions: as well.

        Returns:
          The function's result.

        Raises:
          ValueError: a key is given and there is one tensor, or it is not given and there are
            several.
          KeyError: there is no tensor of a key.
        """
        chosen = {
            "predictions": _chosen("prediction", predictions, self.prediction_key),
            "labels": _chosen("label", labels, self.label_key),
            "weights": inputs[self.weight_key] if self.weight_key else None,
        }
        try:
            return self._metric_fn(**chosen)
        except Exception as error:
            logging.error("Could not create metric ops for %s, %s.", self, error)
            raise


def _chosen(kind: str, tensors: Any, key: str | None) -> Any:
    if not isinstance(tensors, Mapping):
        if key:
            raise ValueError(
                f"MetricSpec with {kind}_key specified requires {kind}s dict, got {tensors}. You "
                f"must not provide a {kind}_key if you only have a single Tensor as {kind}s."
            )
        return tensors
    if key:
        if key not in tensors:
            raise KeyError(f"Key '{key}' missing from {list(tensors)}.")
        return tensors[key]
    if len(tensors) != 1:
        raise ValueError(
            f"MetricSpec without specified {kind}_key requires {kind}s tensor or single element "
            f"dict, got {dict(tensors)}. Name one of its keys in {kind}_key."
        )
    return next(iter(tensors.values()))


def _with_usual_names(
    metric_fn: Callable[..., Any], metric: str, needed: Mapping[str, bool]
) -> Callable[..., Any]:
    names = _arguments(metric_fn)
    own = {kind: _own_name(kind, names, metric, needed.get(kind, False)) for kind in _NAMES}
    # Without a known name, predictions are the first argument, or the one after the labels.
    is_first = own["predictions"] is None
    labels_first = is_first and own["labels"] is not None and names[0] == own["labels"]

    def call(labels: Any = None, predictions: Any = None, weights: Any = None) -> Any:
        arguments = {"labels": labels, "predictions": predictions, "weights": weights}
        positional = [labels] if labels_first else []
        positional += [predictions] if is_first else []
        named = {}
        for kind, name in own.items():
            if name is None or (kind == "labels" and labels_first):
                continue
            if kind == "weights" and weights is None:
                continue
            named[name] = arguments[kind]
        return metric_fn(*positional, **named)

    return call


def _own_name(kind: str, names: list[str], metric: str, is_needed: bool) -> str | None:
    matches = [name for name in _NAMES[kind] if name in names]
    if len(matches) > 1:
        raise ValueError(
            f"Ambiguous arguments {matches}, must provide only one of {_NAMES[kind]}: {metric} has "
            "several."
        )
    if not matches and is_needed:
        raise ValueError(f"{_NAMES[kind]} missing from {metric}({', '.join(names)}).")
    if matches and matches[0] != kind:
        logging.warning(
            "Canonical arg %s missing from %s(%s), using %s.", kind, metric, names, matches[0]
        )
    return matches[0] if matches else None


def _arguments(metric_fn: Any) -> list[str]:
    if isinstance(metric_fn, functools.partial):
        return [name for name in _arguments(metric_fn.func) if name not in metric_fn.keywords]
    parameters = inspect.signature(metric_fn).parameters.values()
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return [each.name for each in parameters if each.kind in kinds]


def _name_of(metric_fn: Any) -> str:
    function = metric_fn.func if isinstance(metric_fn, functools.partial) else metric_fn
    return getattr(function, "__name__", str(metric_fn))
