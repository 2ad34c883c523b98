"""Return values of input_receiver_fns: the tensors to feed, and the inputs of model_fn."""

from __future__ import annotations

import collections
from collections.abc import Mapping
from typing import Any

import tensorflow as tf

__all__ = [
    "ServingInputReceiver",
    "SupervisedInputReceiver",
    "TensorServingInputReceiver",
    "UnsupervisedInputReceiver",
    "by_name",
]

_TENSORS = (tf.Tensor, tf.SparseTensor, tf.RaggedTensor)

_Fields = collections.namedtuple(
    "_Fields", ["features", "receiver_tensors", "receiver_tensors_alternatives"]
)
_SupervisedFields = collections.namedtuple(
    "_SupervisedFields", ["features", "labels", "receiver_tensors"]
)


class ServingInputReceiver(_Fields):
    """The tensors that feed a served model, and the features computed from them.

    Args:
      features: the input of model_fn: a dict of tensors by name or number. A single tensor becomes
        {"feature": tensor}; `TensorServingInputReceiver` passes it on unchanged.
      receiver_tensors: the tensors that a request feeds, by name; a single one is named "input".
      receiver_tensors_alternatives: alternatives to `receiver_tensors`, by name; each adds its own
        signatures.

    Raises:
      ValueError: an argument is missing, has a bad name, or is not a tensor.
    """

    __slots__ = ()

    def __new__(
        cls, features: Any, receiver_tensors: Any, receiver_tensors_alternatives: Any = None
    ) -> ServingInputReceiver:
        """Checks the arguments; see the class."""
        return super().__new__(
            cls,
            _tensors_by_name("feature", features, "feature", allow_int_keys=True),
            by_name(receiver_tensors),
            _alternatives(receiver_tensors_alternatives),
        )


class TensorServingInputReceiver(_Fields):
    """A ServingInputReceiver for a model_fn whose features are a single tensor.

    Args:
      features: the tensor that model_fn gets.
      receiver_tensors: as in `ServingInputReceiver`.
      receiver_tensors_alternatives: as in `ServingInputReceiver`.

    Raises:
      ValueError: an argument is missing, has a bad name, or is not a tensor.
    """

    __slots__ = ()

    def __new__(
        cls, features: Any, receiver_tensors: Any, receiver_tensors_alternatives: Any = None
    ) -> TensorServingInputReceiver:
        """Checks the arguments; see the class."""
        if features is None:
            raise ValueError("features must be defined.")
        _check_tensor("feature", features)
        return super().__new__(
            cls, features, by_name(receiver_tensors), _alternatives(receiver_tensors_alternatives)
        )


class UnsupervisedInputReceiver(ServingInputReceiver):
    """The tensors that feed a model trained or evaluated without labels.

    Args:
      features: as in `ServingInputReceiver`.
      receiver_tensors: as in `ServingInputReceiver`.

    Raises:
      ValueError: an argument is missing, has a bad name, or is not a tensor.
    """

    __slots__ = ()

    def __new__(cls, features: Any, receiver_tensors: Any) -> UnsupervisedInputReceiver:
        """Checks the arguments; see the class."""
        return super().__new__(cls, features, receiver_tensors)  # type: ignore[return-value]


class SupervisedInputReceiver(_SupervisedFields):
    """The tensors that feed a model trained or evaluated with labels.

    Args:
      features: the input of model_fn: a tensor, or a dict of tensors by name or number.
      labels: the labels for model_fn, in the same form.
      receiver_tensors: the tensors to feed, by name; a single one is named "input".

    Raises:
      ValueError: an argument is missing, has a bad name, or is not a tensor.
    """

    __slots__ = ()

    def __new__(cls, features: Any, labels: Any, receiver_tensors: Any) -> SupervisedInputReceiver:
        """Checks the arguments; see the class."""
        _tensors_by_name("feature", features, "feature", allow_int_keys=True)
        _tensors_by_name("label", labels, "label", allow_int_keys=True)
        return super().__new__(cls, features, labels, by_name(receiver_tensors))


def by_name(receiver_tensors: Any) -> dict[str, Any]:
    """Checks the receiver tensors and puts them into a dict.

    Args:
      receiver_tensors: tensors by name, or a single one.

    Returns:
      The tensors by name, a single one under "input".

    Raises:
      ValueError: there are no tensors, or one has a bad name or is not a tensor.
    """
    return _tensors_by_name("receiver_tensor", receiver_tensors, "input")


def _tensors_by_name(
    field: str, tensors: Any, default_name: str, allow_int_keys: bool = False
) -> dict[Any, Any]:
    if tensors is None:
        raise ValueError(f"{field}s must be defined.")
    if not isinstance(tensors, Mapping):
        tensors = {default_name: tensors}
    for key, tensor in tensors.items():
        if not isinstance(key, (str, int) if allow_int_keys else str):
            kinds = "strings or ints" if allow_int_keys else "strings"
            raise ValueError(f"{field} keys must be {kinds}: {key!r}.")
        _check_tensor(f"{field} {key}", tensor)
    return dict(tensors)


def _alternatives(alternatives: Any) -> dict[str, dict[str, Any]] | None:
    if alternatives is None:
        return None
    if not isinstance(alternatives, Mapping):
        raise ValueError(f"receiver_tensors_alternatives must be a dict: {alternatives!r}.")
    return {
        name: _tensors_by_name("receiver_tensors_alternative", tensors, "input")
        for name, tensors in alternatives.items()
    }


def _check_tensor(label: str, tensor: Any) -> None:
    if not isinstance(tensor, _TENSORS) and not _wraps_tensor(tensor):
        raise ValueError(
            f"{label} must be a Tensor, SparseTensor, or RaggedTensor. Got {tensor!r}."
        )


def _wraps_tensor(value: Any) -> bool:
    """Returns whether a value wraps a tensor and converts to one, as LabeledTensor does."""
    if not hasattr(value, "tensor"):
        return False
    try:
        tf.convert_to_tensor(value)
    except (TypeError, ValueError):
        return False
    return True
