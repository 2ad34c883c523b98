"""ModelFnOps: what a model_fn of tf.contrib.learn returns."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import tensorflow as tf
from tensorflow.compat.v1 import logging

from estimator_bridge.model import (
    ClassificationOutput,
    EstimatorSpec,
    ModeKeys,
    PredictOutput,
    RegressionOutput,
)
from estimator_bridge_contrib.learn.keys import PredictionKey, ProblemType

__all__ = ["ModelFnOps"]

_v1 = tf.compat.v1
_SERVING = "serving_default"
_MODES = (ModeKeys.TRAIN, ModeKeys.EVAL, ModeKeys.PREDICT)


class _Fields(NamedTuple):
    predictions: Any
    loss: Any
    train_op: Any
    eval_metric_ops: dict[str, Any]
    output_alternatives: Any
    training_chief_hooks: list[Any]
    training_hooks: list[Any]
    scaffold: Any
    mode: str


class ModelFnOps(_Fields):
    """The tensors and operations of a model in a mode.

    Args:
      mode: one of `ModeKeys`.
      predictions: a tensor, or a dict of tensors.
      loss: the loss, a scalar.
      train_op: the operation of a step.
      eval_metric_ops: by name, a tensor, or a tuple (value, update_op).
      output_alternatives: for the signatures of an export, by the name of a model's head, a tuple
        of its `ProblemType` and its predictions by name.
      training_chief_hooks: hooks of a training's chief.
      training_hooks: hooks of a training.
      scaffold: a tf.train.Scaffold.

    Raises:
      ValueError: a value that the mode needs is missing, or a value is invalid.
      TypeError: a hook is not a SessionRunHook.
    """

    def __new__(
        cls,
        mode: str,
        predictions: Any = None,
        loss: Any = None,
        train_op: Any = None,
        eval_metric_ops: Mapping[str, Any] | None = None,
        output_alternatives: Mapping[str, tuple[int, Any]] | None = None,
        training_chief_hooks: Sequence[Any] | None = None,
        training_hooks: Sequence[Any] | None = None,
        scaffold: Any = None,
    ) -> ModelFnOps:
        """Checks the values."""
        if mode not in _MODES:
            raise ValueError(f"Invalid mode {mode}. Use one of {_MODES}.")
        for name, value, modes in (
            ("train_op", train_op, _MODES[:1]),
            ("loss", loss, _MODES[:2]),
            ("predictions", predictions, _MODES[1:]),
        ):
            if value is None and mode in modes:
                raise ValueError(f"Missing {name}. Pass it to ModelFnOps in mode {mode!r}.")
        if eval_metric_ops is not None and not isinstance(eval_metric_ops, dict):
            raise ValueError(f"eval_metric_ops must be a dict. Got {eval_metric_ops!r}.")
        hooks = list(training_hooks or []), list(training_chief_hooks or [])
        for hook in [*hooks[0], *hooks[1]]:
            if not isinstance(hook, _v1.train.SessionRunHook):
                raise TypeError(
                    "All hooks returned from model_fn must be SessionRunHook instances, got "
                    f"instance of {type(hook)}: {hook}"
                )
        return super().__new__(
            cls,
            predictions=None if predictions is None else _tensors(predictions),
            loss=None if loss is None else _scalar(loss),
            train_op=_operation(train_op),
            eval_metric_ops=dict(eval_metric_ops or {}),
            output_alternatives=output_alternatives,
            training_chief_hooks=hooks[1],
            training_hooks=hooks[0],
            scaffold=scaffold,
            mode=mode,
        )

    def estimator_spec(
        self, default_serving_output_alternative_key: str | None = None
    ) -> EstimatorSpec:
        """Returns the same as an EstimatorSpec; its metrics have no "loss", which it adds itself.

        Args:
          default_serving_output_alternative_key: of several heads, the one for the signature
            serving_default.

        Raises:
          ValueError: a problem type is unknown, or the key is needed and names no head.
        """
        metrics = {key: value for key, value in self.eval_metric_ops.items() if key != "loss"}
        return EstimatorSpec(
            mode=self.mode,
            predictions=self.predictions,
            loss=self.loss,
            train_op=self.train_op,
            eval_metric_ops=metrics,
            export_outputs=self._export_outputs(default_serving_output_alternative_key),
            training_chief_hooks=self.training_chief_hooks,
            training_hooks=self.training_hooks,
            scaffold=self.scaffold,
        )

    def _export_outputs(self, default_key: str | None) -> dict[str, Any] | None:
        if not self.output_alternatives:
            return None
        heads = dict(self.output_alternatives)
        if len(heads) > 1 and _SERVING not in heads:
            if default_key not in heads:
                raise ValueError(
                    f"The model has the heads {sorted(heads)}: name the one for requests without a "
                    f"signature in default_output_alternative_key. Got {default_key!r}."
                )
            heads[_SERVING] = heads[default_key]
        return {str(key): _output(*head) for key, head in heads.items()}


class _Classification(ClassificationOutput):
    """The output of a head for classes; a request with several inputs gets all predictions."""

    def __init__(self, scores: Any, classes: Any, predictions: Mapping[str, Any]):
        super().__init__(scores, classes)
        self._predictions = predictions

    def as_signature_def(self, receiver_tensors: Mapping[str, tf.Tensor]) -> Any:
        """Builds the signature."""
        if len(receiver_tensors) == 1:
            return super().as_signature_def(receiver_tensors)
        return PredictOutput(self._predictions).as_signature_def(receiver_tensors)


class _Regression(RegressionOutput):
    """The output of a head for numbers; a request with several inputs gets all predictions."""

    def __init__(self, predictions: Mapping[str, Any]):
        super().__init__(_scores(predictions))
        self._predictions = predictions

    def as_signature_def(self, receiver_tensors: Mapping[str, tf.Tensor]) -> Any:
        """Builds the signature."""
        if len(receiver_tensors) == 1:
            return super().as_signature_def(receiver_tensors)
        return PredictOutput(self._predictions).as_signature_def(receiver_tensors)


def _output(problem_type: int, predictions: Any) -> Any:
    kinds: dict[int, Callable[[Any], Any]] = {
        ProblemType.UNSPECIFIED: PredictOutput,
        ProblemType.LINEAR_REGRESSION: _Regression,
        ProblemType.CLASSIFICATION: _classification,
        ProblemType.LOGISTIC_REGRESSION: _classification,
    }
    if problem_type not in kinds:
        raise ValueError(f"Unknown problem_type={problem_type}. Use one of ProblemType's.")
    return kinds[problem_type](predictions)


def _classification(predictions: Mapping[str, Any]) -> Any:
    classes, scores = predictions.get(PredictionKey.CLASSES), _scores(predictions)
    if classes is None or classes.dtype != tf.string:
        logging.warning("classes is not string, Servo inference will not have class ids.")
        classes = None
    if classes is not None or scores is not None:
        return _Classification(scores, classes, predictions)
    if len(predictions) > 1:
        return PredictOutput(predictions)
    (only,) = predictions.values()
    is_text = only.dtype == tf.string
    return _Classification(None if is_text else only, only if is_text else None, predictions)


def _scores(predictions: Mapping[str, Any]) -> Any:
    scores = predictions.get(PredictionKey.SCORES)
    return predictions.get(PredictionKey.PROBABILITIES) if scores is None else scores


def _tensors(predictions: Any) -> Any:
    convert = _v1.convert_to_tensor_or_sparse_tensor
    if isinstance(predictions, Mapping):
        return {key: convert(value) for key, value in predictions.items()}
    return convert(predictions)


def _scalar(loss: Any) -> tf.Tensor:
    loss = tf.convert_to_tensor(loss)
    if loss.shape.num_elements() not in (None, 1):
        raise ValueError(f"Loss must be scalar: {loss}. Reduce it, for example by tf.reduce_mean.")
    return loss if loss.shape.is_compatible_with([]) else tf.reshape(loss, [])


def _operation(train_op: Any) -> Any:
    if train_op is None or isinstance(train_op, tf.Operation):
        return train_op
    return tf.convert_to_tensor(train_op).op
