"""tf.contrib.predictor: a model in its own session, called with arrays."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import tensorflow as tf
from tensorflow.compat.v1 import logging

from estimator_bridge.model import ModeKeys
from estimator_bridge_contrib.learn.estimator import BaseEstimator
from estimator_bridge_contrib.namespaces import NAMESPACES

__all__, __getattr__, __dir__ = NAMESPACES["predictor"].opened()

_v1 = tf.compat.v1
_DEFAULT_KEY = _v1.saved_model.DEFAULT_SERVING_SIGNATURE_DEF_KEY
_INPUTS = "default_input_alternative"
_ALTERNATIVE = f"{_INPUTS}:{{}}"  # tf.contrib.learn's names of signatures


class Predictor:
    """A function from arrays to arrays. Close it with ``predictor.session.close()``.

    Args:
      session: a session in which the model's variables are initialized.
      graph: the model.
      inputs: names of input tensors, by the keys that callers use.
      outputs: names of output tensors, by key.
    """

    def __init__(
        self, session: Any, graph: tf.Graph, inputs: Mapping[str, str], outputs: Mapping[str, str]
    ):
        self._session, self._graph = session, graph
        self._feed = {key: graph.get_tensor_by_name(name) for key, name in inputs.items()}
        self._fetch = {key: graph.get_tensor_by_name(name) for key, name in outputs.items()}

    @property
    def graph(self) -> tf.Graph:
        """The model."""
        return self._graph

    @property
    def session(self) -> Any:
        """The session that runs the model."""
        return self._session

    @property
    def feed_tensors(self) -> dict[str, tf.Tensor]:
        """The inputs, by key."""
        return self._feed

    @property
    def fetch_tensors(self) -> dict[str, tf.Tensor]:
        """The outputs, by key."""
        return self._fetch

    def __call__(self, input_dict: Mapping[str, Any]) -> dict[str, Any]:
        """Runs the model once.

        Args:
          input_dict: arrays by key. Keys that are omitted or None are not fed.

        Returns:
          Arrays by key.

        Raises:
          ValueError: a key is not one of the model's.
        """
        unexpected = set(input_dict) - set(self._feed)
        if unexpected:
            raise ValueError(
                f"Got unexpected keys in input_dict: {unexpected}\nexpected: {set(self._feed)}"
            )
        fed = {self._feed[key]: value for key, value in input_dict.items() if value is not None}
        return self._session.run(self._fetch, feed_dict=fed)

    def __repr__(self) -> str:
        return f"Predictor with feed tensors {self._feed} and fetch_tensors {self._fetch}"


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
    if (input_names is None) != (output_names is None):
        raise ValueError(
            "input_names and output_names must both be specified or both be unspecified. Got "
            f"input_names={input_names!r} and output_names={output_names!r}."
        )
    ways = [option is not None for option in (signature_def_key, signature_def, input_names)]
    if sum(ways) > 1:
        raise ValueError(
            "You must specify at most one of signature_def_key OR signature_def OR"
            "(input_names AND output_names)."
        )
    graph = graph or tf.Graph()
    with graph.as_default():
        session = _v1.Session(config=config)
        export_dir = tf.compat.path_to_str(export_dir)
        tag_names = [tag.strip() for tag in (tags or "serve").split(",")]
        model = _v1.saved_model.loader.load(session, tag_names, tf.compat.as_str(export_dir))
    if input_names is None or output_names is None:
        signature = signature_def or _signature(model, signature_def_key or _DEFAULT_KEY)
        input_names, output_names = _names(signature)
    return Predictor(session, graph, input_names, output_names)


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
    key = output_key or _DEFAULT_KEY
    graph = graph or tf.Graph()
    with graph.as_default():
        receiver = serving_input_receiver_fn()
        execution = estimator._export_execution()
        spec = execution.call_model_fn(
            estimator._model_fn, receiver.features, None, ModeKeys.PREDICT, estimator.params
        )
        outputs = spec.export_outputs or {}
        if key not in outputs:
            raise KeyError(f"output_key must be one of {list(outputs)}; got {key}")
        signature = outputs[key].as_signature_def(receiver.receiver_tensors)
        creator = _v1.train.ChiefSessionCreator(config=config, checkpoint_dir=estimator.model_dir)
        session = _v1.train.MonitoredSession(creator)
    return Predictor(session, graph, *_names(signature))


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
    if (input_alternative_key or _INPUTS) != _INPUTS:
        raise KeyError(f"input_alternative_key must be {_INPUTS}; got {input_alternative_key!r}")
    graph = graph or tf.Graph()
    with graph.as_default():
        input_ops = prediction_input_fn()
        outputs = estimator._model.outputs(
            input_ops.features, estimator.config, output_alternative_key or None
        )
        if not input_ops.features:
            raise ValueError("Features must be defined.")
        inputs = input_ops.default_inputs
        creator = _v1.train.ChiefSessionCreator(
            config=config,
            checkpoint_filename_with_path=tf.train.latest_checkpoint(estimator.model_dir),
        )
        session = _v1.train.MonitoredSession(creator)
    names = ({key: each.name for key, each in part.items()} for part in (inputs, outputs))
    return Predictor(session, graph, *names)


def _signature(model: Any, key: str) -> Any:
    for name in (key, _ALTERNATIVE.format(key)):
        if name in model.signature_def:
            if name != key:
                logging.warning('Could not find signature def "%s". Using "%s" instead', key, name)
            return model.signature_def[name]
    raise ValueError(
        f'Got signature_def_key "{key}". Available signatures are {list(model.signature_def)}.'
    )


def _names(signature: Any) -> tuple[dict[str, str], dict[str, str]]:
    inputs = {key: info.name for key, info in signature.inputs.items()}
    return inputs, {key: info.name for key, info in signature.outputs.items()}
