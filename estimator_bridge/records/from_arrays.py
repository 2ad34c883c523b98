"""Records from arrays, and from a dataset."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import tensorflow as tf

from estimator_bridge.errors import DataError
from estimator_bridge.records.features import Feature, encode
from estimator_bridge.records.source import OVERHEAD, Source, mean_size
from estimator_bridge.tensorflow_private.names import eager_mode

__all__ = ["from_arrays", "from_dataset"]

_PAIR = ("features", "labels")
_END = object()


def from_arrays(arrays: Mapping[str, Any], seed: int | None = None) -> Source:
    """Returns the examples of arrays as records.

    Args:
      arrays: arrays by feature name; their first dimension counts the examples.
      seed: the seed of the order in which examples are written; None keeps the order. Shuffle
        examples that are sorted by label, because training shuffles only within its buffer.

    Raises:
      DataError: the arrays are empty, or their lengths differ.
      ValueError: a type cannot be stored.
    """
    if not arrays:
        raise DataError("from_arrays got no array. Give them by name: {'image': x, 'label': y}.")
    values = {name: np.asarray(array) for name, array in arrays.items()}
    lengths = {name: len(array) if array.ndim else None for name, array in values.items()}
    count = next(iter(lengths.values()))
    if not count or any(length != count for length in lengths.values()):
        raise DataError(
            f"arrays must have one length, which counts the examples, and at least one: got "
            f"{lengths}."
        )
    features = {name: Feature.of(name, a.dtype, a.shape[1:]) for name, a in values.items()}
    order = range(count) if seed is None else np.random.RandomState(seed).permutation(count)

    def read(start: int) -> Iterator[bytes]:
        for index in order[start:]:
            yield encode(features, {name: array[index] for name, array in values.items()})

    return Source("arrays", count, round(mean_size(read(0)) * count), features, read)


def from_dataset(dataset: tf.data.Dataset) -> Source:
    """Returns the elements of a dataset as records, in its order.

    Args:
      dataset: a Dataset of single examples. An element is a dict of tensors; a pair (features,
        labels), whose labels become the feature "labels", and whose features without names become
        "features"; or a tensor, which becomes "features". The dataset must yield the same elements
        in each iteration: the writer iterates once to count them, and again to continue after it
        was stopped. Shuffle with a seed and ``reshuffle_each_iteration=False``.

    Raises:
      DataError: the dataset is empty or infinite.
      ValueError: the elements cannot be stored.
    """
    if not isinstance(dataset, tf.data.Dataset):
        raise ValueError(
            f"from_dataset takes a tf.data.Dataset, got {type(dataset).__name__}. from_arrays "
            "takes arrays, from_images a folder and from_csv a file."
        )
    spec = _features_of(dataset.element_spec)
    if not all(isinstance(one, tf.TensorSpec) and one.shape.rank is not None
               for one in spec.values()):  # fmt: skip
        raise ValueError(
            f"a dataset's elements must be dense tensors of known rank, got {spec}. Convert "
            "sparse and ragged ones first, for example by to_tensor()."
        )
    features = {
        name: Feature.of(name, one.dtype, one.shape.as_list()) for name, one in spec.items()
    }

    def read(start: int) -> Iterator[bytes]:
        # Not around the loop: the mode would hold for the caller between two elements.
        with eager_mode():
            iterator = dataset.skip(start).as_numpy_iterator()
        while True:
            with eager_mode():
                element = next(iterator, _END)
            if element is _END:
                return
            yield encode(features, _features_of(element))

    count, size = _measure(dataset, read)
    return Source("dataset", count, size, features, read)


def _measure(dataset: tf.data.Dataset, read: Any) -> tuple[int, int]:
    with eager_mode():
        count = int(dataset.cardinality())
    if count == tf.data.INFINITE_CARDINALITY:
        raise DataError("the dataset is infinite. Leave out repeat(), or end it with take(count).")
    if count == tf.data.UNKNOWN_CARDINALITY:
        sizes = [len(record) + OVERHEAD for record in read(0)]
        count, size = len(sizes), sum(sizes)
    else:
        size = round(mean_size(itertools.islice(read(0), count)) * count)
    if not count:
        raise DataError("the dataset is empty: there is nothing to write.")
    return count, size


def _features_of(element: Any) -> dict[str, Any]:
    """Returns an element's tensors, or their specs, by feature name."""
    if isinstance(element, Mapping):
        flat = {str(name): value for name, value in element.items()}
    elif isinstance(element, tuple) and len(element) == len(_PAIR):
        first, labels = element
        flat = _features_of(first)
        if _PAIR[1] in flat:
            raise ValueError(f"a feature is named {_PAIR[1]!r}, like the labels. Rename it.")
        flat[_PAIR[1]] = labels
    else:
        flat = {_PAIR[0]: element}
    nested = [name for name, v in flat.items() if isinstance(v, (Mapping, tuple, list))]
    if nested:
        raise ValueError(
            f"a dataset's elements must be a tensor, a dict of tensors, or (features, labels) of "
            f"them; {nested} are nested. Map the elements to one flat dict."
        )
    return flat
