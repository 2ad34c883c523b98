"""tf.contrib.eager: parts of eager execution that had no public name yet."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

from estimator_bridge.contrib.namespaces import NAMESPACES

__all__, __getattr__, __dir__ = NAMESPACES["eager"].opened()

_v1 = tf.compat.v1


def Iterator(dataset: tf.data.Dataset) -> Any:
    """Returns an iterator over a dataset's elements, with ``next()`` too.

    Returns:
      The result of ``iter(dataset)``.
    """
    iterator = iter(dataset)
    iterator.next = iterator.__next__
    return iterator


def list_devices() -> list[str]:
    """Returns the names of the devices."""
    return [device.name for device in tf.config.list_logical_devices()]


def num_gpus() -> int:
    """Returns the number of GPUs."""
    return len(tf.config.list_logical_devices("GPU"))


def implicit_value_and_gradients(f: Callable[..., Any]) -> Callable[..., tuple[Any, list]]:
    """Makes a function that returns a loss and its gradients.

    Args:
      f: a function that returns the loss.

    Returns:
      A function of the same arguments. It returns the loss, and pairs of gradient and variable
      for each trainable variable that ``f`` used.
    """

    def both(*args: Any, **kwargs: Any) -> tuple[Any, list]:
        with tf.GradientTape() as tape:
            value = f(*args, **kwargs)
        variables = tape.watched_variables()
        return value, list(zip(tape.gradient(value, variables), variables))

    return both


def implicit_gradients(f: Callable[..., Any]) -> Callable[..., list]:
    """Like ``implicit_value_and_gradients``, for the gradients alone."""
    both = implicit_value_and_gradients(f)
    return lambda *args, **kwargs: both(*args, **kwargs)[1]


def value_and_gradients_function(
    f: Callable[..., Any], params: Sequence[int] | None = None
) -> Callable[..., tuple[Any, list]]:
    """Makes a function that returns a value and its gradients by the arguments.

    Args:
      f: a function of tensors.
      params: the positions of the arguments; by default all.

    Returns:
      A function of the same arguments. It returns the value and the gradients.
    """

    def both(*args: Any) -> tuple[Any, list]:
        tensors = [tf.convert_to_tensor(arg) for arg in args]
        chosen = tensors if params is None else [tensors[i] for i in params]
        with tf.GradientTape() as tape:
            tape.watch(chosen)
            value = f(*tensors)
        return value, tape.gradient(value, chosen)

    return both


def gradients_function(
    f: Callable[..., Any], params: Sequence[int] | None = None
) -> Callable[..., list]:
    """Like ``value_and_gradients_function``, for the gradients alone."""
    both = value_and_gradients_function(f, params)
    return lambda *args: both(*args)[1]
