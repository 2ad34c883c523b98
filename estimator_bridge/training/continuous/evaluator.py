"""Evaluates and exports checkpoints that have not been evaluated yet."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import tensorflow as tf

from estimator_bridge.checkpoint import step_of
from estimator_bridge.training.continuous.evaluation_results import EvalResult, EvalStatus
from estimator_bridge.training.continuous.progress_note import Progress
from estimator_bridge.training.continuous.specs import EvalSpec
from estimator_bridge.training.exporters.export_cleanup import exports_in
from estimator_bridge.training.metrics import written_once

__all__ = ["Evaluator"]

_logging = tf.compat.v1.logging
_GLOBAL_STEP = tf.compat.v1.GraphKeys.GLOBAL_STEP
_WARN_EVERY_SECS = 600.0


class Evaluator:
    """Evaluates an estimator's latest checkpoint, once.

    Args:
      estimator: the Estimator.
      eval_spec: how to evaluate, and what to export.
      max_steps: the global step whose evaluation is the last; None if no evaluation is.
      clock: the time in seconds.
      progress: notes the progress; given in a process that also trains.
    """

    def __init__(
        self,
        estimator: Any,
        eval_spec: EvalSpec,
        max_steps: int | None,
        clock: Callable[[], float] = time.monotonic,
        progress: Progress | None = None,
    ):
        self._estimator = estimator
        self._spec = eval_spec
        self._max_steps = max_steps
        self._clock = clock
        self._progress = progress
        self._last_path: str | None = None  # the checkpoint
        self._warned_at: float | None = None

    @property
    def model_dir(self) -> str:
        """The folder of the checkpoints."""
        return tf.compat.as_str_any(self._estimator.model_dir)

    def evaluate_and_export(self) -> tuple[EvalResult, list[Any]]:
        """Evaluates the latest checkpoint and calls the exporters, unless it is not new.

        Returns:
          The outcome, and the result of each exporter.

        Raises:
          TypeError: Estimator.evaluate did not return a dict.
          ValueError: it returned an empty dict, or one without 'global_step'.
        """
        path = self._estimator.latest_checkpoint()
        if not path:
            self._warn(
                "Estimator is not trained yet. Will start an evaluation when a checkpoint is ready."
            )
            return EvalResult(EvalStatus.MISSING_CHECKPOINT), []
        if path == self._last_path:
            self._warn(
                "No new checkpoint ready for evaluation. Skip the current evaluation pass as "
                f"evaluation results are expected to be same for the same checkpoint: {path}"
            )
            return EvalResult(EvalStatus.NO_NEW_CHECKPOINT), []
        progress = self._progress
        step = step_of(path) if progress else 0
        if progress:
            progress.evaluate(step)
        with written_once(step) if progress and progress.is_left(step) else nullcontext():
            metrics = self._evaluate(path)
        if metrics is None:
            return EvalResult(EvalStatus.NO_NEW_CHECKPOINT), []
        result = EvalResult(EvalStatus.EVALUATED, metrics, path)
        exports = self._export(metrics, path, step)
        if progress:
            progress.note_evaluation(step)
        self._warned_at = None
        self._last_path = path
        return result, exports

    def is_final(self, result: EvalResult) -> bool:
        """Whether this evaluation is the last."""
        return result.metrics is not None and self._is_last_step(result.metrics)

    def _is_last_step(self, metrics: dict[str, Any]) -> bool:
        return bool(self._max_steps and metrics[_GLOBAL_STEP] >= self._max_steps)

    def _evaluate(self, path: str) -> dict[str, Any] | None:
        """Returns the metrics; None if the trainer deleted the checkpoint during the read."""
        try:
            return self._estimator.evaluate(
                input_fn=self._spec.input_fn,
                steps=self._spec.steps,
                name=self._spec.name,
                checkpoint_path=path,
                hooks=self._spec.hooks,
            )
        except (ValueError, tf.errors.OpError) as error:
            if tf.io.gfile.exists(path + ".index"):
                raise
            self._warn(
                f"Checkpoint {path} was deleted before it was evaluated ({error}). Will evaluate "
                "the next one. RunConfig(keep_checkpoint_max=...) says how many stay."
            )
            return None

    def _export(self, metrics: dict[str, Any], path: str, step: int) -> list[Any]:
        base = os.path.join(self.model_dir, "export")
        remaining = self._progress.exports_left(step) if self._progress else {}
        exports: list[Any] = []
        for exporter in self._spec.exporters:
            folder = os.path.join(base, exporter.name)
            there = [os.path.basename(export) for export in exports_in(folder)]
            before = remaining.get(exporter.name, there)
            if before is None:
                exports.append(None)
                continue
            new_exports = [name for name in there if name not in before]
            if new_exports:  # by a process that was killed then
                exporter.delete_old(folder)
                exports.append(tf.compat.as_bytes(os.path.join(folder, new_exports[-1])))
                continue
            if self._progress:
                self._progress.export(exporter.name, there)
            exported = exporter.export(
                estimator=self._estimator,
                export_path=folder,
                checkpoint_path=path,
                eval_result=metrics,
                is_the_final_export=self._is_last_step(metrics),
            )
            if self._progress and exported is None:
                self._progress.exported_nothing(exporter.name)
            exports.append(exported)
        return exports

    def _warn(self, message: str) -> None:
        """Warns, but not again within ten minutes."""
        now = self._clock()
        if self._warned_at is None or now - self._warned_at > _WARN_EVERY_SECS:
            _logging.warning(message)
            self._warned_at = now
