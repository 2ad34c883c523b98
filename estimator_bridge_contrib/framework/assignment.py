"""Assigns values to variables: arrays, or values of a checkpoint."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Union

import numpy as np
import tensorflow as tf
from tensorflow.compat.v1 import logging

from estimator_bridge.checkpoint.any_checkpoints import reader_of
from estimator_bridge.tensorflow_private.variables import saved_slice
from estimator_bridge_contrib.framework.variable_search import (
    get_unique_variable,
    get_variable_full_name,
)

__all__ = [
    "assign_from_checkpoint",
    "assign_from_checkpoint_fn",
    "assign_from_values",
    "assign_from_values_fn",
]

_v1 = tf.compat.v1
_Variables = Union[Sequence[Any], Mapping[str, Any]]


def assign_from_values(var_names_to_values: Mapping[str, Any]) -> tuple[Any, dict[Any, Any]]:
    """Makes an operation that assigns values by feeds, which take no space in the graph.

    Args:
      var_names_to_values: arrays by the variables' op names.

    Returns:
      The operation, and the feed_dict for its run.

    Raises:
      ValueError: there is no such variable, or it has a different number of elements.
    """
    pairs = []
    for name, data in var_names_to_values.items():
        variable, value = get_unique_variable(name), np.asarray(data)
        if variable.shape.num_elements() != value.size:
            raise _other_shape(name, value, variable)
        pairs.append((variable, value))
    return _assignment(pairs)


def assign_from_values_fn(var_names_to_values: Mapping[str, Any]) -> Callable[[Any], Any]:
    """Returns ``assign_from_values`` as a function of a session."""
    operation, feed_dict = assign_from_values(var_names_to_values)
    return lambda session: session.run(operation, feed_dict)


def assign_from_checkpoint(
    model_path: str, var_list: _Variables, ignore_missing_vars: bool = False
) -> tuple[Any, dict[Any, Any]]:
    """Makes an operation that assigns values from a checkpoint.

    Args:
      model_path: the checkpoint.
      var_list: variables, or variables by their names in the checkpoint. A name may have a list
        of them; the parts of a partitioned variable each get theirs.
      ignore_missing_vars: whether to skip variables missing in the checkpoint, with a warning.

    Returns:
      The operation, and the feed_dict for its run.

    Raises:
      ValueError: a variable is missing in the checkpoint, or has a different shape there.
    """
    by_name: dict[str, list[Any]] = {}
    if isinstance(var_list, Mapping):
        for name, value in var_list.items():
            by_name[name] = list(value) if isinstance(value, (list, tuple)) else [value]
    else:
        for variable in var_list:
            by_name.setdefault(get_variable_full_name(variable), []).append(variable)
    reader = _reader(model_path)
    pairs = []
    for name, variables in by_name.items():
        if not reader.has_tensor(name):
            if not ignore_missing_vars:
                raise ValueError(f"Checkpoint is missing variable [{name}]: {model_path}.")
            logging.warning("Checkpoint is missing variable [%s]", name)
            continue
        for variable in variables:
            value = _part_of(variable, reader.get_tensor(name))
            if list(value.shape) != variable.shape.as_list():
                raise _other_shape(name, value, variable)
            pairs.append((variable, value))
    return _assignment(pairs)


def assign_from_checkpoint_fn(
    model_path: str,
    var_list: _Variables,
    ignore_missing_vars: bool = False,
    reshape_variables: bool = False,
) -> Callable[[Any], None] | None:
    """Makes a function of a session that restores variables.

    Args:
      model_path: the checkpoint.
      var_list: variables, or variables by their names in the checkpoint.
      ignore_missing_vars: whether to skip variables missing in the checkpoint, with a warning.
      reshape_variables: whether to reshape values of a different shape with the same number of
        elements.

    Returns:
      The function; None if the checkpoint has none of the variables.

    Raises:
      ValueError: ``var_list`` is empty.
    """
    if not var_list:
        raise ValueError("var_list cannot be empty: name the variables to restore.")
    chosen: Any = var_list
    if ignore_missing_vars:
        reader = _reader(model_path)
        named = var_list
        if not isinstance(named, Mapping):
            named = {variable.op.name: variable for variable in named}
        chosen = {name: value for name, value in named.items() if reader.has_tensor(name)}
        for name in named:
            if name not in chosen:
                logging.warning("Variable %s missing in checkpoint %s", name, model_path)
        if not chosen:
            logging.warning("No Variables to restore")
            return None
    saver = _v1.train.Saver(chosen, reshape=reshape_variables)
    return lambda session: saver.restore(session, model_path)


def _reader(model_path: str) -> Any:
    """Opens a checkpoint, even if there is a folder of its name beside it."""
    if tf.io.gfile.exists(f"{model_path}.index"):
        return _v1.train.NewCheckpointReader(model_path)
    return reader_of(model_path)


def _part_of(variable: Any, value: np.ndarray) -> np.ndarray:
    part = saved_slice(variable)
    if not part:
        return value
    ends = [start + size for start, size in zip(part.var_offset, part.var_shape)]
    return value[tuple(slice(start, end) for start, end in zip(part.var_offset, ends))]


def _assignment(pairs: Sequence[tuple[Any, np.ndarray]]) -> tuple[Any, dict[Any, Any]]:
    feed_dict, operations = {}, []
    for variable, value in pairs:
        shape = variable.shape.as_list()
        fed = _v1.placeholder(variable.dtype.base_dtype, shape, f"placeholder/{variable.op.name}")
        operations.append(variable.assign(fed).op)
        feed_dict[fed] = value.reshape(shape)
    return tf.group(*operations), feed_dict


def _other_shape(name: str, value: np.ndarray, variable: Any) -> ValueError:
    return ValueError(
        f"Total size of new array must be unchanged for {name}: the value has shape "
        f"{list(value.shape)}, the variable {variable.shape.as_list()}."
    )
