"""Head, and what the heads of one objective share."""

from __future__ import annotations

import abc
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import tensorflow as tf
from tensorflow.compat.v1 import logging

from estimator_bridge_contrib import layers
from estimator_bridge_contrib.learn.configuration import ModeKeys
from estimator_bridge_contrib.learn.heads.centered_bias import (
    centered_bias,
    centered_bias_step,
)
from estimator_bridge_contrib.learn.heads.head_losses import Loss
from estimator_bridge_contrib.learn.keys import MetricKey, PredictionKey
from estimator_bridge_contrib.learn.model_fn_ops import ModelFnOps

__all__ = [
    "Head",
    "HeadOptions",
    "SingleHead",
    "as_classes",
    "check_mode",
    "dense_labels",
    "summarize_loss",
]

_v1 = tf.compat.v1
_MODES = (ModeKeys.TRAIN, ModeKeys.EVAL, ModeKeys.INFER)


class Head(abc.ABC):
    """The end of a model: its loss, predictions, metrics and signatures, from its logits."""

    @property
    @abc.abstractmethod
    def logits_dimension(self) -> int:
        """The last dimension of the logits."""

    @abc.abstractmethod
    def create_model_fn_ops(
        self,
        features: Any,
        mode: str,
        labels: Any = None,
        train_op_fn: Callable[[Any], Any] | None = None,
        logits: Any = None,
        logits_input: Any = None,
        scope: Any = None,
    ) -> ModelFnOps:
        """Makes what a model_fn returns.

        Args:
          features: the batch's features by name; one of them may be weights.
          mode: one of ModeKeys.
          labels: the batch's labels: a tensor, or tensors by name.
          train_op_fn: a function of the loss that returns the train_op; needed in mode TRAIN.
          logits: [batch, logits_dimension].
          logits_input: the output of the last layer, [batch, size], from which the head makes
            logits by a linear layer.
          scope: the variable scope; the head's name by default.

        Raises:
          ValueError: neither or both of logits and logits_input are given, or the mode is unknown.
        """


@dataclass(frozen=True)
class HeadOptions:
    """The arguments that all heads have.

    Attributes:
      label_name: the key of labels that are a dict.
      weight_column_name: the key of weights among the features.
      enable_centered_bias: whether each logit has a bias with its own optimizer.
      head_name: the name of the head, the suffix of its metrics.
    """

    label_name: str | None = None
    weight_column_name: str | None = None
    enable_centered_bias: bool = False
    head_name: str | None = None


class SingleHead(Head):
    """A head with one objective.

    Args:
      logits_dimension: the last dimension of the logits.
      problem_type: one of ProblemType, for signatures.
      loss_fn: the loss.
      options: the arguments that all heads have.

    Raises:
      ValueError: logits_dimension is not positive.
    """

    default_scope = "head"

    def __init__(
        self, logits_dimension: int, problem_type: int, loss_fn: Loss, options: HeadOptions
    ):
        if logits_dimension is None or logits_dimension < 1:
            raise ValueError(f"Invalid logits_dimension {logits_dimension}. It must be at least 1.")
        self._logits_dimension = logits_dimension
        self._problem_type = problem_type
        self._loss_fn = loss_fn
        self._options = options

    @property
    def logits_dimension(self) -> int:
        """The last dimension of the logits."""
        return self._logits_dimension

    @property
    def label_name(self) -> str | None:
        """The key of labels that are a dict."""
        return self._options.label_name

    @property
    def weight_column_name(self) -> str | None:
        """The key of weights among the features."""
        return self._options.weight_column_name

    @property
    def head_name(self) -> str | None:
        """The name of the head."""
        return self._options.head_name

    def create_model_fn_ops(
        self,
        features: Any,
        mode: str,
        labels: Any = None,
        train_op_fn: Callable[[Any], Any] | None = None,
        logits: Any = None,
        logits_input: Any = None,
        scope: Any = None,
    ) -> ModelFnOps:
        """See `Head.create_model_fn_ops`."""
        with _v1.variable_scope(scope, self.head_name or self.default_scope):
            is_labelled = mode != ModeKeys.INFER and labels is not None
            prepared = self._prepared_labels(labels) if is_labelled else None
            logits = self._checked_logits(logits, logits_input)
            check_mode(mode)
            bias = None
            if self._options.enable_centered_bias:
                bias = centered_bias(self.logits_dimension, self.head_name)
                logits = tf.nn.bias_add(logits, bias)
            with _v1.name_scope(None, "predictions", [logits]):
                predictions = self._predictions(logits)
            loss = train_op = metrics = None
            if is_labelled:
                weights = _weights(features, self.weight_column_name)
                loss, reported = self._loss_fn(prepared, logits, weights)
                summarize_loss(self._key(MetricKey.LOSS), reported)
                if mode == ModeKeys.TRAIN:
                    train_op = self._train_op(loss, prepared, train_op_fn, bias, logits, weights)
                with _v1.name_scope("metrics"):
                    metrics_by_key = {
                        MetricKey.LOSS: _v1.metrics.mean(reported),
                        **self._metrics(predictions, prepared, weights),
                    }
                    metrics = {self._key(key): metric for key, metric in metrics_by_key.items()}
            return ModelFnOps(
                mode, predictions, loss, train_op, metrics, self._alternatives(predictions)
            )

    @abc.abstractmethod
    def _predictions(self, logits: tf.Tensor) -> dict[str, Any]:
        """Returns the predictions by name."""

    @abc.abstractmethod
    def _metrics(self, predictions: Mapping[str, Any], labels: Any, weights: Any) -> dict[str, Any]:
        """Returns metrics besides the loss."""

    def _prepared_labels(self, labels: Any) -> Any:
        return dense_labels(labels, self.label_name)

    def _alternatives(self, predictions: Mapping[str, Any]) -> dict[Any, Any]:
        return {self.head_name: (self._problem_type, predictions)}

    def _key(self, key: str) -> str:
        return f"{key}/{self.head_name}" if self.head_name else key

    def _checked_logits(self, logits: Any, logits_input: Any) -> tf.Tensor:
        if logits is None:
            if logits_input is None:
                raise ValueError("Neither logits nor logits_input supplied. Pass one of them.")
            return layers.linear(logits_input, self.logits_dimension, scope="logits")
        if logits_input is not None:
            raise ValueError("Both logits and logits_input supplied. Pass one of them.")
        logits = tf.convert_to_tensor(logits, name="logits")
        if logits.shape.rank is not None:
            _v1.Dimension(logits.shape.as_list()[-1]).assert_is_compatible_with(
                self.logits_dimension
            )
        return logits

    def _train_op(
        self, loss: Any, labels: Any, train_op_fn: Any, bias: Any, logits: Any, weights: Any
    ) -> Any:
        if train_op_fn is None:
            raise ValueError("train_op_fn can not be None in TRAIN mode")
        batch_size = tf.shape(logits)[0]
        bias_step = (
            None
            if bias is None
            else centered_bias_step(bias, batch_size, labels, self._loss_fn, weights)
        )
        with _v1.name_scope(None, "train_op", [loss]):
            train_op = train_op_fn(loss)
            return train_op if bias_step is None else tf.group(train_op, bias_step)


def check_mode(mode: str) -> None:
    """Checks a mode.

    Raises:
      ValueError: it is unknown.
    """
    if mode not in _MODES:
        raise ValueError(f"mode={mode} unrecognized. Use one of {_MODES}.")


def dense_labels(labels: Any, label_name: str | None) -> tf.Tensor:
    """Returns the labels of a head as a tensor.

    Raises:
      ValueError: they are sparse.
    """
    labels = _v1.convert_to_tensor_or_sparse_tensor(labels_of(labels, label_name))
    if isinstance(labels, tf.SparseTensor):
        raise ValueError(
            "SparseTensor is not supported. Convert labels in input_fn with "
            "tf.sparse.to_dense(labels)."
        )
    return labels


def labels_of(labels: Any, label_name: str | None) -> Any:
    """Returns a head's labels, which have a name if there are several."""
    return labels[label_name] if isinstance(labels, Mapping) else labels


def summarize_loss(tag: str, loss: tf.Tensor) -> None:
    """Writes a loss, outside of all name scopes."""
    with _v1.name_scope(""):
        _v1.summary.scalar(tag, tf.identity(loss))


def as_classes(
    head_name: str | None, problem_type: int, predictions: Mapping[str, Any], label_keys: Any = None
) -> dict[Any, Any]:
    """Returns a classifier's output for signatures, which have classes as strings.

    Args:
      head_name: the name of the head.
      problem_type: one of ProblemType.
      predictions: the predictions; probabilities are among them.
      label_keys: the names of the classes; by default their ids.
    """
    probabilities = predictions[PredictionKey.PROBABILITIES]
    with _v1.name_scope(None, "_classification_output_alternatives", [probabilities]):
        batch_size, count = tf.shape(probabilities)[0], tf.shape(probabilities)[1]
        row = tf.expand_dims(label_keys or tf.range(count), axis=0)
        if label_keys:
            classes = tf.tile(row, [batch_size, 1], name="classes_tensor")
        else:
            classes = tf.as_string(tf.tile(row, [batch_size, 1]), name="classes_tensor")
    exported = {PredictionKey.PROBABILITIES: probabilities, PredictionKey.CLASSES: classes}
    return {head_name: (problem_type, exported)}


def _weights(features: Any, name: str | None) -> Any:
    """Returns the weights as a scalar, or with a column for each example."""
    if not name:
        return None
    if name not in features:
        raise ValueError(
            f"Weights {name} missing from features. The features are {sorted(map(str, features))}."
        )
    with _v1.name_scope(None, "weight_tensor"):
        weights = tf.cast(features[name], tf.float32)
        if weights.shape.rank != 1:
            return weights
        logging.warning("Weights %s has shape %s, expanding to make it 2d.", name, weights.shape)
        if isinstance(weights, tf.SparseTensor):
            return tf.sparse.reshape(weights, [-1, 1])
        return tf.reshape(weights, [-1, 1])
