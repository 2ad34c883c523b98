"""Helpers of models, under the name of their file in TensorFlow 1."""

from __future__ import annotations

from typing import Any

from estimator_bridge_contrib.timeseries.covariances import (
    clip_covariance,
    entropy_matched_cauchy_scale,
    log_noninformative_covariance_prior,
    sign_magnitude_positive_definite,
    transform_to_covariance_matrices,
    variable_covariance_matrix,
)
from estimator_bridge_contrib.timeseries.input_statistics import (
    InputStatistics,
    InputStatisticsFromMiniBatch,
    Moments,
)
from estimator_bridge_contrib.timeseries.log_densities import (
    cauchy_log_prob,
    mvn_tril_log_prob,
    normal_log_prob,
)
from estimator_bridge_contrib.timeseries.matrices import (
    batch_matrix_pow,
    batch_times_matrix,
    block_diagonal,
    make_toeplitz_matrix,
    matrix_times_batch,
    matrix_to_powers,
    power_sums_tensor,
)
from estimator_bridge_contrib.timeseries.state_tables import (
    TensorValuedMutableDenseHashTable,
    TupleOfTensorsLookup,
    replicate_state,
)

__all__ = [
    "InputStatistics",
    "InputStatisticsFromMiniBatch",
    "Moments",
    "TensorValuedMutableDenseHashTable",
    "TupleOfTensorsLookup",
    "batch_end_time",
    "batch_matrix_pow",
    "batch_start_time",
    "batch_times_matrix",
    "block_diagonal",
    "cauchy_log_prob",
    "clip_covariance",
    "entropy_matched_cauchy_scale",
    "log_noninformative_covariance_prior",
    "make_toeplitz_matrix",
    "matrix_times_batch",
    "matrix_to_powers",
    "mvn_tril_log_prob",
    "normal_log_prob",
    "power_sums_tensor",
    "replicate_state",
    "sign_magnitude_positive_definite",
    "transform_to_covariance_matrices",
    "variable_covariance_matrix",
]


def batch_start_time(times: Any) -> Any:
    """Returns the first time of each window, [batch]."""
    return times[:, 0]


def batch_end_time(times: Any) -> Any:
    """Returns the last time of each window, [batch]."""
    return times[:, -1]
