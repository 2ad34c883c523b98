"""Exports SavedModels of modes other than predict."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from estimator_bridge.model import ModeKeys

__all__ = ["export_all_saved_models", "export_saved_model_for_mode"]


def export_saved_model_for_mode(
    estimator: Any,
    export_dir_base: str,
    input_receiver_fn: Callable[[], Any],
    assets_extra: Mapping[str, str] | None = None,
    as_text: bool = False,
    checkpoint_path: str | None = None,
    mode: str = ModeKeys.PREDICT,
) -> bytes:
    """Writes the model of one mode as a SavedModel.

    Args:
      estimator: an Estimator.
      export_dir_base: the parent folder; each export is a new folder in it.
      input_receiver_fn: a function that makes the inputs of the mode.
      assets_extra: further files to copy, by their new names.
      as_text: whether to write the model as text.
      checkpoint_path: the checkpoint; by default the latest.
      mode: the mode.

    Returns:
      The new folder's path, as bytes.
    """
    return export_all_saved_models(
        estimator,
        export_dir_base,
        {mode: input_receiver_fn},
        assets_extra,
        as_text,
        checkpoint_path,
    )


def export_all_saved_models(
    estimator: Any,
    export_dir_base: str,
    input_receiver_fn_map: Mapping[str, Callable[[], Any]],
    assets_extra: Mapping[str, str] | None = None,
    as_text: bool = False,
    checkpoint_path: str | None = None,
) -> bytes:
    """Writes the models of several modes, which share their variables, as one SavedModel.

    Args:
      estimator: an Estimator.
      export_dir_base: the parent folder; each export is a new folder in it.
      input_receiver_fn_map: by mode, a function that makes its inputs.
      assets_extra: further files to copy, by their new names.
      as_text: whether to write the model as text.
      checkpoint_path: the checkpoint; by default the latest.

    Returns:
      The new folder's path, as bytes.
    """
    return estimator.experimental_export_all_saved_models(
        export_dir_base, input_receiver_fn_map, assets_extra, as_text, checkpoint_path
    )
