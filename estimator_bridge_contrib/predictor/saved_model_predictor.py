"""A predictor of a SavedModel."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import tensorflow as tf
from tensorflow.compat.v1 import logging

from estimator_bridge.base.any_files import check_no_pipes_below
from estimator_bridge_contrib.predictor.predictor import Predictor, tensors_of_signature

__all__ = ["DEFAULT_TAGS", "SavedModelPredictor"]

_v1 = tf.compat.v1
DEFAULT_TAGS = _v1.saved_model.tag_constants.SERVING
_DEFAULT_KEY = _v1.saved_model.DEFAULT_SERVING_SIGNATURE_DEF_KEY
_ALTERNATIVE = "default_input_alternative:{}"  # tf.contrib.learn's names of signatures


class SavedModelPredictor(Predictor):
    """Runs a SavedModel. ``from_saved_model`` describes the arguments.

    Raises:
      ValueError: the model has no such signature, or inputs and outputs are specified twice or
        incompletely.
    """

    def __init__(
        self,
        export_dir: Any,
        signature_def_key: str | None = None,
        signature_def: Any = None,
        input_names: Mapping[str, str] | None = None,
        output_names: Mapping[str, str] | None = None,
        tags: str | None = None,
        graph: tf.Graph | None = None,
        config: Any = None,
    ):
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
        self._graph = graph or tf.Graph()
        with self._graph.as_default():
            self._session = _v1.Session(config=config)
            folder = tf.compat.as_str(tf.compat.path_to_str(export_dir))
            tag_names = [tag.strip() for tag in (tags or DEFAULT_TAGS).split(",")]
            check_no_pipes_below(folder)
            model = _v1.saved_model.loader.load(self._session, tag_names, folder)
        if input_names is None or output_names is None:
            signature = signature_def or _signature(model, signature_def_key or _DEFAULT_KEY)
            self._feed_tensors, self._fetch_tensors = tensors_of_signature(self._graph, signature)
        else:
            self._feed_tensors = self._tensors(input_names)
            self._fetch_tensors = self._tensors(output_names)

    def _tensors(self, names: Mapping[str, str]) -> dict[str, tf.Tensor]:
        return {key: self._graph.get_tensor_by_name(name) for key, name in names.items()}


def _signature(model: Any, key: str) -> Any:
    for name in (key, _ALTERNATIVE.format(key)):
        if name in model.signature_def:
            if name != key:
                logging.warning('Could not find signature def "%s". Using "%s" instead', key, name)
            return model.signature_def[name]
    raise ValueError(
        f'Got signature_def_key "{key}". Available signatures are {list(model.signature_def)}.'
    )
