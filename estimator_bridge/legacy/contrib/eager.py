"""tf.contrib.eager: what of eager execution had no public name yet."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

from estimator_bridge.legacy.missing import missing_getattr

__all__ = [
    "Checkpoint",
    "Iterator",
    "TensorSpec",
    "Variable",
    "custom_gradient",
    "defun",
    "enable_eager_execution",
    "executing_eagerly",
    "function",
    "gradients_function",
    "implicit_gradients",
    "implicit_value_and_gradients",
    "in_eager_mode",
    "list_devices",
    "make_template",
    "num_gpus",
    "py_func",
    "value_and_gradients_function",
]

_v1 = tf.compat.v1

Checkpoint = _v1.train.Checkpoint
TensorSpec = tf.TensorSpec
Variable = tf.Variable
custom_gradient = tf.custom_gradient
defun = function = tf.function
enable_eager_execution = _v1.enable_eager_execution
executing_eagerly = in_eager_mode = tf.executing_eagerly
make_template = _v1.make_template
py_func = tf.py_function


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


_NETWORK = "is not there. Use tf.keras.Model and tf.keras.Sequential."
_SAVER = "is not there. Use tf.train.Checkpoint."

__getattr__ = missing_getattr(
    __name__,
    {
        **dict.fromkeys(("Network", "Sequential"), _NETWORK),
        **dict.fromkeys(
            (
                "Saver",
                "get_optimizer_variables",
                "restore_network_checkpoint",
                "restore_variables_on_create",
                "save_network_checkpoint",
            ),
            _SAVER,
        ),
        "EagerVariableStore": "is not there. Use tf.keras layers, which keep their variables.",
        "Checkpointable": "is not there. Use tf.Module.",
        "metrics": "is not there. Use tf.keras.metrics.",
        "run": "is not there. Call enable_eager_execution() and tf.compat.v1.app.run(main).",
    },
    "tf.contrib.eager",
)
