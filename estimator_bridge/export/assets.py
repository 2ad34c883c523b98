"""Files of an export: assets that its graph reads, and extra files that the caller adds."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping

import tensorflow as tf

from estimator_bridge.base.any_files import check_is_no_pipe

__all__ = ["check_assets", "check_assets_extra", "copy_assets_extra"]


def check_assets(assets: Iterable[tf.Tensor], asset_paths: dict[str, str]) -> None:
    """Checks the files that a graph reads, such as vocabularies, before they are copied.

    TensorFlow silently skips a missing file, and a file whose name an earlier mode already used.
    Either problem shows up only when the model is loaded, or never.

    Args:
      assets: the file names, from the graph's collection of assets.
      asset_paths: paths of earlier modes' assets, by file name; updated in place.

    Raises:
      ValueError: a file is missing, or differs from the file of that name in an earlier mode.
    """
    for asset in assets:
        value = tf.get_static_value(asset)
        path = tf.compat.as_str_any(value.item() if hasattr(value, "item") else value)
        if not tf.io.gfile.exists(path):
            raise ValueError(
                f"The model reads the file {path!r} (asset {asset.name!r}), which does not exist, "
                "so it cannot be copied into the SavedModel."
            )
        other = asset_paths.setdefault(os.path.basename(path), path)
        if other != path and _content(other) != _content(path):
            raise ValueError(
                f"Two modes read different files with the same name, {other!r} and {path!r}. A "
                "SavedModel keeps one file per name for all modes; rename one."
            )


class _NoSuchFileError(ValueError, tf.errors.NotFoundError):
    """A file to export does not exist."""

    def __init__(self, message: str):
        tf.errors.NotFoundError.__init__(self, None, None, message)


def check_assets_extra(assets_extra: Mapping[str, str] | None) -> None:
    """Checks the extra files that are copied next to a SavedModel.

    Args:
      assets_extra: source files by destination, relative to the folder assets.extra.

    Raises:
      ValueError: a destination is outside of that folder, or a source does not exist.
    """
    for place, source in (assets_extra or {}).items():
        name = tf.compat.as_str_any(place)
        if os.path.isabs(name) or ".." in name.split("/"):
            raise ValueError(
                f"assets_extra must name places within the folder assets.extra, got {name!r} for "
                f"{source!r}. Write a path relative to it, such as 'vocabularies/words.txt'."
            )
        if not tf.io.gfile.exists(source) or tf.io.gfile.isdir(source):
            raise _NoSuchFileError(
                f"assets_extra[{name!r}] is {source!r}, but there is no such file."
            )


def copy_assets_extra(assets_extra: Mapping[str, str] | None, export_dir: str) -> None:
    """Copies the extra files into an export.

    Args:
      assets_extra: the files, already checked by `check_assets_extra`.
      export_dir: the SavedModel's folder.
    """
    for place, source in (assets_extra or {}).items():
        target = os.path.join(export_dir, "assets.extra", tf.compat.as_str_any(place))
        tf.io.gfile.makedirs(os.path.dirname(target))
        check_is_no_pipe(os.fspath(source))
        tf.io.gfile.copy(source, target)


def _content(path: str) -> bytes:
    with tf.io.gfile.GFile(path, "rb") as file:
        return file.read()
