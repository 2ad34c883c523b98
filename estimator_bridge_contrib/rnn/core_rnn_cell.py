"""``tensorflow.contrib.rnn.python.ops.core_rnn_cell``, whose ``_linear`` many programs import."""

from estimator_bridge_contrib.rnn.base import linear
from estimator_bridge_contrib.rnn.wrappers import (
    EmbeddingWrapper,
    InputProjectionWrapper,
    OutputProjectionWrapper,
)

_linear = linear

__all__ = ["EmbeddingWrapper", "InputProjectionWrapper", "OutputProjectionWrapper"]
