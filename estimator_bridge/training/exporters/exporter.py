"""Exports after evaluations: the interface, and an export by export_saved_model."""

from __future__ import annotations

import abc
import os
from collections.abc import Callable, Mapping
from typing import Any

import tensorflow as tf

from estimator_bridge.base.any_files import is_folder
from estimator_bridge.own_files import is_link, is_recorded_folder, record_folder

__all__ = ["Exporter", "SavedModelExporter"]


class Exporter(abc.ABC):
    """Exports a model after an evaluation, if it wants to."""

    @property
    @abc.abstractmethod
    def name(self) -> str:
        """The folder of its exports below model_dir/export; neither None nor empty."""

    @abc.abstractmethod
    def export(
        self,
        estimator: Any,
        export_path: str,
        checkpoint_path: str,
        eval_result: Mapping[str, Any],
        is_the_final_export: bool,
    ) -> bytes | str | None:
        """Exports.

        Args:
          estimator: the Estimator.
          export_path: the folder of its exports.
          checkpoint_path: what was evaluated.
          eval_result: what Estimator.evaluate returned.
          is_the_final_export: whether training has reached TrainSpec.max_steps; never true where
            that is None.

        Returns:
          The new export's folder; None where nothing was exported.
        """

    def delete_old(self, export_path: str) -> None:
        """Deletes exports that are not to stay; by default all stay.

        `export` does that itself. It is called for an export that a killed process had just made.

        Args:
          export_path: the folder of its exports.
        """
        del export_path


class SavedModelExporter(Exporter):
    """Exports each time.

    Args:
      name: the folder of its exports below model_dir/export.
      serving_input_receiver_fn: see Estimator.export_saved_model.
      assets_extra: likewise.
      as_text: likewise.
    """

    def __init__(
        self,
        name: str,
        serving_input_receiver_fn: Callable[[], Any],
        assets_extra: Mapping[str, str] | None = None,
        as_text: bool = False,
    ):
        self._name = name
        self._serving_input_receiver_fn = serving_input_receiver_fn
        self._assets_extra = assets_extra
        self._as_text = as_text

    @property
    def name(self) -> str:
        """The folder of its exports below model_dir/export."""
        return self._name

    def export(
        self,
        estimator: Any,
        export_path: str | os.PathLike[str],
        checkpoint_path: str,
        eval_result: Mapping[str, Any],
        is_the_final_export: bool,
    ) -> bytes | str | None:
        """See `Exporter`."""
        del eval_result, is_the_final_export
        return estimator.export_saved_model(
            export_path,
            self._serving_input_receiver_fn,
            assets_extra=self._assets_extra,
            as_text=self._as_text,
            checkpoint_path=checkpoint_path,
        )


def record_export(exported: Any, export_path: str | os.PathLike[str]) -> None:
    """Records an export, so that it can be deleted later; for exporters that delete old ones.

    Args:
      exported: the export's path, as an estimator returns it.
      export_path: the folder of the exports.
    """
    folder, base = tf.compat.as_str_any(exported or ""), tf.compat.as_str_any(export_path)
    is_there = os.path.dirname(folder) == base.rstrip("/") and is_folder(folder)
    if is_there and not is_link(folder) and not is_recorded_folder(folder):
        record_folder(folder)
