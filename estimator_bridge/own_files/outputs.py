"""Outputs of fixed names, such as report.html, that leave a user's file of the same name alone.

A record beside an output holds checksums of what the library wrote there. A file with another
content is a user's, or was edited by one: it stays, and the output goes to a name beside it. A copy
of the folder keeps both, so the times of files do not matter.
"""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import os
from collections.abc import Callable
from typing import Any

from estimator_bridge.base.any_files import open_bytes, read_at_most
from estimator_bridge.own_files.deleting import identity_of, lies_at
from estimator_bridge.own_files.notes import log_once, read_note, write_note
from estimator_bridge.own_files.staging import replace_file

__all__ = ["output_to_read", "own_output", "record_output", "replace_output"]

_RECORD = ".estimator_bridge.{}.wrote"
_MOST_BYTES = 256 << 20
_REMEMBERED = 8  # two processes may write at once, and a kill may come before the file is replaced

_IsOwn = Callable[[bytes], bool]


def own_output(path: str, is_own: _IsOwn | None = None) -> str:
    """Returns where an output goes: its own path, or one beside it if another file has that.

    Args:
      path: the output's usual path. If another file has it, a line says so once.
      is_own: returns whether a content can only be the library's; by default the record shows it.
    """
    target = _target(path, is_own)
    if target != path:
        log_once(
            os.path.dirname(path) or ".",
            "%s has files that this library did not write, or that were changed since: %s. They "
            "stay as they are; its own go to NAME.estimator_bridge beside them.",
            [os.path.basename(path)],
        )
    return target


def output_to_read(path: str) -> str:
    """Returns the path of the library's own output if there is one, or else the usual path."""
    target = _target(path, None)
    return target if lies_at(target) else path


def record_output(path: str, content: bytes) -> None:
    """Records an output, before it gets its path.

    Args:
      path: the result of `own_output`.
      content: what is about to be there.

    Raises:
      OSError: the record cannot be written. On an object store, a tf.errors.OpError.
    """
    checksums = [_checksum(content), *_read_checksums(path)]
    write_note(_record_of(path), {"sha256": list(dict.fromkeys(checksums))[:_REMEMBERED]})


def replace_output(path: str, content: bytes) -> str:
    """Writes an output as a whole.

    Args:
      path: the output's usual path.
      content: its content.

    Returns:
      Its path; see `own_output`.

    Raises:
      OSError: it cannot be written. On an object store, a tf.errors.OpError.
    """
    target = own_output(path)
    record_output(target, content)
    replace_file(target, content)
    return target


def _target(path: str, is_own: _IsOwn | None) -> str:
    stem, ending = os.path.splitext(path)
    for number in itertools.count():
        target = path if not number else f"{stem}.estimator_bridge{_number(number)}{ending}"
        if not lies_at(target) or _is_own(target, is_own):
            return target
    raise AssertionError("the names do not end")


def _number(number: int) -> str:
    return "" if number == 1 else f"-{number}"


def _is_own(path: str, is_own: _IsOwn | None) -> bool:
    identity = identity_of(path)
    if identity is None or identity[0] > _MOST_BYTES:
        return False
    checksums = _read_checksums(path)
    if not (checksums or is_own):
        return False
    with contextlib.suppress(OSError), open_bytes(path) as file:
        content = read_at_most(file, _MOST_BYTES)
        return _checksum(content) in checksums or bool(is_own and is_own(content))
    return False


def _read_checksums(path: str) -> list[str]:
    return read_note(_record_of(path), _parse) or []


def _parse(note: dict[str, Any]) -> list[str]:
    checksums = note["sha256"]
    if not isinstance(checksums, list) or not all(isinstance(each, str) for each in checksums):
        raise TypeError("the checksums are no texts")
    return checksums


def _record_of(path: str) -> str:
    folder, name = os.path.split(path)
    return os.path.join(folder, _RECORD.format(name))


def _checksum(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
