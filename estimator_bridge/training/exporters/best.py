"""Exports models that are better than all before them."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any

import tensorflow as tf
from tensorflow.compat.v1 import logging

from estimator_bridge.export.export_folders import recorded_exports
from estimator_bridge.model import describe_fn, fn_args
from estimator_bridge.training.event_files import scalars_by_step
from estimator_bridge.training.exporters.export_cleanup import (
    check_exports_to_keep,
    delete_old_exports,
    exports_in,
)
from estimator_bridge.training.exporters.exporter import Exporter, SavedModelExporter, record_export

__all__ = ["BestExporter", "check_compare_fn"]

_LOSS = "loss"
_ARGUMENTS = ("best_eval_result", "current_eval_result")
_Metrics = Mapping[str, Any]


def _loss_smaller(best_eval_result: _Metrics, current_eval_result: _Metrics) -> bool:
    """Whether the current loss is smaller than the best.

    Raises:
      ValueError: there is no loss to compare.
    """
    both = {"best_eval_result": best_eval_result, "current_eval_result": current_eval_result}
    for name, result in both.items():
        if not result or _LOSS not in result:
            raise ValueError(
                f"{name} cannot be empty or no loss is found in it, got {result}. Give "
                "BestExporter a compare_fn for metrics that the evaluation has."
            )
    return bool(best_eval_result[_LOSS] > current_eval_result[_LOSS])


class BestExporter(Exporter):
    """Exports a model whenever its evaluation is better than all before it.

    The first evaluation's model is exported in any case. A program that was restarted learns from
    the event files how good earlier models were, and exports the first one of its own only if that
    is better, or there is no export yet.

    Args:
      name: the folder of its exports below model_dir/export.
      serving_input_receiver_fn: returns a ServingInputReceiver.
      event_file_pattern: of the evaluation's event files below model_dir; 'eval_NAME/*.tfevents.*'
        for an EvalSpec with a name. None: earlier runs do not count.
      compare_fn: takes best_eval_result and current_eval_result, both of metrics by name; returns
        whether the current one is better. By default, whether its loss is smaller.
      assets_extra: files to copy beside the model, by where they go in 'assets.extra'.
      as_text: whether to write the graph as text.
      exports_to_keep: how many of the newest stay; None: all.

    Raises:
      ValueError: compare_fn is None or takes other arguments, or exports_to_keep is 0 or less.
    """

    def __init__(
        self,
        name: str = "best_exporter",
        serving_input_receiver_fn: Callable[[], Any] | None = None,
        event_file_pattern: str | None = "eval/*.tfevents.*",
        compare_fn: Callable[..., bool] = _loss_smaller,
        assets_extra: Mapping[str, str] | None = None,
        as_text: bool = False,
        exports_to_keep: int | None = 5,
    ):
        self._compare_fn = check_compare_fn(compare_fn)
        # export_saved_model refuses a serving_input_receiver_fn that is None.
        receiver_fn: Any = serving_input_receiver_fn
        self._exporter = SavedModelExporter(name, receiver_fn, assets_extra, as_text)
        self._event_file_pattern = event_file_pattern
        self._exports_to_keep = check_exports_to_keep(exports_to_keep)
        self._model_dir: str | None = None  # whose event files have been read
        self._best: _Metrics | None = None
        self._has_exported = False

    @property
    def name(self) -> str:
        """The folder of its exports below model_dir/export."""
        return self._exporter.name

    def export(
        self,
        estimator: Any,
        export_path: str,
        checkpoint_path: str,
        eval_result: Mapping[str, Any],
        is_the_final_export: bool,
    ) -> bytes | str | None:
        """See `Exporter`."""
        if self._model_dir != estimator.model_dir and self._event_file_pattern:
            self._model_dir = estimator.model_dir
            self._best = self._best_of_event_files(eval_result)
            self._has_exported = bool(exports_in(export_path))
        is_better = self._is_better(eval_result, self._best)
        if not is_better and self._has_exported:
            return None
        logging.info("Performing best model export.")
        if is_better:
            self._best = eval_result
        with recorded_exports():  # also if only a later run is to keep fewer
            exported = self._exporter.export(
                estimator, export_path, checkpoint_path, eval_result, is_the_final_export
            )
        record_export(exported, export_path)
        self.delete_old(export_path)
        self._has_exported = True
        return exported

    def delete_old(self, export_path: str) -> None:
        """See `Exporter`."""
        delete_old_exports(export_path, self._exports_to_keep)

    def _best_of_event_files(self, eval_result: _Metrics | None) -> _Metrics | None:
        """The best evaluation before the current one, whose own event has been written by now."""
        logging.info("Loading best metric from event files.")
        pattern = os.path.join(
            tf.compat.as_str_any(self._model_dir), tf.compat.as_str_any(self._event_file_pattern)
        )
        current = (eval_result or {}).get(tf.compat.v1.GraphKeys.GLOBAL_STEP)
        best: _Metrics | None = None
        for step, metrics in scalars_by_step(pattern).items():
            if step != current and self._is_better(metrics, best):
                best = metrics
        return best

    def _is_better(self, current: _Metrics | None, best: _Metrics | None) -> bool:
        return best is None or self._compare_fn(best_eval_result=best, current_eval_result=current)


def check_compare_fn(compare_fn: Callable[..., bool] | None) -> Callable[..., bool]:
    """Checks what a function that compares two evaluations can be called with.

    Returns:
      The function.

    Raises:
      ValueError: it is None, or takes other arguments than best_eval_result, current_eval_result.
    """
    if compare_fn is None:
        raise ValueError("`compare_fn` must not be None. Leave it out to compare losses.")
    parameters = fn_args(compare_fn)
    for name in _ARGUMENTS:
        if name not in parameters:
            raise ValueError(
                f"compare_fn ({describe_fn(compare_fn)}) must include {name} argument."
            )
    unknown = [name for name in parameters if name not in _ARGUMENTS]
    if unknown:
        raise ValueError(
            f"compare_fn ({describe_fn(compare_fn)}) has following not expected args: {unknown}. "
            f"It may take {list(_ARGUMENTS)}; bind others with functools.partial."
        )
    return compare_fn
