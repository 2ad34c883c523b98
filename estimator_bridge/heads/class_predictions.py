"""Predictions and signatures of heads with one class per example."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import tensorflow as tf

from estimator_bridge.heads.keys import (
    CLASSIFY_SIGNATURE,
    DEFAULT_SIGNATURE,
    PREDICT_SIGNATURE,
    PredictionKeys,
)
from estimator_bridge.heads.labels import all_class_ids, all_classes, class_names
from estimator_bridge.model import ClassificationOutput, ExportOutput, PredictOutput

__all__ = ["class_predictions", "classify_signatures"]


def class_predictions(
    logits: tf.Tensor, n_classes: Any, vocabulary: Sequence[str] | None, keys: Sequence[str]
) -> dict[str, tf.Tensor]:
    """Computes probabilities and classes.

    Args:
      logits: [D0, ..., DN, n_classes].
      n_classes: number of classes.
      vocabulary: the class names, or None.
      keys: the requested prediction keys.

    Returns:
      The requested predictions that depend on these logits, by name.
    """
    predictions: dict[str, tf.Tensor] = {}
    if PredictionKeys.PROBABILITIES in keys:
        predictions[PredictionKeys.PROBABILITIES] = tf.nn.softmax(
            logits, name=PredictionKeys.PROBABILITIES
        )
    if PredictionKeys.CLASS_IDS in keys or PredictionKeys.CLASSES in keys:
        best = tf.argmax(logits, axis=-1, name=PredictionKeys.CLASS_IDS)
        class_ids = tf.expand_dims(best, axis=-1)
        if PredictionKeys.CLASS_IDS in keys:
            predictions[PredictionKeys.CLASS_IDS] = class_ids
        if PredictionKeys.CLASSES in keys:
            predictions[PredictionKeys.CLASSES] = class_names(class_ids, vocabulary)
    if PredictionKeys.ALL_CLASS_IDS in keys:
        predictions[PredictionKeys.ALL_CLASS_IDS] = all_class_ids(logits, n_classes)
    if PredictionKeys.ALL_CLASSES in keys:
        predictions[PredictionKeys.ALL_CLASSES] = all_classes(logits, n_classes, vocabulary)
    return predictions


def classify_signatures(
    predictions: Mapping[str, tf.Tensor], n_classes: Any, vocabulary: Sequence[str] | None
) -> dict[str, ExportOutput]:
    """Makes the signatures of a classifier.

    Args:
      predictions: predictions by name, including the probabilities.
      n_classes: number of classes.
      vocabulary: the class names, or None.

    Returns:
      The default, "classification" and "predict" signatures.
    """
    scores = predictions[PredictionKeys.PROBABILITIES]
    names = all_classes(scores, n_classes, vocabulary)
    classification = ClassificationOutput(scores=scores, classes=names)
    return {
        DEFAULT_SIGNATURE: classification,
        CLASSIFY_SIGNATURE: classification,
        PREDICT_SIGNATURE: PredictOutput(dict(predictions)),
    }
