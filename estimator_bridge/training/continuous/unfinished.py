"""Finds out whether train_and_evaluate was killed between its last checkpoint and its end."""

from __future__ import annotations

import os
from typing import Any

import tensorflow as tf

from estimator_bridge.checkpoint import step_of
from estimator_bridge.training.continuous.specs import EvalSpec
from estimator_bridge.training.event_files import read_eval_metrics
from estimator_bridge.training.exporters import FinalExporter, LatestExporter
from estimator_bridge.training.exporters.kept import exports_in

__all__ = ["is_unfinished"]


def is_unfinished(estimator: Any, spec: EvalSpec, max_steps: int | None) -> bool:
    """Whether training is over, and its last evaluation or an export after it is missing.

    Only the files tell: the evaluation's event, and an export that is newer than the checkpoint of
    each exporter that always exports in the end. A BestExporter may have had no reason to, and
    what exporters of the program's own write is not known.

    Args:
      estimator: the Estimator.
      spec: what was to be evaluated and exported.
      max_steps: where training was to end; None: it does not end by itself.
    """
    latest = estimator.latest_checkpoint() if max_steps is not None else None
    step = step_of(latest) if latest else 0
    if not latest or max_steps is None or step < max_steps:
        return False
    if step not in read_eval_metrics(estimator.eval_dir(spec.name)):
        return True
    saved = tf.io.gfile.stat(latest + ".index").mtime_nsec
    return any(
        _last_export(os.path.join(estimator.model_dir, "export", exporter.name)) < saved
        for exporter in spec.exporters
        if isinstance(exporter, (FinalExporter, LatestExporter))
    )


def _last_export(folder: str) -> int:
    """When the newest export was written, in nanoseconds since 1970; 0 where there is none."""
    exports = exports_in(folder)
    return tf.io.gfile.stat(exports[-1]).mtime_nsec if exports else 0
