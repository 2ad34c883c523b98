"""A decorator that computes a function a second time for its gradient."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

import tensorflow as tf

from estimator_bridge_contrib.layers.own_gradient import (
    used_variables,
    wait_for,
    with_own_gradient,
)

__all__ = ["recompute_grad"]

v1 = tf.compat.v1


def _takes_options(decorator: Callable[..., Any]) -> Callable[..., Any]:
    """Lets a decorator be called with its options only."""

    @functools.wraps(decorator)
    def called(fn: Any = None, *args: Any, **options: Any) -> Any:
        if fn is None:
            return functools.partial(decorator, **options)
        return decorator(fn, *args, **options)

    return called


@_takes_options
def recompute_grad(
    fn: Callable[..., Any],
    use_data_dep: Any = "__rev_block_lib_default",
    tupleize_grads: bool = False,
) -> Callable[..., Any]:
    """Lets a function's gradient call the function again, instead of keeping its activations.

    The second call reads the first one's variables by their names. So call the function once in a
    variable scope, and let it draw no random numbers.

    Args:
      fn: a function of tensors. If it has a parameter ``is_recomputing``, that is True in the
        second call.
      use_data_dep: False lets the second call wait for the gradients of the outputs through control
        dependencies, which XLA ignores; by default, it waits for them through its inputs.
      tupleize_grads: whether no gradient is available before all are.

    Returns:
      The function; without ``fn``, a decorator.

    Raises:
      ValueError: the function reads a tensor that is not an argument.
    """
    _refuse_closed_over_tensors(fn)
    takes_flag = "is_recomputing" in inspect.signature(fn).parameters

    def call(inputs: list[Any], is_recomputing: bool) -> Any:
        flag = {"is_recomputing": is_recomputing} if takes_flag else {}
        return fn(*inputs, **flag)

    @functools.wraps(fn)
    def wrapped(*args: Any) -> Any:
        inputs = [tf.convert_to_tensor(each) for each in args]
        scope = v1.get_variable_scope()
        structure = call(inputs, False)
        outputs = [tf.convert_to_tensor(each) for each in tf.nest.flatten(structure)]
        variables = used_variables(outputs, inputs)

        def gradient(gradients: list[Any]) -> list[Any]:
            with tf.control_dependencies(gradients):
                again = [tf.identity(each) for each in inputs]
            if use_data_dep:
                again = wait_for(again, gradients)
            # Otherwise a variable would reach the results through the gradients that they wait for.
            again = [tf.stop_gradient(each) for each in again]
            results = _call_again(lambda: tf.nest.flatten(call(again, True)), scope)
            _check_same_variables(variables, used_variables(results, again), scope)
            derivatives = tf.gradients(results, [*again, *variables], gradients)
            return tf.tuple(derivatives) if tupleize_grads else derivatives

        same = with_own_gradient(outputs, [*inputs, *variables], gradient)
        return tf.nest.pack_sequence_as(structure, same)

    return wrapped


def _call_again(call: Callable[[], Any], scope: Any) -> Any:
    try:
        with v1.variable_scope(scope, reuse=True):
            return call()
    except ValueError as error:
        raise ValueError(
            f"{error}\nThe gradient of a function with recompute_grad calls the function again, in "
            f"the variable scope {scope.name!r}. Compute gradients outside of that scope, and call "
            "the function once in a scope."
        ) from error


def _check_same_variables(first: list[Any], second: list[Any], scope: Any) -> None:
    names = [sorted(each.op.name for each in variables) for variables in (first, second)]
    if names[0] != names[1]:
        raise ValueError(
            "A function with recompute_grad was called twice in the same enclosing scope, "
            f"{scope.name!r}: its variables are {names[0]}, and {names[1]} when it is called again "
            "for the gradient. Call it in a variable scope of its own each time."
        )


def _refuse_closed_over_tensors(fn: Callable[..., Any]) -> None:
    cells = inspect.getclosurevars(inspect.unwrap(fn)).nonlocals if inspect.isroutine(fn) else {}
    for name, value in cells.items():
        if isinstance(value, (tf.Tensor, tf.Variable)):
            raise ValueError(
                f"fn decorated with @recompute_grad closes over {value!r} (local variable name: "
                f"{name}). No gradient would reach it. Make it an argument of the function, or get "
                "the variable with tf.get_variable in the function."
            )
