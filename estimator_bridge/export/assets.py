"""Files that belong to an export: what its graph reads, and what its maker puts beside it."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping

import tensorflow as tf

__all__ = ["check_assets", "check_assets_extra", "copy_assets_extra"]


def check_assets(assets: Iterable[tf.Tensor], known: dict[str, str]) -> None:
    """Checks the files that a graph reads, such as vocabularies, before they are copied.

    TensorFlow passes over a file that is not there, and over one whose name an earlier mode's
    file has; either is found out when the model is loaded, or never.

    Args:
      assets: the files' names, of the graph's collection of assets.
      known: paths by file name, of the modes before; added to.

    Raises:
      ValueError: a file is not there, or is another one than that of an earlier mode.
    """
    for asset in assets:
        value = tf.get_static_value(asset)
        path = tf.compat.as_str_any(value.item() if hasattr(value, "item") else value)
        if not tf.io.gfile.exists(path):
            raise ValueError(
                f"The model reads the file {path!r} (asset {asset.name!r}), which is not there, so "
                "it cannot be copied into the SavedModel."
            )
        other = known.setdefault(os.path.basename(path), path)
        if other != path and _content(other) != _content(path):
            raise ValueError(
                f"Two modes read different files of one name, {other!r} and {path!r}. A "
                "SavedModel keeps one file of a name for all modes; rename one."
            )


class _NoSuchFileError(ValueError, tf.errors.NotFoundError):
    """A file that is to be exported is not there."""

    def __init__(self, message: str):
        tf.errors.NotFoundError.__init__(self, None, None, message)


def check_assets_extra(assets_extra: Mapping[str, str] | None) -> None:
    """Checks files that are to go beside a SavedModel.

    Args:
      assets_extra: the files, by where they are to go in the folder assets.extra.

    Raises:
      ValueError: a place is outside of that folder, or there is no such file.
    """
    for place, source in (assets_extra or {}).items():
        name = tf.compat.as_str_any(place)
        if os.path.isabs(name) or ".." in name.split("/"):
            raise ValueError(
                f"assets_extra must name places within the folder assets.extra, got {name!r} for "
                f"{source!r}. Write the path below it, as 'vocabularies/words.txt'."
            )
        if not tf.io.gfile.exists(source) or tf.io.gfile.isdir(source):
            raise _NoSuchFileError(
                f"assets_extra[{name!r}] is {source!r}, but there is no such file."
            )


def copy_assets_extra(assets_extra: Mapping[str, str] | None, export_dir: str) -> None:
    """Copies such files.

    Args:
      assets_extra: the files, checked.
      export_dir: of the SavedModel.
    """
    for place, source in (assets_extra or {}).items():
        target = os.path.join(export_dir, "assets.extra", tf.compat.as_str_any(place))
        tf.io.gfile.makedirs(os.path.dirname(target))
        tf.io.gfile.copy(source, target)


def _content(path: str) -> bytes:
    with tf.io.gfile.GFile(path, "rb") as file:
        return file.read()
