"""Keras models as estimators: tf.keras.estimator."""

from estimator_bridge.keras.model_to_estimator import model_to_estimator
from estimator_bridge.keras.structures import FormattedKeyError

__all__ = ["FormattedKeyError", "model_to_estimator"]


def __dir__() -> list[str]:
    return sorted(__all__)
