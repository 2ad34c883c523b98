"""Small JSON files that the library writes for itself, read whatever has become of them.

A flipped bit, a truncated copy or a stranger's file of the same name must not stop a training. What
cannot be read is set aside under another name, with one line, and counts as missing.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import stat
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

from estimator_bridge.base.any_files import is_folder, is_remote
from estimator_bridge.own_files.deleting import identity_of, lies_at, remove_file, set_aside
from estimator_bridge.own_files.staging import replace_text

__all__ = ["log_once", "parse_note", "read_note", "remove_note", "write_note"]

_T = TypeVar("_T")

_MOST_BYTES = 16 << 20
# The names that a line in the log has mentioned, so that a later start does not repeat it.
_MENTIONED = ".estimator_bridge.mentioned"
_DAMAGE = (ValueError, TypeError, KeyError, AttributeError, IndexError, RecursionError)


def parse_note(content: bytes, parse: Callable[[dict[str, Any]], _T]) -> _T:
    """Parses a note's bytes.

    Args:
      content: any bytes.
      parse: makes the result of the JSON object; it may raise what wrong contents cause.

    Raises:
      ValueError: they are not UTF-8, not a JSON object, or not what `parse` expects.
    """
    try:
        value = json.loads(content.decode("utf-8"))
        if not isinstance(value, dict):
            raise TypeError(f"is a JSON {type(value).__name__}, not an object")
        return parse(value)
    except _DAMAGE as error:
        raise ValueError(f"{type(error).__name__}: {error}") from error


def read_note(path: str, parse: Callable[[dict[str, Any]], _T]) -> _T | None:
    """Reads a note.

    Args:
      path: the note.
      parse: see `parse_note`.

    Returns:
      The result; None if there is no note, or it was unreadable and has been set aside.

    Raises:
      OSError: it is unreadable and cannot be renamed. On an object store, a tf.errors.OpError.
    """
    if not lies_at(path):
        return None
    try:
        return parse_note(_content(path), parse)
    except FileNotFoundError:  # removed since
        return None
    except (ValueError, OSError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        set_aside(path, f"cannot be read ({_shorten(reason)})")
        return None


def write_note(path: str, content: Mapping[str, Any]) -> None:
    """Writes a note as a whole.

    Raises:
      OSError: it cannot be written. On an object store, a tf.errors.OpError.
    """
    if lies_at(path) and identity_of(path) is None:
        set_aside(path, "is in the place of a note")
    replace_text(path, json.dumps(content) + "\n")


def remove_note(path: str) -> None:
    """Removes a note, if it is one; anything else of its name stays.

    Raises:
      OSError: it cannot be removed. On an object store, a tf.errors.OpError.
    """
    with contextlib.suppress(ValueError, OSError):
        identity = identity_of(path)
        parse_note(_content(path), dict)
        remove_file(path, identity)


def log_once(folder: str, message: str, names: Iterable[str]) -> None:
    """Logs a warning about names in a folder that no earlier one has mentioned.

    Args:
      folder: the folder; the names are remembered there.
      message: the warning, with `%s` for the folder and for the names.
      names: the names of files or folders there.
    """
    names = sorted(set(names))
    if not names or not is_folder(folder):
        return
    path = os.path.join(folder, _MENTIONED)
    old_names = read_note(path, lambda note: set(map(str, note["names"]))) or set()
    new = [name for name in names if name not in old_names]
    if not new:
        return
    text = ", ".join(name if name.isprintable() else ascii(name) for name in new[:5])
    _log.warning(message, folder, text + (f" and {len(new) - 5} more" if len(new) > 5 else ""))
    with contextlib.suppress(OSError):  # a full disk: the line is repeated
        write_note(path, {"names": sorted(old_names.union(names))})


def _content(path: str) -> bytes:
    """Reads a file's bytes; neither a link, nor a pipe that blocks, nor a file without an end.

    Raises:
      ValueError: it is not a regular file, or too large for a note.
      OSError: it cannot be read.
    """
    if is_remote(path):
        import tensorflow as tf

        try:
            if tf.io.gfile.isdir(path):
                raise ValueError("it is a folder")
            with tf.io.gfile.GFile(path, "rb") as file:
                return file.read(_MOST_BYTES)
        except tf.errors.NotFoundError as error:
            raise FileNotFoundError(path) from error
        except tf.errors.OpError as error:
            raise ValueError(error.message) from error
    if identity_of(path) is None:
        raise ValueError("it is no regular file" if lies_at(path) else "it is gone")
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    with open(descriptor, "rb") as file:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise ValueError("it is no regular file")
        if status.st_size > _MOST_BYTES:
            raise ValueError(f"it has {status.st_size} bytes, more than any note")
        return file.read(_MOST_BYTES)


def _shorten(reason: str) -> str:
    line = " ".join(reason.split())
    return line if len(line) <= 100 else line[:99] + "…"


_log = logging.getLogger("tensorflow")
