"""The contents of the checkpoint that was checked last, while its files stay as they were.

An evaluation checks its checkpoint when it looks for the latest, and again before it restores it.
One after the other mostly finds the same files.
"""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import tensorflow as tf

from estimator_bridge.base.any_files import is_remote
from estimator_bridge.checkpoint.integrity import check_intact, data_files, variable_shapes

__all__ = ["CheckedContents", "checked_contents"]

# A file that has changed since may have the same time, as clocks tick; not after so long.
_SETTLED_NS = 2 * 10**9


class CheckedContents(NamedTuple):
    """What a checkpoint lists.

    Attributes:
      shapes: the shapes of its variables, by name.
      dtypes: their types.
    """

    shapes: Mapping[str, Sequence[int]]
    dtypes: Mapping[str, tf.DType]


class _State(NamedTuple):
    """A file as the system describes it; nobody can set the time of its last change."""

    path: str
    device: int
    inode: int
    size: int
    modified_ns: int
    changed_ns: int


class _Checked(NamedTuple):
    path: str
    states: Sequence[_State]
    contents: CheckedContents


_last: _Checked | None = None  # replaced as a whole, so threads need no lock


def checked_contents(path: str) -> CheckedContents:
    """Checks a checkpoint, see ``check_intact``, unless the last check was of the same files.

    Args:
      path: the checkpoint's prefix.

    Returns:
      What its index lists.

    Raises:
      CheckpointError: see ``check_intact``.
    """
    global _last  # noqa: PLW0603 - there is one a process
    last, states, now_ns = _last, _states(path), time.time_ns()
    if last is not None and states and (last.path, last.states) == (path, states):
        return last.contents
    reader = check_intact(path)
    contents = CheckedContents(variable_shapes(path, reader), reader.get_variable_to_dtype_map())
    is_settled = all(now_ns - state.changed_ns > _SETTLED_NS for state in states)
    if states and is_settled and _states(path) == states:
        _last = _Checked(path, states, contents)
    return contents


def _states(path: str) -> list[_State]:
    """Returns the states of a checkpoint's files; none if they are remote, or not all there."""
    if is_remote(path):
        return []
    try:
        return [_state(file) for file in (path + ".index", *sorted(data_files(path)))]
    except (OSError, ValueError, tf.errors.OpError):  # no path of a file has a zero byte
        return []


def _state(path: str) -> _State:
    status = os.stat(path)
    if not stat.S_ISREG(status.st_mode):
        raise OSError(f"{path} is not a regular file")
    return _State(
        path,
        *(status.st_dev, status.st_ino, status.st_size),
        *(status.st_mtime_ns, status.st_ctime_ns),
    )
