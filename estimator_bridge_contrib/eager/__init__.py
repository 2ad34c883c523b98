"""tf.contrib.eager: parts of eager execution that had no public name yet."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

from estimator_bridge_contrib.namespaces import NAMESPACES

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
    """Returns the full names of the devices."""
    here = tf.DeviceSpec(job="localhost", replica=0, task=0)
    names = [device.name for device in tf.config.list_logical_devices()]
    return [here.make_merged_spec(tf.DeviceSpec.from_string(name)).to_string() for name in names]


def num_gpus() -> int:
    """Returns the number of GPUs."""
    return len(tf.config.list_logical_devices("GPU"))


def run(main: Callable[[list[str]], Any] | None = None, argv: list[str] | None = None) -> None:
    """Runs a program's main function with eager execution, and ends the process.

    Args:
      main: the function, given the arguments that are no flags; by default the program's own.
      argv: the command line; by default the process's.
    """
    _v1.enable_eager_execution()
    _v1.app.run(main, argv)


def implicit_value_and_gradients(f: Callable[..., Any]) -> Callable[..., tuple[Any, list]]:
    """Makes a function that returns a loss and its gradients.

    Args:
      f: a function that returns the loss.

    Returns:
      A function of the same arguments. It returns the loss, and pairs of gradient and variable
      for each trainable variable that ``f`` used. It raises a ValueError if ``f`` returns None or
      uses no trainable variable.
    """

    def both(*args: Any, **kwargs: Any) -> tuple[Any, list]:
        with tf.GradientTape() as tape:
            value = f(*args, **kwargs)
        variables = tape.watched_variables()
        _check_value(value, f)
        if not variables:
            raise ValueError(
                "No trainable variables were accessed while the function was being computed: "
                f"{_name(f)} uses none. For gradients by its arguments, use gradients_function."
            )
        return value, list(zip(tape.gradient(value, variables), variables))

    return both


def implicit_gradients(f: Callable[..., Any]) -> Callable[..., list]:
    """Like ``implicit_value_and_gradients``, for the gradients alone."""
    both = implicit_value_and_gradients(f)
    return lambda *args, **kwargs: both(*args, **kwargs)[1]


def value_and_gradients_function(
    f: Callable[..., Any], params: Sequence[int] | Sequence[str] | None = None
) -> Callable[..., tuple[Any, list]]:
    """Makes a function that returns a value and its gradients by the arguments.

    Args:
      f: a function of tensors.
      params: the positions or the names of the arguments; by default all.

    Returns:
      A function of the same arguments, given by position. Its argument ``dy`` is the gradient by
      the value, by default ones. It returns the value and the gradients. It raises a ValueError if
      ``f`` returns None, is given keyword arguments, or lacks one of ``params``.
    """

    def both(*args: Any, dy: Any = None, **kwargs: Any) -> tuple[Any, list]:
        if kwargs:
            raise ValueError(
                "Functions to be differentiated cannot receive keyword arguments. Pass these "
                f"arguments of {_name(f)} by position: {', '.join(kwargs)}."
            )
        tensors = [tf.convert_to_tensor(arg) for arg in args]
        chosen = [tensors[i] for i in _positions(f, params, len(args))]
        with tf.GradientTape() as tape:
            tape.watch(chosen)
            value = f(*tensors)
        _check_value(value, f)
        return value, tape.gradient(value, chosen, output_gradients=dy)

    return both


def gradients_function(
    f: Callable[..., Any], params: Sequence[int] | Sequence[str] | None = None
) -> Callable[..., list]:
    """Like ``value_and_gradients_function``, for the gradients alone."""
    both = value_and_gradients_function(f, params)
    return lambda *args, **kwargs: both(*args, **kwargs)[1]


def _positions(f: Callable[..., Any], params: Sequence[Any] | None, count: int) -> Sequence[int]:
    """Returns the positions of the chosen arguments.

    Raises:
      ValueError: they are neither all positions nor all names, or f has no argument of a name.
    """
    if params is None:
        return range(count)
    if all(isinstance(each, int) for each in params):
        return params
    if not all(isinstance(each, str) for each in params):
        raise ValueError(f"params must be all strings or all integers; got {list(params)}.")
    names = list(inspect.signature(f).parameters)
    if unknown := [name for name in params if name not in names]:
        raise ValueError(
            f"params must be names of arguments of {_name(f)}, which are {names}; got {unknown}."
        )
    return [names.index(name) for name in params]


def _check_value(value: Any, f: Callable[..., Any]) -> None:
    if value is None:
        raise ValueError(
            f"Cannot differentiate a function that returns None. Return a tensor from {_name(f)}."
        )


def _name(f: Callable[..., Any]) -> str:
    return getattr(f, "__name__", repr(f))


class Saver:
    """Saves variables by their names, with eager execution.

    Args:
      var_list: the variables; or a dict, whose keys are the names in the file.

    Raises:
      RuntimeError: eager execution is off.
    """

    def __init__(self, var_list: Any):
        if not tf.executing_eagerly():
            raise RuntimeError(
                "tfe.Saver can only be used when eager execution is enabled. Use tf.train.Saver "
                "when building graphs."
            )
        self._saver = _v1.train.Saver(var_list)

    def save(self, file_prefix: str, global_step: Any = None) -> str:
        """Writes a checkpoint, and returns its path.

        Args:
          file_prefix: the path.
          global_step: a number that follows it, or None.
        """
        with tf.device("/device:CPU:0"):
            return self._saver.save(
                None, file_prefix, write_meta_graph=False, global_step=global_step
            )

    def restore(self, file_prefix: str) -> None:
        """Reads a checkpoint into the variables.

        Args:
          file_prefix: the path that ``save`` returned.

        Raises:
          tf.errors.NotFoundError: the file has no value for a variable.
        """
        with tf.device("/device:CPU:0"):
            self._saver.restore(None, file_prefix)


def get_optimizer_variables(optimizer: Any) -> list[Any]:
    """Returns the variables that an optimizer has made."""
    return list(optimizer.variables())
