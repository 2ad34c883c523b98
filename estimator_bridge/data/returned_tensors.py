"""The result of an input_fn without a dataset: tensors of its graph, and plain values."""

from __future__ import annotations

import reprlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import tensorflow as tf

from estimator_bridge.tensorflow_private.names import eager_mode

__all__ = ["MixedKey", "ReturnedTensors", "check_length", "is_plain"]


class MixedKey(str):
    """Replaces, in a spec, a dict's keys of types that have no common order, such as 1 and "a".

    A dataset orders its components by key; model_fn receives the dict itself.
    """

    __slots__ = ()


def check_length(batch: Any) -> None:
    """Checks that a tuple or named tuple is (features, labels).

    Raises:
      ValueError: it has a length other than 2.
    """
    if isinstance(batch, (tuple, list)) and len(batch) != 2:
        advice = "Put several features into a dict: ({'a': a, 'b': b}, labels)."
        if isinstance(batch, list):
            advice = (
                "A list of batches is no input: return a tf.data.Dataset. "
                "tf.data.Dataset.from_tensor_slices((features, labels)) makes one of arrays. "
                f"{advice}"
            )
        raise ValueError(
            "input_fn should return (features, labels) as a len 2 tuple, got a "
            f"{type(batch).__name__} of length {len(batch)}: {reprlib.repr(batch)}. {advice}"
        )


class ReturnedTensors:
    """The features, or (features, labels), that an input_fn returned.

    Args:
      result: the result of the input_fn.

    Attributes:
      batch: the argument of model_fn: arrays and lists stay unchanged, as in the original.
      spec: TypeSpecs of the same structure; arrays and lists of numbers are tensors here, and
        keys of several types in one dict are each a `MixedKey`.

    Raises:
      TypeError: there is nothing, or a value that cannot be converted to a tensor.
      ValueError: a tuple is not (features, labels).
    """

    def __init__(self, result: Any):
        if result is None or (isinstance(result, (tuple, list)) and _are_all_none(result)):
            raise TypeError(
                f"input_fn returned {result}. It must return a tf.data.Dataset, features, or a "
                "tuple (features, labels); is a return statement missing?"
            )
        check_length(result)
        self.batch = result
        if isinstance(result, (tuple, list)):
            features, labels = result
            is_alone = labels is None and not isinstance(features, (tuple, list))
            self.batch = features if is_alone else (features, labels)
        parts = self.batch if isinstance(self.batch, tuple) else (self.batch,)
        tensors = tuple(_tensors(part) for part in parts if part is not None)
        values = tensors if len(parts) > 1 else tensors[0]
        self.spec = tf.nest.map_structure(tf.type_spec_from_value, values)
        self._leaves = tf.nest.flatten(values, expand_composites=True)

    @property
    def leaves(self) -> list[tf.Tensor]:
        """The flat components: tensors of the graph, and eager tensors for plain values."""
        return self._leaves

    @property
    def names(self) -> list[str]:
        """The references of the leaves in a step; a plain value's reference names no tensor."""
        return [
            f"plain value {i}:0" if is_plain(leaf) else leaf.name
            for i, leaf in enumerate(self._leaves)
        ]


def _are_all_none(parts: Sequence[Any]) -> bool:
    return bool(parts) and all(part is None for part in parts)


def is_plain(leaf: tf.Tensor) -> bool:
    """Whether a leaf is a value, not a tensor of a graph."""
    return hasattr(leaf, "numpy")


def _tensors(part: Any) -> Any:
    """Converts features or labels to a structure with tensors as its leaves."""
    if tf.is_tensor(part) and not isinstance(part, tf.Variable):
        return part
    if isinstance(part, Mapping):
        name = (lambda key: key) if _have_order(part) else (lambda key: MixedKey(repr(key)))
        return {name(key): _tensors(value) for key, value in part.items()}
    if isinstance(part, (tuple, list)) and any(map(_is_whole, _flat(part))):
        return tuple(_tensors(value) for value in part)
    return _tensor(part)


def _have_order(keys: Iterable[Any]) -> bool:
    try:
        sorted(keys)
    except TypeError:
        return False
    return True


def _flat(part: Any) -> list[Any]:
    """Returns the leaves of a structure, with any keys in its dicts."""
    if isinstance(part, Mapping):
        part = list(part.values())
    return [leaf for p in part for leaf in _flat(p)] if isinstance(part, (tuple, list)) else [part]


def _is_whole(leaf: Any) -> bool:
    """Whether it is a tensor or an array; plain numbers may form one together."""
    return tf.is_tensor(leaf) or bool(getattr(leaf, "shape", ()))


def _tensor(leaf: Any) -> tf.Tensor:
    if isinstance(leaf, tf.Variable):
        return tf.convert_to_tensor(leaf)
    if isinstance(leaf, tf.data.Dataset):
        raise TypeError(
            "input_fn returned a tuple with a dataset in it. Return one tf.data.Dataset whose "
            "elements are (features, labels): tf.data.Dataset.zip((features, labels))."
        )
    is_value = isinstance(leaf, (bool, int, float, str, bytes, tuple, list))
    try:
        if not (is_value or hasattr(leaf, "__array__")):
            return tf.convert_to_tensor(leaf)  # of a type for which a conversion is registered
        with eager_mode():
            return tf.constant(leaf)
    except (TypeError, ValueError) as error:
        raise TypeError(
            "input_fn must return a tf.data.Dataset, features, or (features, labels) made of "
            f"tensors; got {type(leaf).__name__} ({reprlib.repr(leaf)}){_advice(leaf, error)}"
        ) from error


def _advice(leaf: Any, error: Exception) -> str:
    """Returns the end of an error's text: what to do with a value that is not a tensor."""
    if callable(leaf):
        return f", which has to be called: {getattr(leaf, '__name__', 'function')}()."
    if hasattr(leaf, "get_next"):
        return ". Return what its get_next() gives, or the dataset itself."
    if isinstance(leaf, Iterator):
        return (
            ". tf.data.Dataset.from_generator(function, output_signature=...) makes a dataset of a "
            "function that returns a generator."
        )
    return f" in it: {str(error).partition('. Consider casting')[0]}."
