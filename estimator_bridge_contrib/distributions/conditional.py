"""Distributions whose methods take further arguments."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from estimator_bridge_contrib.distributions.transformed import TransformedDistribution

__all__ = ["ConditionalDistribution", "ConditionalTransformedDistribution"]


class ConditionalDistribution(tf.compat.v1.distributions.Distribution):
    """A distribution whose methods pass further named arguments on to the subclass's.

    ``sample(condition=c)`` calls ``_sample_n(n, seed, condition=c)``, and so for the others.
    """

    def sample(
        self,
        sample_shape: Any = (),
        seed: Any = None,
        name: str = "sample",
        **condition_kwargs: Any,
    ) -> tf.Tensor:
        """Draws samples, of shape [*sample_shape, *batch, *event]."""
        return self._call_sample_n(sample_shape, seed, name, **condition_kwargs)

    def log_prob(self, value: Any, name: str = "log_prob", **condition_kwargs: Any) -> tf.Tensor:
        """Returns the logarithm of the density or probability of a value."""
        return self._call_log_prob(value, name, **condition_kwargs)

    def prob(self, value: Any, name: str = "prob", **condition_kwargs: Any) -> tf.Tensor:
        """Returns the density or probability of a value."""
        return self._call_prob(value, name, **condition_kwargs)

    def log_cdf(self, value: Any, name: str = "log_cdf", **condition_kwargs: Any) -> tf.Tensor:
        """Returns the logarithm of the probability of at most a value."""
        return self._call_log_cdf(value, name, **condition_kwargs)

    def cdf(self, value: Any, name: str = "cdf", **condition_kwargs: Any) -> tf.Tensor:
        """Returns the probability of at most a value."""
        return self._call_cdf(value, name, **condition_kwargs)

    def log_survival_function(
        self, value: Any, name: str = "log_survival_function", **condition_kwargs: Any
    ) -> tf.Tensor:
        """Returns the logarithm of the probability of more than a value."""
        return self._call_log_survival_function(value, name, **condition_kwargs)

    def survival_function(
        self, value: Any, name: str = "survival_function", **condition_kwargs: Any
    ) -> tf.Tensor:
        """Returns the probability of more than a value."""
        return self._call_survival_function(value, name, **condition_kwargs)


class ConditionalTransformedDistribution(ConditionalDistribution, TransformedDistribution):
    """A transformed distribution whose methods take further arguments.

    ``bijector_kwargs`` and ``distribution_kwargs`` are dicts of arguments for the methods of the
    bijector and of the base.
    """

    def _parted(self, kwargs: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
        if unknown := sorted(kwargs.keys() - {"bijector_kwargs", "distribution_kwargs"}):
            raise TypeError(
                f"got an unexpected keyword argument {unknown[0]!r}; pass it in bijector_kwargs or "
                "in distribution_kwargs."
            )
        return kwargs.get("distribution_kwargs") or {}, kwargs.get("bijector_kwargs") or {}
