"""The Runge-Kutta method of Dormand and Prince, with steps of adaptive size.

The coefficients, with those of the midpoint, are in Shampine, Some Practical Runge-Kutta Formulas,
Mathematics of Computation 46 (1986), section 4. Between the ends of a step the solution is a
polynomial of degree 4 through both ends, with their derivatives, and the midpoint.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import tensorflow as tf

from estimator_bridge_contrib.integrate.checks import check_types, times_increase, to_floats

__all__ = ["odeint"]

_v1 = tf.compat.v1

# A stage's time within the step, and the weights of the derivatives found before it. The last stage
# is the end of the step.
_STAGES: tuple[tuple[float, tuple[float, ...]], ...] = (
    (1 / 5, (1 / 5,)),
    (3 / 10, (3 / 40, 9 / 40)),
    (4 / 5, (44 / 45, -56 / 15, 32 / 9)),
    (8 / 9, (19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729)),
    (1.0, (9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656)),
    (1.0, (35 / 384, 0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84)),
)
# The weights of the solution of order 4; the error is its difference from that of order 5.
_LOWER_ORDER = (1951 / 21600, 0, 22642 / 50085, 451 / 720, -12231 / 42400, 649 / 6300, 1 / 60)
_ERROR = tuple(low - high for low, high in zip(_LOWER_ORDER, (*_STAGES[-1][1], 0)))
_MIDPOINT = (
    6025192743 / 30085553152 / 2,
    0,
    51252292925 / 65400821598 / 2,
    -2691868925 / 45128329728 / 2,
    187940372067 / 1594534317056 / 2,
    -1776094331 / 19743644256 / 2,
    11237099 / 235043384 / 2,
)
_OPTIONS = ("first_step", "safety", "ifactor", "dfactor", "max_num_steps")


class _Controls(NamedTuple):
    """Tolerances, and how the size of a step changes; see ``odeint``."""

    rtol: tf.Tensor
    atol: tf.Tensor
    safety: tf.Tensor
    ifactor: tf.Tensor
    dfactor: tf.Tensor
    max_num_steps: int


class _Reached(NamedTuple):
    """The solution so far: the end of the last step, and the polynomial within it."""

    y: Any
    derivative: Any
    start: Any
    end: Any
    next_step: Any
    polynomial: Any


class _History(NamedTuple):
    """The end of each step that was tried, and the ratio of its error to the tolerance."""

    ends: Any
    ratios: Any


def odeint(
    func: Callable[[tf.Tensor, tf.Tensor], Any],
    y0: Any,
    t: Any,
    rtol: Any = 1e-6,
    atol: Any = 1e-12,
    method: str | None = None,
    options: Mapping[str, Any] | None = None,
    full_output: bool = False,
    name: str | None = None,
) -> Any:
    """Solves dy/dt = func(y, t) with steps of adaptive size.

    Args:
      func: returns the derivative, of a state like y0 and a scalar time.
      y0: the state at the first time, floats or complex numbers of any shape.
      t: the times, increasing, [times]; Python's numbers become float64.
      rtol: the error of an element relative to its size.
      atol: the absolute error of an element.
      method: "dopri5", or None, which means it.
      options: first_step (1.0); safety (0.9), a factor of each step's size; ifactor (10.0) and
        dfactor (0.2), the limits of its change; max_num_steps (1000), between two times.
      full_output: whether a dict describes the steps.
      name: the operations' name.

    Returns:
      The states, [times, ...]; with full_output also a dict with num_func_evals, integrate_points
      (the end of each step that was tried) and error_ratio (above 1 for a step that was repeated).

    Raises:
      ValueError: another method, or options without a method.
      TypeError: y0 or t has another type, or an option is unknown.
    """
    if method is not None and method != "dopri5":
        raise ValueError(f"invalid method: {method!r}. Wanted: 'dopri5'.")
    if options is not None and method is None:
        raise ValueError(
            "cannot supply `options` without specifying `method`: add method='dopri5'."
        )
    settings = dict(options or {})
    if unknown := sorted(set(settings) - set(_OPTIONS)):
        raise TypeError(f"odeint has no options {unknown}. Wanted: {', '.join(_OPTIONS)}.")
    with _v1.name_scope(name, "odeint", [y0, t, rtol, atol]) as scope:
        y0 = tf.convert_to_tensor(y0, name="y0")
        t = to_floats(t, "t")
        check_types(y0, t)
        tolerance = tf.abs(y0).dtype
        safety, ifactor, dfactor = (
            tf.convert_to_tensor(settings.get(option, default), t.dtype, name=option)
            for option, default in (("safety", 0.9), ("ifactor", 10.0), ("dfactor", 0.2))
        )
        controls = _Controls(
            tf.convert_to_tensor(rtol, tolerance, name="rtol"),
            tf.convert_to_tensor(atol, tolerance, name="atol"),
            safety,
            ifactor,
            dfactor,
            settings.get("max_num_steps", 1000),
        )
        first = tf.convert_to_tensor(settings.get("first_step", 1.0), t.dtype, name="first_step")
        return _solve(func, y0, t, first, controls, full_output, scope)


def _solve(
    func: Callable[..., Any],
    y0: tf.Tensor,
    t: tf.Tensor,
    first_step: tf.Tensor,
    controls: _Controls,
    full_output: bool,
    scope: str,
) -> Any:
    def next_time(solution: Any, history: _History, reached: _Reached, i: Any) -> Any:
        reached, history, _ = tf.while_loop(
            lambda reached, *_: t[i] > reached.end,
            lambda reached, history, count: (
                *_step(func, reached, history, count, controls),
                count + 1,
            ),
            (reached, history, 0),
        )
        return solution.write(i, _interpolated(reached, t[i])), history, reached, i + 1

    with tf.control_dependencies([times_increase(t)]):
        count = tf.size(t)
    solution = tf.TensorArray(y0.dtype, size=count, element_shape=y0.shape).write(0, y0)
    history = _History(
        tf.TensorArray(t.dtype, size=0, dynamic_size=True, element_shape=[]),
        tf.TensorArray(controls.rtol.dtype, size=0, dynamic_size=True, element_shape=[]),
    )
    reached = _Reached(y0, func(y0, t[0]), t[0], t[0], first_step, (y0,) * 5)
    solution, history, _, _ = tf.while_loop(
        lambda *state: state[-1] < count, next_time, (solution, history, reached, 1)
    )
    states = solution.stack(name=scope or None)
    states.set_shape(t.shape.concatenate(y0.shape))
    if not full_output:
        return states
    ends = history.ends.stack()
    return states, {
        "num_func_evals": 6 * tf.size(ends) + 1,
        "integrate_points": ends,
        "error_ratio": history.ratios.stack(),
    }


def _step(
    func: Callable[..., Any], reached: _Reached, history: _History, count: Any, controls: _Controls
) -> tuple[_Reached, _History]:
    """Tries a step; one whose error is too large is tried again, smaller."""
    y, derivative, start, dt = reached.y, reached.derivative, reached.end, reached.next_step
    checks = [
        _v1.Assert(start + dt > start, ["underflow in dt", dt]),
        _v1.Assert(count < controls.max_num_steps, ["max_num_steps exceeded"]),
        _v1.Assert(
            tf.reduce_all(tf.math.is_finite(tf.abs(y))), ["non-finite values in state `y`", y]
        ),
    ]
    with tf.control_dependencies(checks):
        y = tf.identity(y)
    size = tf.cast(dt, y.dtype)
    slopes = [derivative]
    after = y
    for share, weights in _STAGES:
        after = y + _weighted(size, weights, slopes)
        slopes.append(func(after, start + share * dt))
    error = _weighted(size, _ERROR, slopes)
    allowed = controls.atol + controls.rtol * tf.maximum(tf.abs(y), tf.abs(after))
    ratio = tf.sqrt(tf.reduce_mean(_squared(error) / _squared(allowed)))
    accepted = ratio <= 1
    middle = y + _weighted(size, _MIDPOINT, slopes)
    fitted = _polynomial(y, after, middle, slopes[0], slopes[-1], size)

    def chosen(new: Any, old: Any) -> Any:
        return tf.where(accepted, new, old)

    change = tf.cast(ratio, dt.dtype) ** tf.cast(1 / 5, dt.dtype) / controls.safety
    change = tf.maximum(1 / controls.ifactor, tf.minimum(change, 1 / controls.dfactor))
    reached = _Reached(
        chosen(after, y),
        chosen(slopes[-1], derivative),
        start,
        chosen(start + dt, start),
        dt / change,
        tuple(map(chosen, fitted, reached.polynomial)),
    )
    number = history.ends.size()
    history = _History(history.ends.write(number, start + dt), history.ratios.write(number, ratio))
    return reached, history


def _weighted(size: Any, weights: Sequence[float], slopes: Sequence[Any]) -> Any:
    return tf.add_n([(size * weight) * each for weight, each in zip(weights, slopes) if weight])


def _squared(x: Any) -> Any:
    """Returns the squares of absolute values."""
    if x.dtype.is_complex:
        return tf.square(tf.math.real(x)) + tf.square(tf.math.imag(x))
    return tf.square(x)


def _polynomial(y0: Any, y1: Any, middle: Any, f0: Any, f1: Any, dt: Any) -> tuple[Any, ...]:
    """Returns the coefficients, the highest power first, for the time from 0 to 1 in the step."""
    rise0, rise1 = dt * f0, dt * f1
    return (
        2 * (rise1 - rise0) - 8 * (y1 + y0) + 16 * middle,
        5 * rise0 - 3 * rise1 + 18 * y0 + 14 * y1 - 32 * middle,
        rise1 - 4 * rise0 - 11 * y0 - 5 * y1 + 16 * middle,
        rise0,
        y0,
    )


def _interpolated(reached: _Reached, time: Any) -> Any:
    """Returns the state at a time within the last step."""
    start, end = reached.start, reached.end
    check = _v1.Assert(
        (start <= time) & (time <= end),
        ["invalid interpolation, fails `t0 <= t <= t1`:", start, time, end],
    )
    with tf.control_dependencies([check]):
        share = tf.cast((time - start) / (end - start), reached.y.dtype)
    result = reached.polynomial[0]
    for coefficient in reached.polynomial[1:]:
        result = result * share + coefficient
    return result
