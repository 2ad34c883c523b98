"""tf.contrib.predictor's three functions, which make predictors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import tensorflow as tf

from estimator_bridge_contrib.learn.estimator import BaseEstimator
from estimator_bridge_contrib.predictor.contrib_estimator_predictor import ContribEstimatorPredictor
from estimator_bridge_contrib.predictor.core_estimator_predictor import CoreEstimatorPredictor
from estimator_bridge_contrib.predictor.predictor import Predictor
from estimator_bridge_contrib.predictor.saved_model_predictor import SavedModelPredictor

__all__ = ["from_contrib_estimator", "from_estimator", "from_saved_model"]


def from_saved_model(
    export_dir: Any,
    signature_def_key: str | None = None,
    signature_def: Any = None,
    input_names: Mapping[str, str] | None = None,
    output_names: Mapping[str, str] | None = None,
    tags: str | None = None,
    graph: tf.Graph | None = None,
    config: Any = None,
) -> Predictor:
    """Loads a SavedModel, such as one that ``estimator.export_saved_model`` writes.

    Args:
      export_dir: its folder.
      signature_def_key: the key of a signature; 'serving_default' by default.
      signature_def: a signature, instead of ``signature_def_key``.
      input_names: names of the tensors to feed, by any keys, instead of a signature.
      output_names: names of the tensors to fetch, in the same forms.
      tags: tags of the model to load, separated by commas; 'serve' by default.
      graph: the graph to load it into; by default a new one.
      config: the session's ConfigProto.

    Returns:
      A function from a dict of arrays to a dict of arrays.

    Raises:
      ValueError: the model has no such signature, or inputs and outputs are specified twice or
        incompletely.
    """
    return SavedModelPredictor(
        export_dir,
        signature_def_key,
        signature_def,
        input_names,
        output_names,
        tags,
        graph,
        config,
    )


def from_estimator(
    estimator: Any,
    serving_input_receiver_fn: Any,
    output_key: str | None = None,
    graph: tf.Graph | None = None,
    config: Any = None,
) -> Predictor:
    """Makes a predictor from an estimator's latest checkpoint.

    Args:
      estimator: an estimator whose ``model_fn`` returns ``export_outputs`` in mode PREDICT.
      serving_input_receiver_fn: a function that makes the placeholders and the features.
      output_key: the key in ``export_outputs``; 'serving_default' by default.
      graph: the graph to build the model in; by default a new one.
      config: the session's ConfigProto.

    Returns:
      A function from a dict of arrays to a dict of arrays.

    Raises:
      KeyError: there is no such output.
      TypeError: the estimator is one of tf.contrib.learn.
    """
    if isinstance(estimator, BaseEstimator):
        raise TypeError(
            "Expected estimator to be of type tf.python.estimator.Estimator, but got type "
            "tf.contrib.learn.Estimator. You likely want to call from_contrib_estimator."
        )
    return CoreEstimatorPredictor(estimator, serving_input_receiver_fn, output_key, graph, config)


def from_contrib_estimator(
    estimator: Any,
    prediction_input_fn: Any,
    input_alternative_key: str | None = None,
    output_alternative_key: str | None = None,
    graph: tf.Graph | None = None,
    config: Any = None,
) -> Predictor:
    """Makes a predictor from the latest checkpoint of an estimator of tf.contrib.learn.

    Without a checkpoint, the model's variables have their first values.

    Args:
      estimator: the estimator.
      prediction_input_fn: a function that makes the placeholders and the features: `InputFnOps`.
      input_alternative_key: 'default_input_alternative', which is the default.
      output_alternative_key: the name of a head; a model with several needs it.
      graph: the graph to build the model in; by default a new one.
      config: the session's ConfigProto.

    Returns:
      A function from a dict of arrays to a dict of arrays.

    Raises:
      TypeError: the estimator is one of tf.estimator.
      KeyError: there are no such inputs.
      ValueError: there are no features, or no such head.
    """
    if not isinstance(estimator, BaseEstimator):
        raise TypeError(
            "Expected estimator to be of type tf.contrib.learn.Estimator, but got type "
            f"{type(estimator).__name__}. You likely want to call from_estimator."
        )
    return ContribEstimatorPredictor(
        estimator,
        prediction_input_fn,
        input_alternative_key,
        output_alternative_key,
        graph,
        config,
    )
