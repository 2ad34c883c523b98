"""Solvers with steps of fixed size: the midpoint rule, and the classic Runge-Kutta method."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tensorflow as tf

from estimator_bridge_contrib.integrate.checks import check_types, times_increase, to_floats

__all__ = ["odeint_fixed"]

_v1 = tf.compat.v1


def odeint_fixed(
    func: Callable[[tf.Tensor, tf.Tensor], Any],
    y0: Any,
    t: Any,
    dt: Any = None,
    method: str = "rk4",
    name: str | None = None,
) -> tf.Tensor:
    """Solves dy/dt = func(y, t) with steps of fixed size; gradients pass through them.

    Args:
      func: returns the derivative, of a state like y0 and a scalar time.
      y0: the state at the first time, floats or complex numbers of any shape.
      t: the times, increasing, [times]; Python's numbers become float64.
      dt: the largest step, a scalar or [times - 1]; each interval is divided into equal steps. By
        default an interval is one step.
      method: "midpoint" or "rk4".
      name: the operations' name.

    Returns:
      The states, [times, ...].

    Raises:
      ValueError: another method, or t and dt have other shapes.
      TypeError: y0, t or dt has another type.
    """
    with _v1.name_scope(name, "odeint_fixed", [y0, t, dt]):
        t = to_floats(t, "t")
        y0 = tf.convert_to_tensor(y0, name="y0")
        intervals = t[1:] - t[:-1]
        max_step = intervals if dt is None else to_floats(dt, "dt")
        counts = tf.math.ceil(intervals / max_step)
        steps = intervals / counts
        check_types(y0, t, steps)
        _check_sizes(t, steps)
        if method not in _RULES:
            raise ValueError(f"method not supported: {method!s}. Wanted: {' or '.join(_RULES)}.")
        with tf.control_dependencies([times_increase(t)]), _v1.name_scope(method):
            return _integrate(_RULES[method], func, y0, t, steps, tf.cast(counts, tf.int32))


def _check_sizes(t: tf.Tensor, steps: tf.Tensor) -> None:
    for name, each in (("t", t), ("dt", steps)):
        if len(each.shape.as_list()) > 1:
            raise ValueError(f"{name} must be a 1D tensor. Got the shape {each.shape}.")
    times, sizes = t.shape.as_list()[0], steps.shape.as_list()[0]
    if times is not None and sizes is not None and times != sizes + 1:
        raise ValueError(
            f"t and dt have incompatible lengths, must be N and N-1. Got {times} and {sizes}."
        )


def _integrate(
    rule: Callable[..., Any],
    func: Callable[..., Any],
    y0: tf.Tensor,
    t: tf.Tensor,
    steps: tf.Tensor,
    counts: tf.Tensor,
) -> tf.Tensor:
    def next_time(solution: Any, y: Any, time: Any, i: Any) -> Any:
        dt = steps[i - 1]

        def step(y: Any, time: Any, number: Any) -> Any:
            return y + tf.cast(rule(func, time, dt, y), y.dtype), time + dt, number + 1

        y, time, _ = tf.while_loop(
            lambda y, time, number: number < counts[i - 1], step, (y, time, 0)
        )
        return solution.write(i, y), y, time, i + 1

    count = tf.size(t)
    solution = tf.TensorArray(y0.dtype, size=count, element_shape=y0.shape).write(0, y0)
    solution, _, _, _ = tf.while_loop(
        lambda *state: state[-1] < count, next_time, (solution, y0, t[0], 1)
    )
    states = solution.stack()
    states.set_shape(t.shape.concatenate(y0.shape))
    return states


def _midpoint(func: Callable[..., Any], t: Any, dt: Any, y: Any) -> Any:
    size = tf.cast(dt, y.dtype)
    return size * func(y + func(y, t) * size / 2, t + dt / 2)


def _runge_kutta(func: Callable[..., Any], t: Any, dt: Any, y: Any) -> Any:
    size, half = tf.cast(dt, y.dtype), t + dt / 2
    first = func(y, t)
    second = func(y + size * first / 2, half)
    third = func(y + size * second / 2, half)
    fourth = func(y + size * third, t + dt)
    return (first + 2 * second + 2 * third + fourth) * (size / 6)


_RULES = {"midpoint": _midpoint, "rk4": _runge_kutta}
