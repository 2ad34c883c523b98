"""The outputs of an exported training or evaluation step: loss, predictions and metrics."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import tensorflow as tf

from estimator_bridge.model import ExportOutput

__all__ = ["EvalOutput", "TrainOutput"]


class _SupervisedOutput(ExportOutput):
    """The outputs of a step on features and labels; see `EvalOutput`."""

    _method_name: str

    def __init__(self, loss: Any = None, predictions: Any = None, metrics: Any = None):
        self._loss = None if loss is None else _with_prefix("loss", loss)
        self._predictions = (
            None if predictions is None else _with_prefix("predictions", predictions)
        )
        self._metrics = None if metrics is None else _metric_tensors(metrics)

    @property
    def loss(self) -> dict[str, tf.Tensor] | None:
        """Tensors by name: "loss", or "loss/NAME" for each name given."""
        return self._loss

    @property
    def predictions(self) -> dict[str, tf.Tensor] | None:
        """Tensors by name: "predictions", or "predictions/NAME"."""
        return self._predictions

    @property
    def metrics(self) -> dict[str, tf.Tensor] | None:
        """Tensors by name: "metrics/NAME/value" and "metrics/NAME/update_op" for each metric."""
        return self._metrics

    def as_signature_def(self, receiver_tensors: Mapping[str, tf.Tensor]) -> Any:
        """Builds the step's SignatureDef; see the base class."""
        if not receiver_tensors:
            raise ValueError(f"{self._method_name} `inputs` cannot be None or empty.")
        info = tf.compat.v1.saved_model.build_tensor_info
        outputs = {**(self.loss or {}), **(self.predictions or {}), **(self.metrics or {})}
        return tf.compat.v1.saved_model.build_signature_def(
            {name: info(tensor) for name, tensor in receiver_tensors.items()},
            {name: info(tensor) for name, tensor in outputs.items()},
            self._method_name,
        )


class TrainOutput(_SupervisedOutput):
    """The outputs of a training step; see `EvalOutput` for the arguments."""

    _method_name = "tensorflow/supervised/training"


class EvalOutput(_SupervisedOutput):
    """The outputs of an evaluation step.

    Args:
      loss: a tensor, or tensors by name.
      predictions: a tensor, or tensors by name.
      metrics: (value, update) pairs by name, or one pair; or tf_keras metrics with one update each.

    Raises:
      ValueError: a name is not a string, or a value is not a tensor.
    """

    _method_name = "tensorflow/supervised/eval"


def _with_prefix(kind: str, outputs: Any) -> dict[str, tf.Tensor]:
    """Prefixes the names of tensors with their kind; a single tensor is named by its kind."""
    outputs_by_name = outputs if isinstance(outputs, Mapping) else {kind: outputs}
    tensors = {_name(kind, key): value for key, value in outputs_by_name.items()}
    for name, value in tensors.items():
        if not isinstance(value, tf.Tensor):
            raise ValueError(f"{kind} output value must be a Tensor; got {value!r} for {name!r}.")
    return tensors


def _metric_tensors(metrics: Any) -> dict[str, tf.Tensor]:
    metrics_by_name = metrics if isinstance(metrics, Mapping) else {"metrics": metrics}
    outputs: dict[str, tf.Tensor] = {}
    for key, metric in metrics_by_name.items():
        name = _name("metrics", key)
        value, update = metric if isinstance(metric, tuple) else _keras_pair(name, metric)
        if not isinstance(value, tf.Tensor):
            raise ValueError(f"{name} output value must be a Tensor; got {value!r}.")
        if not isinstance(update, (tf.Tensor, tf.Variable, tf.Operation)):
            raise ValueError(f"{name} update_op must be a Tensor or Operation; got {update!r}.")
        outputs[f"{name}/value"] = value
        outputs[f"{name}/update_op"] = _as_tensor(update)
    return outputs


def _keras_pair(name: str, metric: Any) -> tuple[Any, Any]:
    updates = list(getattr(metric, "updates", ()))
    if len(updates) != 1:
        raise ValueError(
            f"{name} must be a (value, update_op) pair, or a tf_keras metric with one update; got "
            f"{metric!r} with {len(updates)}. Call update_state(...) on a metric once."
        )
    return metric.result(), updates[0]


def _as_tensor(update: Any) -> tf.Tensor:
    """Converts the update to a tensor, since a signature returns only tensors."""
    if isinstance(update, tf.Tensor):
        return update
    with tf.control_dependencies([update]):
        return tf.constant([], name="metric_op_wrapper")


def _name(kind: str, key: Any) -> str:
    name = "/".join(key) if isinstance(key, tuple) else key
    if not isinstance(name, str):
        raise ValueError(f"{kind} output key must be a string; got {name!r}.")
    return name if name.startswith(kind) else f"{kind}/{name}"
