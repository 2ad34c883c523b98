"""What event files say, for those who decide by earlier evaluations."""

from __future__ import annotations

import os

import tensorflow as tf
from tensorflow.compat.v1 import logging

__all__ = ["read_eval_metrics", "scalars_by_step"]


def read_eval_metrics(eval_dir: str | os.PathLike[str]) -> dict[int, dict[str, float]]:
    """Reads the metrics that evaluations wrote.

    Args:
      eval_dir: the folder of their event files, as ``estimator.eval_dir()``. It need not be there.

    Returns:
      By global step, in order, the scalar metrics by name.
    """
    return scalars_by_step(os.path.join(os.fspath(eval_dir), "*.tfevents.*"))


def scalars_by_step(pattern: str) -> dict[int, dict[str, float]]:
    """Reads the scalars in event files.

    A file that breaks off, since it is being written or its writer was killed, is read up to there.

    Args:
      pattern: of the files' paths, with * and ?.

    Returns:
      By global step, in order, the scalars by name.
    """
    by_step: dict[int, dict[str, float]] = {}
    for path in sorted(tf.io.gfile.glob(pattern)):
        try:
            for event in tf.compat.v1.train.summary_iterator(path):
                for value in event.summary.value:
                    if value.HasField("simple_value"):
                        by_step.setdefault(event.step, {})[value.tag] = value.simple_value
        except (tf.errors.DataLossError, tf.errors.NotFoundError) as error:
            logging.warning("Skipping the rest of event file %s: %s", path, error.message)
    return dict(sorted(by_step.items()))
