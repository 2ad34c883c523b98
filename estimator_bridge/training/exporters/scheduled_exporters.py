"""Exporters that go by time: after each evaluation, or after the last."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tensorflow.compat.v1 import logging

from estimator_bridge.export.export_folders import recorded_exports
from estimator_bridge.training.exporters.export_cleanup import (
    check_exports_to_keep,
    delete_old_exports,
)
from estimator_bridge.training.exporters.exporter import (
    Exporter,
    SavedModelExporter,
    record_export,
)

__all__ = ["FinalExporter", "LatestExporter"]


class FinalExporter(Exporter):
    """Exports once, at the end of training: where TrainSpec.max_steps has been reached.

    Args:
      name: the folder of the export below model_dir/export.
      serving_input_receiver_fn: returns a ServingInputReceiver.
      assets_extra: files to copy beside the model, by where they go in 'assets.extra'.
      as_text: whether to write the graph as text.
    """

    def __init__(
        self,
        name: str,
        serving_input_receiver_fn: Callable[[], Any],
        assets_extra: Mapping[str, str] | None = None,
        as_text: bool = False,
    ):
        self._exporter = SavedModelExporter(name, serving_input_receiver_fn, assets_extra, as_text)

    @property
    def name(self) -> str:
        """The folder of the export below model_dir/export."""
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
        if not is_the_final_export:
            return None
        logging.info("Performing the final export in the end of training.")
        return self._exporter.export(
            estimator, export_path, checkpoint_path, eval_result, is_the_final_export
        )


class LatestExporter(Exporter):
    """Exports after each evaluation, and deletes old exports.

    Args:
      name: the folder of its exports below model_dir/export.
      serving_input_receiver_fn: returns a ServingInputReceiver.
      assets_extra: files to copy beside the model, by where they go in 'assets.extra'.
      as_text: whether to write the graph as text.
      exports_to_keep: how many of the newest stay; None: all.

    Raises:
      ValueError: exports_to_keep is 0 or less.
    """

    def __init__(
        self,
        name: str,
        serving_input_receiver_fn: Callable[[], Any],
        assets_extra: Mapping[str, str] | None = None,
        as_text: bool = False,
        exports_to_keep: int | None = 5,
    ):
        self._exporter = SavedModelExporter(name, serving_input_receiver_fn, assets_extra, as_text)
        self._exports_to_keep = check_exports_to_keep(exports_to_keep)

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
        with recorded_exports():  # also if only a later run is to keep fewer
            exported = self._exporter.export(
                estimator, export_path, checkpoint_path, eval_result, is_the_final_export
            )
        record_export(exported, export_path)
        self.delete_old(export_path)
        return exported

    def delete_old(self, export_path: str) -> None:
        """See `Exporter`."""
        delete_old_exports(export_path, self._exports_to_keep)
