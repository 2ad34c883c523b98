"""Variables that start with the values of a checkpoint, in eager execution."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import tensorflow as tf

from estimator_bridge.checkpoint.any_checkpoints import reader_of

__all__ = ["restore_variables_on_create"]


@contextlib.contextmanager
def restore_variables_on_create(
    save_path: str | None, map_func: Callable[[str], str] | None = None
) -> Iterator[None]:
    """Gives variables that are made in the context their values of a checkpoint.

    A value is given once: a second variable of the same name keeps its own.

    Args:
      save_path: the checkpoint's path; with None, nothing happens.
      map_func: returns the name in the checkpoint for a variable's name; by default the same.

    Yields:
      None.

    Raises:
      ValueError: eager execution is off, or map_func is no function.
      tf.errors.NotFoundError: the checkpoint lacks a variable that is made.
    """
    if not tf.executing_eagerly():
        raise ValueError(
            "Currently, restore_variables_on_create can only be used with eager execution "
            "enabled. In a graph, use tf.compat.v1.train.init_from_checkpoint."
        )
    if not save_path:
        yield
        return
    if map_func is not None and not callable(map_func):
        raise ValueError(f"map_func must be callable; got {map_func!r}.")
    reader = reader_of(save_path)
    values = {name: reader.get_tensor(name) for name in reader.get_variable_to_shape_map()}

    def make(next_creator: Callable[..., Any], **kwargs: Any) -> Any:
        variable = next_creator(**kwargs)
        name = variable.name.partition(":")[0]
        key = map_func(name) if map_func else name
        if key not in values:
            raise tf.errors.NotFoundError(
                None,
                None,
                f"{key} not found in checkpoint {save_path}, for the variable {name}. It has: "
                f"{', '.join(sorted(values))}.",
            )
        if values[key] is not None:
            variable.assign(values[key])
            values[key] = None
        return variable

    with tf.variable_creator_scope(make):
        yield
