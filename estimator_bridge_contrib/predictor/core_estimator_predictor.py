"""A predictor of an estimator's latest checkpoint."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from estimator_bridge.model import ModeKeys
from estimator_bridge_contrib.predictor.predictor import Predictor, tensors_of_signature

__all__ = ["CoreEstimatorPredictor"]

_v1 = tf.compat.v1
_DEFAULT_KEY = _v1.saved_model.DEFAULT_SERVING_SIGNATURE_DEF_KEY


class CoreEstimatorPredictor(Predictor):
    """Runs an estimator's model. ``from_estimator`` describes the arguments.

    Raises:
      KeyError: there is no such output.
    """

    def __init__(
        self,
        estimator: Any,
        serving_input_receiver_fn: Any,
        output_key: str | None = None,
        graph: tf.Graph | None = None,
        config: Any = None,
    ):
        key = output_key or _DEFAULT_KEY
        self._graph = graph or tf.Graph()
        with self._graph.as_default():
            receiver = serving_input_receiver_fn()
            execution = estimator._export_execution()
            spec = execution.call_model_fn(
                estimator._model_fn, receiver.features, None, ModeKeys.PREDICT, estimator.params
            )
            outputs = spec.export_outputs or {}
            if key not in outputs:
                raise KeyError(f"output_key must be one of {list(outputs)}; got {key}")
            signature = outputs[key].as_signature_def(receiver.receiver_tensors)
            folder = estimator.model_dir
            creator = _v1.train.ChiefSessionCreator(config=config, checkpoint_dir=folder)
            self._session = _v1.train.MonitoredSession(creator)
            self._feed_tensors, self._fetch_tensors = tensors_of_signature(self._graph, signature)
