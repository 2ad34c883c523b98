"""Training parameters of TPU embedding tables: TensorFlow 1's classes in tf.tpu.experimental.

A TPU trains such tables itself, each with one of these instead of the model's optimizer.
"""

from __future__ import annotations

__all__ = [
    "AdagradParameters",
    "AdamParameters",
    "StochasticGradientDescentParameters",
]


class EmbeddingParameters:
    """The parameters that all classes share.

    Args:
      learning_rate: the rate of all tables whose column has no ``learning_rate_fn``.
      use_gradient_accumulation: without effect: the gradients of all lookups of a row are always
        summed before the row is updated.
      clip_weight_min: the minimum of a weight after an update; None for no minimum.
      clip_weight_max: the maximum of a weight after an update; None for no maximum.
      weight_decay_factor: the fraction of a row that is subtracted from it before an update.
      multiply_weight_decay_factor_by_learning_rate: whether to multiply that fraction by the rate.
      clip_gradient_min: the minimum of a gradient; None for no minimum.
      clip_gradient_max: the maximum of a gradient; None for no maximum.

    Raises:
      ValueError: gradients are clipped but not accumulated.
    """

    def __init__(
        self,
        learning_rate: float,
        use_gradient_accumulation: bool,
        clip_weight_min: float | None,
        clip_weight_max: float | None,
        weight_decay_factor: float | None,
        multiply_weight_decay_factor_by_learning_rate: bool | None,
        clip_gradient_min: float | None = None,
        clip_gradient_max: float | None = None,
    ):
        self.learning_rate = learning_rate
        self.use_gradient_accumulation = use_gradient_accumulation
        self.clip_weight_min = clip_weight_min
        self.clip_weight_max = clip_weight_max
        self.weight_decay_factor = weight_decay_factor
        self.multiply_weight_decay_factor_by_learning_rate = (
            multiply_weight_decay_factor_by_learning_rate
        )
        self.clip_gradient_min = clip_gradient_min
        self.clip_gradient_max = clip_gradient_max
        is_clipped = clip_gradient_min is not None or clip_gradient_max is not None
        if is_clipped and not use_gradient_accumulation:
            raise ValueError(
                "When using gradient clipping limits, gradient accumulation must be enabled: "
                f"clip_gradient_min={clip_gradient_min}, clip_gradient_max={clip_gradient_max} and "
                f"use_gradient_accumulation={use_gradient_accumulation}. Leave out the last one."
            )


class StochasticGradientDescentParameters(EmbeddingParameters):
    """Plain gradient descent. For its arguments, see ``EmbeddingParameters``."""

    def __init__(
        self,
        learning_rate: float,
        use_gradient_accumulation: bool = True,
        clip_weight_min: float | None = None,
        clip_weight_max: float | None = None,
        weight_decay_factor: float | None = None,
        multiply_weight_decay_factor_by_learning_rate: bool | None = None,
        clip_gradient_min: float | None = None,
        clip_gradient_max: float | None = None,
    ):
        super().__init__(
            learning_rate,
            use_gradient_accumulation,
            clip_weight_min,
            clip_weight_max,
            weight_decay_factor,
            multiply_weight_decay_factor_by_learning_rate,
            clip_gradient_min,
            clip_gradient_max,
        )


class AdagradParameters(EmbeddingParameters):
    """Adagrad: the rate is divided by the root of the sum of a weight's squared gradients.

    Args:
      learning_rate: see ``EmbeddingParameters``, as for all arguments not listed here.
      initial_accumulator: the initial value of that sum.

    Raises:
      ValueError: initial_accumulator is not positive.
    """

    def __init__(
        self,
        learning_rate: float,
        initial_accumulator: float = 0.1,
        use_gradient_accumulation: bool = True,
        clip_weight_min: float | None = None,
        clip_weight_max: float | None = None,
        weight_decay_factor: float | None = None,
        multiply_weight_decay_factor_by_learning_rate: bool | None = None,
        clip_gradient_min: float | None = None,
        clip_gradient_max: float | None = None,
    ):
        super().__init__(
            learning_rate,
            use_gradient_accumulation,
            clip_weight_min,
            clip_weight_max,
            weight_decay_factor,
            multiply_weight_decay_factor_by_learning_rate,
            clip_gradient_min,
            clip_gradient_max,
        )
        if initial_accumulator <= 0:
            raise ValueError(
                f"Adagrad initial_accumulator must be greater than zero, got {initial_accumulator}."
            )
        self.initial_accumulator = initial_accumulator


class AdamParameters(EmbeddingParameters):
    """Adam without bias correction, as TPUs implement it.

    Args:
      learning_rate: see ``EmbeddingParameters``, as for all arguments not listed here.
      beta1: the decay rate of the mean of gradients.
      beta2: the decay rate of the mean of squared gradients.
      epsilon: prevents division by zero.
      lazy_adam: whether only the rows that a batch looks up are updated.
      sum_inside_sqrt: whether to divide by sqrt(v + epsilon^2) instead of sqrt(v) + epsilon.

    Raises:
      ValueError: a beta is not in [0, 1), epsilon is not positive, or neither lazy_adam nor
        use_gradient_accumulation is set.
    """

    def __init__(
        self,
        learning_rate: float,
        beta1: float = 0.9,
        beta2: float = 0.999,
        epsilon: float = 1e-08,
        lazy_adam: bool = True,
        sum_inside_sqrt: bool = True,
        use_gradient_accumulation: bool = True,
        clip_weight_min: float | None = None,
        clip_weight_max: float | None = None,
        weight_decay_factor: float | None = None,
        multiply_weight_decay_factor_by_learning_rate: bool | None = None,
        clip_gradient_min: float | None = None,
        clip_gradient_max: float | None = None,
    ):
        super().__init__(
            learning_rate,
            use_gradient_accumulation,
            clip_weight_min,
            clip_weight_max,
            weight_decay_factor,
            multiply_weight_decay_factor_by_learning_rate,
            clip_gradient_min,
            clip_gradient_max,
        )
        for name, beta in (("beta1", beta1), ("beta2", beta2)):
            if not 0 <= beta < 1:
                raise ValueError(f"{name} must be between 0. and 1, and below 1; got {beta}.")
        if epsilon <= 0:
            raise ValueError(f"epsilon must be positive; got {epsilon}.")
        if not use_gradient_accumulation and not lazy_adam:
            raise ValueError(
                "When disabling Lazy Adam, gradient accumulation must be used: leave out "
                "use_gradient_accumulation=False."
            )
        self.beta1, self.beta2, self.epsilon = beta1, beta2, epsilon
        self.lazy_adam, self.sum_inside_sqrt = lazy_adam, sum_inside_sqrt
