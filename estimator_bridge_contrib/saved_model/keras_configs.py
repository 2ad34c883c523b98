"""A Keras model's configuration in the words of TensorFlow 1's Keras."""

from __future__ import annotations

import json
from typing import Any

__all__ = ["configuration"]

_CLASSES = {"Functional": "Model", "L1": "L1L2", "L2": "L1L2"}
# Later arguments of layers, with the value at which they change nothing.
_LATER = {"optional": False, "groups": 1}


def configuration(model: Any) -> str:
    """Returns a model's layers as JSON that TensorFlow 1.15 loads too.

    Arguments that 1.15 lacks are left out where they have their default. A layer that it lacks
    keeps its name, so 1.15 says that it does not know the layer.

    Args:
      model: a tf_keras model.

    Raises:
      NotImplementedError: the model has no configuration.
    """
    return json.dumps(_converted(json.loads(model.to_json())))


def _converted(value: Any) -> Any:
    if isinstance(value, list):
        return [_converted(each) for each in value]
    if not isinstance(value, dict):
        return value
    if "class_name" not in value or not isinstance(value.get("config"), dict):
        return {key: _converted(each) for key, each in value.items()}
    fields = {key: each for key, each in value.items() if key != "shared_object_id"}
    config = {
        key: each
        for key, each in value["config"].items()
        if key not in _LATER or each != _LATER[key]
    }
    kind = value["class_name"]
    return {
        **_converted({key: each for key, each in fields.items() if key != "config"}),
        "class_name": _CLASSES.get(kind, kind),
        "config": _converted(config),
    }
