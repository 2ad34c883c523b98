"""What stands for private helpers of the original that many tests use to look at results."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import tensorflow as tf

from estimator_bridge import ModeKeys
from estimator_bridge.training.metrics import write_results

__all__ = [
    "EXPORT_TAG_MAP",
    "WRAP_INPUT_FN_INTO_WHILE_LOOP",
    "PredictionKeys",
    "load_global_step_from_checkpoint_dir",
    "write_dict_to_summary",
]

EXPORT_TAG_MAP = {
    ModeKeys.PREDICT: [tf.saved_model.SERVING],
    ModeKeys.TRAIN: [tf.compat.v1.saved_model.tag_constants.TRAINING],
    ModeKeys.EVAL: ["eval"],
}
# A choice between two ways to feed a TPU, which there is only one of here. Tests set it.
WRAP_INPUT_FN_INTO_WHILE_LOOP = False


class PredictionKeys:
    """What canned estimators call their predictions."""

    ALL_CLASSES = "all_classes"
    ALL_CLASS_IDS = "all_class_ids"
    CLASSES = "classes"
    CLASS_IDS = "class_ids"
    LOGISTIC = "logistic"
    LOGITS = "logits"
    PREDICTIONS = "predictions"
    PROBABILITIES = "probabilities"


def load_global_step_from_checkpoint_dir(directory: str) -> int:
    """The global step of a folder's newest checkpoint; 0 if there is none."""
    latest = tf.train.latest_checkpoint(directory)
    return int(tf.train.load_variable(latest, "global_step")) if latest else 0


def write_dict_to_summary(
    output_dir: str, dictionary: Mapping[str, Any], current_global_step: int
) -> None:
    """Writes an event file as an evaluation with these results would."""
    write_results(output_dir, {**dictionary, "global_step": current_global_step}, None)
