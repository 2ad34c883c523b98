"""Finds the model that --model_dir means, before TensorFlow is loaded."""

from __future__ import annotations

import dataclasses
import os

from estimator_bridge.base.any_files import exists, is_folder, names_in
from estimator_bridge.errors import CheckpointError

__all__ = ["ModelFolder", "find_model"]

_SAVED = ("saved_model.pb", "saved_model.pbtxt")
_CHECKPOINT = ".index"
_EXPORTS = "export"


@dataclasses.dataclass(frozen=True)
class ModelFolder:
    """The content of a folder.

    Attributes:
      path: the folder, or the prefix of a checkpoint.
      saved_model: the SavedModel: the folder itself, or the newest below it; None without one.
      has_checkpoint: whether there is a checkpoint.
    """

    path: str
    saved_model: str | None
    has_checkpoint: bool


def find_model(path: str) -> ModelFolder:
    """Looks for a SavedModel and for checkpoints.

    Args:
      path: a SavedModel's folder; a folder of exports, each named by its time; a model_dir; or a
        checkpoint such as model_dir/model.ckpt-100; local, or of an object store.

    Raises:
      CheckpointError: there is neither.
    """
    if exists(path + _CHECKPOINT):
        return ModelFolder(path, None, True)
    if not is_folder(path):
        raise CheckpointError(
            f"{path}: no such folder. --model_dir wants a model_dir, the folder of a SavedModel, "
            "or a checkpoint such as model_dir/model.ckpt-100."
        )
    names = names_in(path)
    if any(name in names for name in _SAVED):
        return ModelFolder(path, path, False)
    has_checkpoint = any(name.endswith(_CHECKPOINT) for name in names)
    saved_model = _newest(path) or _newest(os.path.join(path, _EXPORTS))
    if not has_checkpoint and saved_model is None:
        raise CheckpointError(
            f"{path}: no checkpoint and no SavedModel in this folder. Train a model first, or name "
            "the folder of a trained one."
        )
    return ModelFolder(path, saved_model, has_checkpoint)


def _newest(folder: str) -> str | None:
    """Returns the newest export of a folder, or of the exporters' folders in it."""
    exports: dict[tuple[int, str], str] = {}
    if is_folder(folder):
        for name in names_in(folder):
            inside = os.path.join(folder, name)
            inner = [inside] if name.isdecimal() else [
                os.path.join(inside, time)
                for time in (names_in(inside) if is_folder(inside) else ())
                if time.isdecimal()
            ]  # fmt: skip
            for export in inner:
                if any(exists(os.path.join(export, file)) for file in _SAVED):
                    exports[(int(os.path.basename(export)), export)] = export
    return exports[max(exports)] if exports else None
