"""A predictor of the latest checkpoint of an estimator of tf.contrib.learn."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from estimator_bridge.checkpoint.any_checkpoints import newest_listed
from estimator_bridge_contrib.predictor.predictor import Predictor

__all__ = ["ContribEstimatorPredictor"]

_v1 = tf.compat.v1
_INPUTS = "default_input_alternative"


class ContribEstimatorPredictor(Predictor):
    """Runs the model of an estimator. ``from_contrib_estimator`` describes the arguments.

    Raises:
      KeyError: there are no such inputs.
      ValueError: there are no features, or no such head.
    """

    def __init__(
        self,
        estimator: Any,
        prediction_input_fn: Any,
        input_alternative_key: str | None = None,
        output_alternative_key: str | None = None,
        graph: tf.Graph | None = None,
        config: Any = None,
    ):
        inputs_key = input_alternative_key or _INPUTS
        if inputs_key != _INPUTS:
            raise KeyError(f"input_alternative_key must be {_INPUTS}; got {inputs_key!r}")
        self._graph = graph or tf.Graph()
        with self._graph.as_default():
            input_ops = prediction_input_fn()
            outputs = estimator._model.outputs(
                input_ops.features, estimator.config, output_alternative_key or None
            )
            if not input_ops.features:
                raise ValueError("Features must be defined.")
            creator = _v1.train.ChiefSessionCreator(
                config=config,
                checkpoint_filename_with_path=newest_listed(estimator.model_dir),
            )
            self._session = _v1.train.MonitoredSession(creator)
        self._feed_tensors, self._fetch_tensors = dict(input_ops.default_inputs), dict(outputs)
