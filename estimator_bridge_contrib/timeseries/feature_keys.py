"""The names of features, of predictions and of an export's signatures."""

from __future__ import annotations

import tensorflow as tf

__all__ = [
    "FilteringFeatures",
    "FilteringResults",
    "PredictionFeatures",
    "PredictionResults",
    "SavedModelLabels",
    "State",
    "Times",
    "TrainEvalFeatures",
    "Values",
]


class State:
    """Keys of a model's state.

    Attributes:
      STATE_TUPLE: the state as nested tuples.
      STATE_PREFIX: the prefix of the keys under which an export takes the state's tensors.
    """

    STATE_TUPLE = "start_tuple"
    STATE_PREFIX = "model_state"


class Times:
    """The key of the times, increasing integers."""

    TIMES = "times"


class Values:
    """The key of the values: one or more floats for each time."""

    VALUES = "values"


class TrainEvalFeatures(Times, Values):
    """Keys of the features of training and evaluation."""


class PredictionFeatures(Times, State):
    """Keys of the features of a prediction."""


class FilteringFeatures(Times, Values, State):
    """Keys of the features with which a model's state is updated."""


class PredictionResults(Times):
    """A key of predictions; a model adds others."""


class FilteringResults(Times, State):
    """Keys of the results of an evaluation, or of an update of a model's state."""


class SavedModelLabels:
    """Names of an export's signatures."""

    PREDICT = tf.saved_model.DEFAULT_SERVING_SIGNATURE_DEF_KEY
    FILTER = "filter"
    COLD_START_FILTER = "cold_start_filter"
