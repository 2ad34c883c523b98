"""The loops of an ARModel: over the windows of an evaluation, and of a prediction."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import tensorflow as tf

__all__ = ["Windows", "evaluate_windows", "predict_windows"]

_v1 = tf.compat.v1


class Windows(NamedTuple):
    """The sizes of a model's windows, and what it computes with.

    Attributes:
      input_size: the number of times before a predicted window.
      output_size: the number of times of a predicted window.
      dtype: the type of floats.
      predict: a function of times, values and known vectors, which returns the prediction of the
        window by name.
      has_variances: whether predictions have variances.
    """

    input_size: int
    output_size: int
    dtype: Any
    predict: Callable[[Any, Any, Any], Mapping[str, Any]]
    has_variances: bool


def evaluate_windows(
    windows: Windows, count: Any, evaluate: Callable[[Any, Any], Any]
) -> tuple[Any, Any, Any]:
    """Evaluates windows whose predicted parts follow one another.

    Args:
      windows: the windows.
      count: the number of windows.
      evaluate: a function of the first and the last position (exclusive) of a window, which
        returns its ModelOutputs.

    Returns:
      The mean loss, and the means and variances, each [windows, batch, output size, features].
    """

    def step(number: Any, losses: Any, means: Any, variances: Any) -> tuple[Any, ...]:
        first = number * windows.output_size
        outputs = evaluate(first, first + windows.input_size + windows.output_size)
        return (
            number + 1,
            losses.write(number, outputs.loss),
            means.write(number, outputs.predictions["mean"]),
            variances.write(number, outputs.predictions["covariance"]),
        )

    arrays = [tf.TensorArray(windows.dtype, size=count) for _ in range(3)]
    _, *collected = _v1.while_loop(lambda number, *_: number < count, step, [0, *arrays])
    losses, means, variances = (each.stack() for each in collected)
    return tf.reduce_mean(losses, axis=0), means, variances


def predict_windows(
    windows: Windows, times: Any, regressors: Any, state: tuple[Any, Any, Any]
) -> tuple[Any, Any]:
    """Predicts times, window by window, each from the predictions before.

    Args:
      windows: the windows.
      times: int32 [batch, times].
      regressors: vectors, [batch, times, size].
      state: times int32 [batch, n], values [batch, n, features] and vectors [batch, n, size], with
        n at least the input's size.

    Returns:
      The means, and the variances or None; [batch, times, features].
    """
    ahead, back = windows.output_size, windows.input_size
    batch, length = tf.shape(times)[0], tf.shape(times)[1]
    count = (length + ahead - 1) // ahead
    padding = count * ahead - length  # windows are whole
    times = tf.pad(times, [[0, 0], [0, padding]])
    regressors = tf.pad(regressors, [[0, 0], [0, padding], [0, 0]])
    first_times, first_known = times[:, :ahead], regressors[:, :ahead, :]
    first_values: Any = 0
    if back:
        first_times, first_values, first_known = _after_state(back, state, first_times, first_known)

    def following(number: Any, now: Any, values: Any, vectors: Any, mean: Any) -> tuple[Any, ...]:
        """Returns the times, values and vectors of the next window."""
        # The last round computes an input that nobody reads; it stays within the arrays.
        offset = ahead * tf.minimum(number + 1, count - 1)
        end = offset + ahead
        if not back:
            return times[:, offset:end], values, regressors[:, offset:end, :]
        if ahead >= back:
            start = offset - back
            return times[:, start:end], mean[:, -back:, :], regressors[:, start:end, :]
        return (
            tf.concat([now[:, -back:], times[:, offset:end]], 1),
            tf.concat([values[:, ahead:, :], mean], 1),
            tf.concat([vectors[:, -back:, :], regressors[:, offset:end, :]], axis=1),
        )

    def step(
        number: Any, now: Any, values: Any, vectors: Any, means: Any, variances: Any
    ) -> tuple[Any, ...]:
        prediction = windows.predict(now, values, vectors)
        later, values, ahead_known = following(number, now, values, vectors, prediction["mean"])
        later.set_shape(first_times.shape)
        ahead_known.set_shape(first_known.shape)
        means = means.write(number, prediction["mean"])
        if windows.has_variances:
            variances = variances.write(number, prediction["covariance"])
        return number + 1, later, values, ahead_known, means, variances

    means = tf.TensorArray(windows.dtype, size=count)
    variances: Any = tf.TensorArray(windows.dtype, size=count) if windows.has_variances else 0.0
    *_, means, variances = _v1.while_loop(
        lambda number, *_: tf.less(number, count),
        step,
        [0, first_times, first_values, first_known, means, variances],
    )

    def joined(collected: Any) -> tf.Tensor:
        parts = tf.transpose(collected.stack(), [1, 0, 2, 3])
        return tf.reshape(parts, tf.stack([batch, count * ahead, -1]))[:, :length, :]

    return joined(means), joined(variances) if windows.has_variances else None


def _after_state(
    back: int, state: tuple[Any, Any, Any], times: Any, regressors: Any
) -> tuple[Any, Any, Any]:
    """Returns the times, values and vectors of the first window: the state's end, and the new."""
    state_times, state_values, state_known = state
    length = tf.shape(state_values)[1]
    times = tf.concat([state_times[:, -back:], times], 1)
    checks = [
        _v1.assert_greater_equal(length, back),
        _v1.assert_equal(length, tf.shape(state_times)[1]),
    ]
    with tf.control_dependencies(checks):
        values = state_values[:, -back:, :]
        return times, values, tf.concat([state_known[:, -back:, :], regressors], axis=1)
