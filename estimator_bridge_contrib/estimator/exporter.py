"""``tensorflow.contrib.estimator.python.estimator.exporter``: exports at chosen steps."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import tensorflow as tf
from tensorflow.compat.v1 import logging

from estimator_bridge.training.event_files import steps_in
from estimator_bridge.training.exporters.exporter import Exporter, SavedModelExporter

__all__ = ["StepsExporter"]

_STEP = tf.compat.v1.GraphKeys.GLOBAL_STEP


class StepsExporter(Exporter):
    """Exports the model at the first evaluation at or after each of some steps.

    One evaluation can make up for several steps; the model is exported once then. Nothing is ever
    deleted.

    Args:
      steps_to_keep: the steps; entries that are no positive ints are left out.
      name: the folder of its exports below model_dir/export.
      serving_input_receiver_fn: returns a ServingInputReceiver.
      event_file_pattern: of the evaluation's event files below model_dir. Steps up to the last
        evaluation of an earlier run are done. None: earlier runs do not count.
      assets_extra: files to copy beside the model, by where they go in 'assets.extra'.
      as_text: whether to write the graph as text.

    Raises:
      ValueError: none of the steps is a positive int.
    """

    def __init__(
        self,
        steps_to_keep: Iterable[Any],
        name: str = "steps_exporter",
        serving_input_receiver_fn: Callable[[], Any] | None = None,
        event_file_pattern: str | None = "eval/*.tfevents.*",
        assets_extra: Mapping[str, str] | None = None,
        as_text: bool = False,
    ):
        # export_saved_model refuses a serving_input_receiver_fn that is None.
        receiver_fn: Any = serving_input_receiver_fn
        self._exporter = SavedModelExporter(name, receiver_fn, assets_extra, as_text)
        self._event_file_pattern = event_file_pattern
        self._model_dir: str | None = None  # whose event files have been read
        all_steps = list(steps_to_keep)
        steps = [step for step in all_steps if isinstance(step, int) and step > 0]
        if not steps:
            raise ValueError(
                f"`steps_to_keep` list must have at least one positive integer, got {all_steps!r}."
            )
        if steps != all_steps:
            logging.warning(
                "Changed `steps_to_keep`, by omitting non-integer or less than 1 elements, to %s",
                steps,
            )
        self._waiting = sorted(steps)

    @property
    def name(self) -> str:
        """The folder of its exports below model_dir/export."""
        return self._exporter.name

    def export(
        self,
        estimator: Any,
        export_path: str,
        checkpoint_path: str,
        eval_result: Mapping[str, Any] | None,
        is_the_final_export: bool,
    ) -> bytes | str | None:
        """See `Exporter`.

        Raises:
          ValueError: eval_result has no global step.
        """
        if not eval_result or _STEP not in eval_result:
            raise ValueError(
                "`eval_result` is empty, or does not have global step, which Estimator.evaluate "
                f"always sets. Got eval_result: {eval_result}"
            )
        if self._model_dir != estimator.model_dir and self._event_file_pattern:
            self._model_dir = estimator.model_dir
            self._leave_out_earlier(os.path.join(self._model_dir, self._event_file_pattern))
        step = eval_result[_STEP]
        reached = [each for each in self._waiting if each <= step]
        if not reached:
            return None
        exported = self._exporter.export(
            estimator, export_path, checkpoint_path, eval_result, is_the_final_export
        )
        self._waiting = self._waiting[len(reached) :]
        _report(step, reached)
        return exported

    def _leave_out_earlier(self, pattern: str) -> None:
        logging.info("Loads the steps that the model was already evaluated at, from event files")
        last = max(steps_in(pattern), default=None)
        if last is not None:
            self._waiting = [step for step in self._waiting if step > last]


def _report(step: int, reached: list[int]) -> None:
    *missed, last = reached
    if missed:
        logging.warning("Missed steps %s for exporting, as no evaluation took place.", missed)
    if last == step:
        logging.info("Performing model export at step %d.", step)
    else:
        logging.warning(
            "Performing model export at step %d instead of %d, as no evaluation took place at step "
            "%d.",
            step,
            last,
            last,
        )
