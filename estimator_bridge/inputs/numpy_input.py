"""numpy_input_fn: arrays in memory as the input of an estimator."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from estimator_bridge.data.row_queues import fed_batch
from estimator_bridge.data.rows import Rows
from estimator_bridge.inputs.checks import check_graph, check_shuffle, column_type

__all__ = ["numpy_input_fn"]


def numpy_input_fn(
    x: np.ndarray | dict[Any, np.ndarray],
    y: np.ndarray | dict[Any, np.ndarray] | None = None,
    batch_size: int = 128,
    num_epochs: int | None = 1,
    shuffle: bool | None = None,
    queue_capacity: int = 1000,
    num_threads: int = 1,
) -> Callable[[], Any]:
    """Makes an input_fn that reads arrays by reference: the graph holds no copy of them.

    Args:
      x: the features: an array, or a dict of arrays, whose first dimension counts the examples.
      y: the labels, in the same form; None for no labels.
      batch_size: examples per global batch. Batches may span epochs.
      num_epochs: number of passes over the examples; None repeats forever. With a number, the last
        batch may be short.
      shuffle: True or False; there is no default. Shuffling samples from a window of the next
        `queue_capacity` examples, starting at a random position; an estimator's tf_random_seed
        makes the order repeatable.
      queue_capacity: see `shuffle`.
      num_threads: number of readers, each of which reads all examples; leave it at 1 if
        `num_epochs` or the order matters.

    Returns:
      A function without arguments, to be called in a graph, that returns features, or
      (features, labels): tensors of shape [batch_size, ...], and [None, ...] with `num_epochs`;
      dicts if `x` or `y` is a dict.

    Raises:
      ValueError: `shuffle` is not set. When called: x or y is empty, the lengths differ, or a
        key is in both x and y.
      TypeError: when called: x is neither an array nor a dict, or an array has a type that
        TensorFlow does not have.
      RuntimeError: when called: there is no graph.
    """
    check_shuffle(shuffle)

    def input_fn() -> Any:
        check_graph()
        features, labels = _arrays_by_name("x", x), _named_labels(y)
        _check_keys(features, labels)
        _check_lengths(features, labels)
        arrays = {**{("x", k): v for k, v in features.items()}}
        arrays.update({("y", k): v for k, v in labels.items()})
        tensors = fed_batch(
            _rows(arrays),
            batch_size,
            num_epochs,
            bool(shuffle),
            queue_capacity,
            None,
            num_threads,
        )
        columns = dict(zip(arrays, tensors))
        batch = {key: columns["x", key] for key in features}
        inputs = batch if isinstance(x, dict) else columns["x", _ALONE]
        if y is None:
            return inputs
        targets = {key: columns["y", key] for key in labels}
        return inputs, (targets if isinstance(y, dict) else columns["y", _ALONE])

    return input_fn


_ALONE = "an array that is not in a dict"


def _arrays_by_name(argument: str, value: Any) -> dict[Any, Any]:
    if isinstance(value, dict):
        if not value:
            raise ValueError(f"{argument} cannot be an empty dict: there is nothing to read.")
        return {key: _array(f"{argument}[{key!r}]", value[key]) for key in sorted(value)}
    if isinstance(value, np.ndarray):
        if value.size == 0:
            raise ValueError(f"{argument} cannot be an empty array, got shape {value.shape}.")
        return {_ALONE: _array(argument, value)}
    raise TypeError(
        f"{argument} must be a dict or array; got {type(value).__name__}. "
        f"np.array({argument}) makes an array of a list."
    )


def _named_labels(y: Any) -> dict[Any, Any]:
    if y is None:
        return {}
    if isinstance(y, dict) and not y:
        raise ValueError("y cannot be empty dict, use None instead.")
    return _arrays_by_name("y", y) if isinstance(y, dict) else {_ALONE: _array("y", y)}


def _array(name: str, value: Any) -> Any:
    """Checks an array, or an object that reads like one (a memory map, an HDF5 dataset)."""
    if not (hasattr(value, "shape") and hasattr(value, "dtype")):
        raise TypeError(
            f"{name} must be an array, got {type(value).__name__}. np.array converts a list."
        )
    if not len(value.shape):
        raise ValueError(
            f"{name} is a scalar ({value!r}); its first dimension must count the examples."
        )
    return value


def _check_keys(features: Mapping[Any, Any], labels: Mapping[Any, Any]) -> None:
    both = (features.keys() & labels.keys()) - {_ALONE}
    if both:
        raise ValueError(
            f"{len(both)} duplicate keys are found in both x and y: {both}. Rename them in one."
        )


def _check_lengths(features: Mapping[Any, Any], labels: Mapping[Any, Any]) -> None:
    shapes = [
        {("" if key == _ALONE else key): tuple(array.shape) for key, array in arrays.items()}
        for arrays in (features, labels)
    ]
    lengths = {shape[0] for shapes_by_name in shapes for shape in shapes_by_name.values()}
    if len(lengths) > 1:
        of_x, of_y = (shapes_by_name.get("", shapes_by_name) or None for shapes_by_name in shapes)
        raise ValueError(
            "Length of tensors in x and y is mismatched. All elements in x and y must have the "
            f"same length.\nShapes in x: {of_x}\nShapes in y: {of_y}\n"
        )
    if lengths == {0}:
        raise ValueError(f"x has no examples: its shapes are {shapes[0]}.")


def _rows(arrays: Mapping[Any, Any]) -> Rows:
    columns = list(arrays.values())
    return Rows(
        count=columns[0].shape[0],
        types=[column_type(f"{role}[{key!r}]", v.dtype) for (role, key), v in arrays.items()],
        shapes=[column.shape[1:] for column in columns],
        take=lambda numbers: [_rows_at(column, numbers) for column in columns],
    )


def _rows_at(column: Any, numbers: np.ndarray) -> np.ndarray:
    is_array = isinstance(column, np.ndarray)
    return np.asarray(column[numbers if is_array else numbers.tolist()])
