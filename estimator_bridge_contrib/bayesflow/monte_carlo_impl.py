"""The functions of monte_carlo, in the file from which TensorFlow 1's own code imported them."""

from estimator_bridge_contrib.bayesflow.monte_carlo import (
    expectation,
    expectation_importance_sampler,
    expectation_importance_sampler_logspace,
)

__all__ = [
    "expectation",
    "expectation_importance_sampler",
    "expectation_importance_sampler_logspace",
]
