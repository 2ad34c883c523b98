"""Calls a model_fn, and checks its arguments and its result."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tensorflow.compat.v1 import logging

from estimator_bridge.model import EstimatorSpec, RunConfig, TPUEstimatorSpec, describe_fn, fn_args
from estimator_bridge.training.params import shown_params

__all__ = ["call_model_fn", "check_model_fn"]

_ARGUMENTS = ("features", "labels", "mode", "params", "config")


def check_model_fn(
    model_fn: Callable[..., Any] | None, params: Mapping[str, Any] | None
) -> Callable[..., Any]:
    """Checks a model_fn's signature before anything is built.

    Returns:
      The model_fn.

    Raises:
      ValueError: it is not a function, lacks features, has an unknown argument, or does not
        take the given params.
    """
    if not callable(model_fn):
        kind = ValueError if model_fn is None else TypeError  # as in the original
        raise kind(
            f"model_fn must be provided to Estimator as a function, got {model_fn!r}, which is not "
            "a callable object."
        )
    parameters = fn_args(model_fn)
    if "features" not in parameters:
        raise ValueError(
            f"model_fn ({describe_fn(model_fn)}) must include features argument. It is called by "
            f"name with those that it takes of {list(_ARGUMENTS)}."
        )
    if params is not None and "params" not in parameters:
        raise ValueError(
            f"model_fn ({describe_fn(model_fn)}) does not include params argument, but params "
            f"({shown_params(params)}) is passed to Estimator. Add a params argument to it."
        )
    if params is None and "params" in parameters:
        logging.warning(
            "Estimator's model_fn (%s) includes params argument, but params are not passed to "
            "Estimator.",
            model_fn,
        )
    unknown = [name for name in parameters if name not in _ARGUMENTS]
    if unknown:
        raise ValueError(
            f"model_fn ({describe_fn(model_fn)}) has following not expected args: {unknown}. It "
            f"may take {list(_ARGUMENTS)}; bind others with functools.partial."
        )
    return model_fn


def call_model_fn(
    model_fn: Callable[..., Any],
    features: Any,
    labels: Any,
    mode: str,
    params: Mapping[str, Any],
    config: RunConfig,
    runs_on: str | None = None,
) -> Any:
    """Calls a checked model_fn in the default graph.

    Args:
      model_fn: a checked model_fn.
      features: the features of the batch.
      labels: the labels of the batch; None if it has none.
      mode: one of ModeKeys.
      params: the params, for a model_fn that takes them.
      config: the RunConfig, for a model_fn that takes it.
      runs_on: the device that the log names, if any.

    Returns:
      Its EstimatorSpec or TPUEstimatorSpec.

    Raises:
      ValueError: there are labels and it takes none, or it did not return a spec of this mode.
    """
    parameters = fn_args(model_fn)
    arguments = {"features": features}
    if "labels" in parameters:
        arguments["labels"] = labels
    elif labels is not None:
        raise ValueError(
            "model_fn does not take labels, but input_fn returns labels: "
            f"{describe_fn(model_fn)}. Add a labels argument to it, or return features alone."
        )
    argument_values = {"mode": mode, "params": params, "config": config}
    arguments.update({name: value for name, value in argument_values.items() if name in parameters})
    logging.info("Calling model_fn.")
    if runs_on:
        logging.info("Running %s on %s", mode, runs_on)
    spec = model_fn(**arguments)
    logging.info("Done calling model_fn.")
    if not isinstance(spec, (EstimatorSpec, TPUEstimatorSpec)):
        raise ValueError(
            "model_fn should return an EstimatorSpec (or a TPUEstimatorSpec); "
            f"{describe_fn(model_fn)} returned {spec!r} in mode {mode!r}." + _advice(spec)
        )
    if spec.mode is None:
        return type(spec)(**{**spec._asdict(), "mode": mode})  # checked for its own mode
    if spec.mode != mode:
        raise ValueError(
            f"model_fn was called with mode {mode!r} and returned a spec of mode {spec.mode!r}. "
            "Pass its mode argument on to the spec."
        )
    return spec


def _advice(result: Any) -> str:
    """Returns the end of the error for a result that is not a spec."""
    if result is None:
        return " Is a return statement missing?"
    if isinstance(result, type):
        return f" It is the class: return {result.__name__}(mode, loss=..., train_op=...)."
    if isinstance(result, (tuple, list)) and any(
        isinstance(part, (EstimatorSpec, TPUEstimatorSpec)) for part in result
    ):
        return " Return the spec alone."
    return " Put the values into one: tf.estimator.EstimatorSpec(mode, loss=..., train_op=...)."
