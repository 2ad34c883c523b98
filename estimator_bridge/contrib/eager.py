"""tf.contrib.eager: what of eager execution had no public name yet."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

from estimator_bridge.contrib.namespaces import NAMESPACES

__all__, __getattr__, __dir__ = NAMESPACES["eager"].opened()

_v1 = tf.compat.v1


def Iterator(dataset: tf.data.Dataset) -> Any:
    """An iterator over a dataset's elements, with ``next()`` too.

    Returns:
      What ``iter(dataset)`` is.
    """
    iterator = iter(dataset)
    iterator.next = iterator.__next__
    return iterator


def list_devices() -> list[str]:
    """The names of the devices."""
    return [device.name for device in tf.config.list_logical_devices()]


def num_gpus() -> int:
    """How many GPUs there are."""
    return len(tf.config.list_logical_devices("GPU"))


def implicit_value_and_gradients(f: Callable[..., Any]) -> Callable[..., tuple[Any, list]]:
    """Makes a function of a loss and its gradients.

    Args:
      f: returns the loss.

    Returns:
      A function of the same arguments: of the loss, and pairs of gradient and variable for each
      trainable variable that ``f`` used.
    """

    def both(*args: Any, **kwargs: Any) -> tuple[Any, list]:
        with tf.GradientTape() as tape:
            value = f(*args, **kwargs)
        variables = tape.watched_variables()
        return value, list(zip(tape.gradient(value, variables), variables))

    return both


def implicit_gradients(f: Callable[..., Any]) -> Callable[..., list]:
    """As ``implicit_value_and_gradients``, of the gradients alone."""
    both = implicit_value_and_gradients(f)
    return lambda *args, **kwargs: both(*args, **kwargs)[1]


def value_and_gradients_function(
    f: Callable[..., Any], params: Sequence[int] | None = None
) -> Callable[..., tuple[Any, list]]:
    """Makes a function of a value and its gradients by the arguments.

    Args:
      f: a function of tensors.
      params: the places of the arguments; by default all.

    Returns:
      A function of the same arguments: of the value, and the gradients.
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
    """As ``value_and_gradients_function``, of the gradients alone."""
    both = value_and_gradients_function(f, params)
    return lambda *args: both(*args)[1]
