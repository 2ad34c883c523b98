"""tf.compat.v1.estimator.inputs: input functions for data in memory."""

from estimator_bridge.inputs.numpy_input import numpy_input_fn
from estimator_bridge.inputs.pandas_input import pandas_input_fn

__all__ = ["numpy_input_fn", "pandas_input_fn"]


def __dir__() -> list[str]:
    return sorted(__all__)
