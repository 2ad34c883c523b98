"""Arranges the results of an input_fn in the order of a Keras model's inputs and outputs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import tensorflow as tf

from estimator_bridge.tensorflow_private.keras import is_graph_network

__all__ = ["FormattedKeyError", "inputs_of", "split_sample_weights", "targets_of", "weights_of"]

_WITH_WEIGHTS = {"features", "sample_weights"}


class FormattedKeyError(KeyError):
    """A KeyError that shows its message as is; a plain KeyError shows its repr."""

    def __str__(self) -> str:
        return str(self.args[0])


def split_sample_weights(features: Any) -> tuple[Any, Any]:
    """Splits ``{'features': ..., 'sample_weights': ...}`` into features and sample weights."""
    if isinstance(features, Mapping) and set(features) == _WITH_WEIGHTS:
        return features["features"], features["sample_weights"]
    return features, None


def inputs_of(model: Any, features: Any) -> Any:
    """Returns features as a model takes them: a list in the order of its inputs, or a dict.

    Raises:
      FormattedKeyError: features are a dict that lacks an input.
    """
    if isinstance(features, Mapping):
        model_inputs = getattr(model, "inputs", None)
        if isinstance(model_inputs, Mapping):
            return {name: _tensor(features[name]) for name in model_inputs}
        if model_inputs is None:  # not called yet, so any structure may be meant
            return {name: _tensor(value) for name, value in features.items()}
    return _in_order(features, _names(model, "input", features), "features", "inputs")


def targets_of(model: Any, labels: Any) -> list[tf.Tensor] | None:
    """Returns labels as a list in the order of a model's outputs; None for None.

    Raises:
      FormattedKeyError: labels are a dict that lacks an output.
    """
    return _in_order(labels, _names(model, "output", labels), "labels", "outputs")


def weights_of(output_names: Sequence[str], weights: Any) -> list[Any]:
    """Returns sample weights, a tensor or None for each output.

    Raises:
      ValueError: the number of weights differs from the number of outputs, or a name is not an
        output.
      TypeError: the model has several outputs, but the weights are one tensor.
    """
    if isinstance(weights, Mapping):
        unknown = sorted(set(weights) - set(output_names))
        if unknown:
            raise ValueError(
                f"Unknown entries in sample_weights dictionary: {unknown}. Only expected "
                f"following keys: {list(output_names)}"
            )
        return [weights.get(name) for name in output_names]
    if isinstance(weights, (list, tuple)):
        if len(weights) != len(output_names):
            raise ValueError(
                f"Provided `sample_weights` was a list of {len(weights)} elements, but the model "
                f"has {len(output_names)} outputs. You should provide one `sample_weights` array "
                "per model output, or None for an output without weights."
            )
        return list(weights)
    if len(output_names) > 1:
        raise TypeError(
            "The model has multiple outputs, so `sample_weights` should be either a list or a "
            f"dict. Provided `sample_weights` type not understood: {weights!r}"
        )
    return [weights]


def _names(model: Any, kind: str, structure: Any) -> list[str]:
    if not isinstance(structure, Mapping):
        return []
    if is_graph_network(model):
        return list(getattr(model, f"{kind}_names"))
    return [f"{kind}_{number}" for number in range(1, len(structure) + 1)]


def _in_order(structure: Any, names: Sequence[str], argument: str, role: str) -> Any:
    if structure is None:
        return None
    if isinstance(structure, Mapping):
        missing = [name for name in names if name not in structure]
        if missing:
            raise FormattedKeyError(
                f"The dictionary passed into {argument} does not cover requested {role} keys "
                f"defined in the keras model.\n\tExpected keys: {list(names)}\n\t{argument} keys: "
                f"{list(structure)}\n\tMissed keys: {missing}"
            )
        return [_tensor(structure[name]) for name in names]
    if isinstance(structure, (list, tuple)):
        return [_tensor(value) for value in structure]
    return [_tensor(structure)]


def _tensor(value: Any) -> Any:
    if tf.is_tensor(value):
        return value
    return tf.compat.v1.convert_to_tensor_or_sparse_tensor(value)
