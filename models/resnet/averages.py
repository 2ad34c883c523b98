"""Additions of ResNet's programs: averaged weights, and summaries written by the host."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any

import tensorflow as tf

import estimator_bridge as eb
from models.resnet.schedule import rate_at

__all__ = ["AveragedModel"]

_v1 = tf.compat.v1
# What tf.summary.scalar writes, which needs TensorBoard to be installed.
_SCALAR = _v1.SummaryMetadata(plugin_data={"plugin_name": "scalars"})


class AveragedModel:
    """A model whose evaluation and prediction use moving averages of its weights.

    In training it also writes summaries of the loss, the learning rate and the epoch: on a TPU by a
    host_call, since a core cannot write files.

    Its params, besides those of the model: `ema_decay`, 0 for no averages; `steps_per_epoch`.

    Args:
        model: the model.
    """

    def __init__(self, model: eb.Model):
        self._model = model

    def model_fn(
        self, features: Any, labels: Any, mode: str, params: dict[str, Any], config: Any
    ) -> eb.EstimatorSpec:
        """Builds the model for an `Estimator`."""
        spec = self._model.model_fn(features, labels, mode, params, config)
        averages = _averages(params)
        if mode == eb.ModeKeys.TRAIN:
            for name, value in _scalars(spec.loss, params).items():
                _v1.summary.scalar(name, value)
            return spec._replace(train_op=_then_average(spec.train_op, averages))
        return spec._replace(scaffold=_restoring(averages)) if averages else spec

    def tpu_model_fn(
        self, features: Any, labels: Any, mode: str, params: dict[str, Any], config: Any
    ) -> eb.tpu.TPUEstimatorSpec:
        """Builds the model for a `TPUEstimator`."""
        spec = self._model.tpu_model_fn(features, labels, mode, params, config)
        averages = _averages(params)
        if mode == eb.ModeKeys.TRAIN:
            return spec._replace(
                train_op=_then_average(spec.train_op, averages),
                host_call=_host_call(_scalars(spec.loss, params), config),
            )
        if not averages:
            return spec
        return spec._replace(scaffold_fn=functools.partial(_restoring, averages))


def _averages(params: Mapping[str, Any]) -> Any:
    decay = params["ema_decay"]
    if not decay:
        return None
    # With the number of updates, the averages of the first steps forget their start.
    return _v1.train.ExponentialMovingAverage(decay, _v1.train.get_or_create_global_step())


def _variables() -> list[tf.Variable]:
    """Returns the trained variables, and the moving statistics of batch norm."""
    moving = [v for v in _v1.global_variables() if "/moving_" in v.op.name]
    return [*_v1.trainable_variables(), *moving]


def _then_average(train_op: tf.Operation, averages: Any) -> tf.Operation:
    if averages is None:
        return train_op
    with tf.control_dependencies([train_op]):
        return averages.apply(_variables())


def _restoring(averages: Any) -> tf.compat.v1.train.Scaffold:
    """Returns a scaffold that restores each variable from its average."""
    return _v1.train.Scaffold(saver=_v1.train.Saver(averages.variables_to_restore(_variables())))


def _scalars(loss: tf.Tensor, params: Mapping[str, Any]) -> dict[str, tf.Tensor]:
    step = _v1.train.get_or_create_global_step()
    return {
        "cross_entropy_and_decay": loss,
        "learning_rate": rate_at(step, params),
        "epoch": tf.cast(step, tf.float32) / params["steps_per_epoch"],
    }


def _host_call(values: dict[str, tf.Tensor], config: Any) -> tuple[Any, dict[str, tf.Tensor]]:
    """Returns a host_call: a tensor gets a first dimension, over which replicas are joined."""
    every = config.tpu_config.iterations_per_loop
    step = _v1.train.get_or_create_global_step()
    tensors = {name: tf.reshape(value, [1]) for name, value in values.items()}
    tensors["step"] = tf.reshape(step, [1])

    def write(step: tf.Tensor, **rows: tf.Tensor) -> list[tf.Operation]:
        first_step = step[0]
        writer = tf.summary.create_file_writer(
            config.model_dir, max_queue=1000, filename_suffix=".host_call"
        )
        with writer.as_default(), tf.summary.record_if(tf.equal(first_step % every, 0)):
            for name, value in rows.items():
                tf.summary.write(name, tf.reduce_mean(value), first_step, _SCALAR)
        return _v1.summary.all_v2_summary_ops()

    return write, tensors
