"""Adds metrics to an estimator."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from estimator_bridge.model import ModeKeys, TPUEstimatorSpec, describe_fn, fn_args
from estimator_bridge.tpu import TPUEstimator
from estimator_bridge.training import Estimator
from estimator_bridge.training.model_call import call_model_fn

__all__ = ["add_metrics"]

_ARGUMENTS = ("features", "labels", "predictions", "config")


def add_metrics(estimator: Estimator, metric_fn: Callable[..., Any]) -> Estimator:
    """Makes a copy of an Estimator with more evaluation metrics.

    Args:
      estimator: the original; the new Estimator uses the same model_dir.
      metric_fn: takes any of features, labels, predictions, config; returns metrics by name, as
        in EstimatorSpec's eval_metric_ops. They replace the model's metrics of the same names.

    Returns:
      The new Estimator.

    Raises:
      ValueError: metric_fn takes other arguments.
      NotImplementedError: estimator is a TPUEstimator.
    """
    argument_names = fn_args(metric_fn)
    unknown = [name for name in argument_names if name not in _ARGUMENTS]
    if unknown:
        raise ValueError(
            f"metric_fn ({describe_fn(metric_fn)}) has following not expected args: {unknown}. It "
            f"may take {list(_ARGUMENTS)}; bind others with functools.partial."
        )
    if isinstance(estimator, TPUEstimator):
        raise NotImplementedError(
            "add_metrics makes an Estimator for one device, but got a TPUEstimator. Add the "
            "metrics to the eval_metrics of its model_fn's TPUEstimatorSpec instead."
        )
    original_fn = estimator._model_fn

    def model_fn(features, labels, mode, params, config):
        spec = call_model_fn(original_fn, features, labels, mode, params, config)
        if mode != ModeKeys.EVAL:
            return spec
        if isinstance(spec, TPUEstimatorSpec):
            spec = spec.as_estimator_spec()
        argument_values = {
            "features": features,
            "labels": labels,
            "predictions": spec.predictions,
            "config": config,
        }
        metrics = metric_fn(**{name: argument_values[name] for name in argument_names})
        return spec._replace(eval_metric_ops={**(spec.eval_metric_ops or {}), **metrics})

    return Estimator(
        model_fn,
        model_dir=estimator.model_dir,
        config=estimator.config,
        params=estimator.params,
        warm_start_from=estimator._warm_start_settings,
    )
