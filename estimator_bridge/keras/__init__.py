"""Keras models as estimators: tf.keras.estimator."""

from estimator_bridge.keras.model_to_estimator import model_to_estimator

__all__ = ["model_to_estimator"]
