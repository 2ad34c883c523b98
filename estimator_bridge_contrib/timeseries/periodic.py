"""Models of periods: a cycle of values, one for each step or fewer."""

from __future__ import annotations

import math
from typing import Any

import tensorflow as tf

from estimator_bridge_contrib.timeseries.state_space import StateSpaceModel
from estimator_bridge_contrib.timeseries.state_space_configuration import (
    DEFAULTS,
    StateSpaceModelConfiguration,
)

__all__ = ["CycleStateSpaceModel", "ResolutionCycleModel"]

_v1 = tf.compat.v1


class CycleStateSpaceModel(StateSpaceModel):
    """A cycle of n values with sum 0, of which each step observes the next one.

    The state has n - 1 of them. Noise enters at one place of the cycle.

    Args:
      periodicity: n.
      configuration: the options.
    """

    def __init__(
        self,
        periodicity: Any,
        configuration: StateSpaceModelConfiguration = DEFAULTS,
    ):
        self._periodicity = periodicity
        super().__init__(configuration=configuration)

    def get_state_transition(self) -> Any:
        """Returns the transition matrix; see the base class."""
        return self.transition_to_powers(tf.ones([], dtype=tf.int32))

    def get_noise_transform(self) -> Any:
        """Returns the matrix that adds noise to the first value; see the base class."""
        first = tf.pad(tf.ones([1], dtype=self.dtype), [(0, self._periodicity - 2)])
        return first[..., None]

    def get_observation_model(self, times: Any) -> tf.Tensor:
        """Returns how a state is observed, the first value; see the base class."""
        del times
        others = tf.zeros([self._periodicity - 2], dtype=self.dtype)
        return tf.concat([tf.ones([1], dtype=self.dtype), others], axis=0)

    def transition_to_powers(self, powers: Any) -> tf.Tensor:
        """Raises the transition matrix to integer powers.

        With p the power modulo n, the element at i, j is 1 where (i - j) modulo n is p, less 1 in
        the row i = p - 1, whose value is the negative sum of the others.

        Args:
          powers: [...].

        Returns:
          [..., n - 1, n - 1].
        """
        size = self._periodicity - 1
        powers %= self._periodicity
        places = _broadcast_range(tf.range(size, dtype=powers.dtype), size, powers)
        is_sum = tf.equal(places + 1, powers[..., None])
        difference = places[..., None] - places[..., None, :]
        is_one = tf.equal(difference % self._periodicity, powers[..., None, None])
        return tf.cast(is_one, self.dtype) - tf.cast(is_sum, self.dtype)[..., None]

    def transition_power_noise_accumulator(
        self, num_steps: Any, noise_addition_coefficient: Any = 1
    ) -> tf.Tensor:
        """Computes the noise of several steps in closed form.

        Each value of the cycle gets noise once a period. The sums of each value's noise stand on
        the diagonal, and with the other sign beside it.

        Args:
          num_steps: the numbers of steps, [...].
          noise_addition_coefficient: what to multiply the noise by.

        Returns:
          [..., n - 1, n - 1].
        """
        count = self._periodicity
        noise = tf.squeeze(self.state_transition_noise_covariance, axis=[-1, -2])
        places = _broadcast_range(tf.range(count, dtype=num_steps.dtype), count, num_steps)
        left = (places - (num_steps[..., None] - 1)) % count
        times = tf.cast((num_steps[..., None] + left) // count, dtype=self.dtype)
        coefficient = self._tensor(noise_addition_coefficient)
        sums = coefficient[..., None] * noise * times
        matrix = tf.linalg.diag(sums)
        column, row = matrix[..., :-1, 0:1], matrix[..., 0:1, :-1]
        upper = tf.concat([tf.zeros_like(column), -matrix[..., :-1, 0:-2]], axis=-1)
        lower = tf.concat([tf.zeros_like(row), -matrix[..., 0:-2, :-1]], axis=-2)
        turned = tf.concat([sums[..., -1:], sums[..., :-2]], axis=-1)
        return tf.linalg.diag(sums[..., :-1] + turned) + lower + upper


class ResolutionCycleModel(CycleStateSpaceModel):
    """A cycle of n values that takes any time, between which the model interpolates.

    Its transition matrix is that of `CycleStateSpaceModel` to the power ``n / periodicity``. That
    has real elements for an odd n.

    Args:
      num_latent_values: n, an odd number.
      periodicity: the length of the cycle, also a float or a tensor.
      near_integer_threshold: how far a number may be from an integer to count as one, where the
        formulas for other numbers divide by 0.
      configuration: the options.

    Raises:
      ValueError: num_latent_values is even.
    """

    def __init__(
        self,
        num_latent_values: int,
        periodicity: Any,
        near_integer_threshold: float = 1e-8,
        configuration: StateSpaceModelConfiguration = DEFAULTS,
    ):
        if num_latent_values % 2 != 1:
            raise ValueError(
                f"Only odd numbers of latent values are supported. Got {num_latent_values}."
            )
        self._num_latent_values = num_latent_values
        self._true_periodicity = periodicity
        self._near_integer_threshold = near_integer_threshold
        super().__init__(periodicity=num_latent_values, configuration=configuration)

    def _close_to_integer(self, value: Any) -> tf.Tensor:
        value = tf.cast(value, self.dtype)
        return tf.less(tf.abs(value - tf.round(value)), self._near_integer_threshold)

    def _values_per_step(self) -> tuple[tf.Tensor, tf.Tensor]:
        """Returns n, and n / periodicity."""
        count = tf.cast(self._num_latent_values, self.dtype)
        return count, count / tf.cast(self._true_periodicity, self.dtype)

    def transition_to_powers(self, powers: Any) -> tf.Tensor:
        """Raises the transition matrix to powers.

        With p the power times n / periodicity and c(x) = 1 / sin(pi x / n), the element at i, j is
        ``(-1)**i sin(pi p) / n * ((-1)**j c(p - i + j) + c(p - i - 1))``. Where p is an integer,
        this is 0 times infinity, and the base class's matrix is taken.

        Args:
          powers: [...].

        Returns:
          [..., n - 1, n - 1].
        """
        count, rate = self._values_per_step()
        power = tf.cast(powers, self.dtype) * rate
        size = self._num_latent_values - 1
        overall = (tf.sin(power * math.pi) / count)[..., None, None]
        places = _broadcast_range(tf.range(size), size, power)
        floats = tf.cast(places, self.dtype)
        signs = tf.cast(1 - 2 * (places % 2), self.dtype)

        def cosecant(value: Any) -> tf.Tensor:
            return 1.0 / tf.sin(math.pi / count * value)

        of_row = cosecant(power[..., None] - floats - 1)
        difference = floats[..., None, :] - floats[..., None]
        of_both = signs[..., None, :] * cosecant(power[..., None, None] + difference)
        between = overall * signs[..., None] * (of_row[..., None] + of_both)
        whole = super().transition_to_powers(tf.cast(tf.round(power), tf.int64))
        return _v1.where(self._close_to_integer(power), whole, between)

    def transition_power_noise_accumulator(
        self, num_steps: Any, noise_addition_coefficient: Any = 1
    ) -> tf.Tensor:
        """Computes the noise of several steps: of whole cycles in closed form, and of the rest.

        Args:
          num_steps: the numbers of steps, [...].
          noise_addition_coefficient: not used.

        Returns:
          [..., n - 1, n - 1].
        """
        del noise_addition_coefficient
        size = self._num_latent_values - 1

        def whole_cycles() -> tuple[tf.Tensor, tf.Tensor]:
            # Each value gets the same noise in a cycle, so it is proportional to that of n steps.
            count, rate = self._values_per_step()
            del rate
            per_cycle = super(ResolutionCycleModel, self).transition_power_noise_accumulator(
                num_steps=tf.convert_to_tensor(self._num_latent_values, dtype=num_steps.dtype),
                noise_addition_coefficient=tf.cast(self._true_periodicity, self.dtype) / count,
            )
            period = tf.cast(self._true_periodicity, num_steps.dtype)
            cycles = tf.cast(num_steps // period, self.dtype)
            ones = tf.ones([tf.rank(cycles)], dtype=tf.int32)
            shape = tf.concat([ones, tf.shape(per_cycle)], axis=0)
            return num_steps % period, cycles[..., None, None] * tf.reshape(per_cycle, shape)

        def no_cycles() -> tuple[tf.Tensor, tf.Tensor]:
            shape = tf.concat([tf.shape(num_steps), [size, size]], axis=0)
            return num_steps, tf.zeros(shape, dtype=self.dtype)

        rest, noise = _v1.cond(self._has_whole_cycles(), whole_cycles, no_cycles)
        sums = self._power_sum_array(tf.reduce_max(rest))
        scale = tf.squeeze(self.state_transition_noise_covariance, axis=[-1, -2])
        return noise + scale * tf.gather(sums, indices=rest)

    def _has_whole_cycles(self) -> tf.Tensor:
        """Returns whether a cycle takes a whole number of steps, at least n."""
        is_long = tf.greater_equal(self._true_periodicity, self._num_latent_values)
        return tf.logical_and(self._close_to_integer(self._true_periodicity), is_long)

    def _power_sum_array(self, max_remaining_steps: Any) -> tf.Tensor:
        """Computes the sums of ``A**k B (A**k)^T`` for k below m, for each m up to a number.

        A is the transition matrix, B has a 1 at 0, 0. With p = k n / periodicity and
        c(x) = 1 / sin(pi x / n), the element of a term at i, j is
        ``(-1)**(i + j) sin(pi p)**2 / n**2 (c(p - i) + c(p - i - 1)) (c(p - j) + c(p - j - 1))``.
        Where p is an integer, it is the product of two signs, or 0.

        Args:
          max_remaining_steps: the number.

        Returns:
          [max_remaining_steps + 1, n - 1, n - 1].
        """
        count, rate = self._values_per_step()
        power = tf.cast(tf.range(max_remaining_steps), self.dtype) * rate
        places = tf.range(self._num_latent_values - 1)[None, ...]
        offset = power[..., None] - tf.cast(places, self.dtype)

        def cosecant(value: Any) -> tf.Tensor:
            return 1.0 / tf.sin(math.pi / count * value)

        def limit(value: Any) -> tuple[tf.Tensor, tf.Tensor]:
            """Returns where |sin(pi x)| / sin(pi x) has to be replaced by its limit, and that."""
            turns = value / count
            return self._close_to_integer(turns), tf.cos(turns * math.pi)

        both = cosecant(offset) + cosecant(offset - 1.0)
        product = both[..., None, :] * both[..., None]
        signs = tf.cast(1 - 2 * ((places[..., None, :] + places[..., None]) % 2), self.dtype)
        is_here, sign_here = limit(offset)
        is_next, sign_next = limit(offset - 1)
        is_limit = tf.logical_or(is_here, is_next)
        sign = _v1.where(is_here, sign_here, sign_next)
        finite = _v1.where(self._close_to_integer(power), tf.zeros_like(product), product)
        overall = (tf.sin(math.pi * power) / count)[..., None, None] ** 2
        terms = signs * _v1.where(
            tf.logical_and(is_limit[..., None], is_limit[..., None, :]),
            sign[..., None] * sign[..., None, :],
            finite * overall,
        )
        return tf.pad(tf.cumsum(terms), [(1, 0), (0, 0), (0, 0)])


def _broadcast_range(numbers: tf.Tensor, size: int, beside: Any) -> tf.Tensor:
    """Returns numbers [size] as [1, ..., 1, size], with a dimension more than another tensor."""
    ones = tf.ones([tf.rank(beside)], dtype=tf.int32)
    return tf.reshape(numbers, tf.concat([ones, [size]], axis=0))
