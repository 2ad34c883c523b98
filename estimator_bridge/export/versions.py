"""Folders of exports, named by the time, that appear whole or not at all."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator, Mapping

import tensorflow as tf

__all__ = ["check_assets_extra", "copy_assets_extra", "new_version"]


@contextlib.contextmanager
def new_version(export_dir_base: str, now: float | None = None) -> Iterator[tuple[str, str]]:
    """Writes a new version of a served model.

    The folder has a temporary name while it is written, which is no number and so is passed over
    by TensorFlow Serving. It gets its own name at the end, or is removed where an error is raised.

    Args:
      export_dir_base: holds the versions; made where it is not there.
      now: seconds since 1970; by default the clock's.

    Yields:
      (temporary, final): the folder to write, not made yet, and what it will be.
    """
    timestamp = int(time.time() if now is None else now)
    while True:  # two exports in one second
        final = os.path.join(export_dir_base, str(timestamp))
        temporary = os.path.join(export_dir_base, f"temp-{timestamp}")
        if not (tf.io.gfile.exists(final) or tf.io.gfile.exists(temporary)):
            break
        timestamp += 1
    tf.io.gfile.makedirs(export_dir_base)
    try:
        yield temporary, final
        tf.io.gfile.rename(temporary, final)
    except BaseException:
        if tf.io.gfile.exists(temporary):
            tf.io.gfile.rmtree(temporary)
        raise


def check_assets_extra(assets_extra: Mapping[str, str] | None) -> None:
    """Checks files that are to go beside a SavedModel.

    Args:
      assets_extra: the files, by where they are to go in the folder assets.extra.

    Raises:
      ValueError: a place is outside of that folder, or there is no such file.
    """
    for place, source in (assets_extra or {}).items():
        if os.path.isabs(place) or ".." in tf.compat.as_str_any(place).split("/"):
            raise ValueError(
                f"assets_extra must name places within the folder assets.extra, got {place!r} for "
                f"{source!r}. Write the path below it, as 'vocabularies/words.txt'."
            )
        if not tf.io.gfile.exists(source) or tf.io.gfile.isdir(source):
            raise ValueError(f"assets_extra[{place!r}] is {source!r}, but there is no such file.")


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
