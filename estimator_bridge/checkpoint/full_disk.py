"""Full disks during training: explains the error and removes partial files."""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Callable, Iterator

import tensorflow as tf

from estimator_bridge.checkpoint.error_types import FullDiskError
from estimator_bridge.checkpoint.folder import latest_checkpoint
from estimator_bridge.checkpoint.overwriting import remove_leftovers
from estimator_bridge.errors import CheckpointError

__all__ = ["explained_full_disk", "explained_full_disk_of"]

_REASONS = tuple(map(os.strerror, (errno.ENOSPC, errno.EDQUOT)))


@contextlib.contextmanager
def explained_full_disk(model_dir: str) -> Iterator[None]:
    """Turns full-disk errors into one that names the latest checkpoint; removes partial files.

    Args:
      model_dir: the folder of the training that runs within; this process holds its lock.

    Raises:
      FullDiskError: the disk is full.
    """

    def removed_and_told() -> str:
        with contextlib.suppress(tf.errors.OpError):
            remove_leftovers(model_dir)
        return (
            f"{_what_stands(model_dir)} Free some space, or use a model_dir on another disk; "
            "RunConfig(keep_checkpoint_max=...) sets how many checkpoints are kept."
        )

    with _explained(removed_and_told):
        yield


@contextlib.contextmanager
def explained_full_disk_of(what: str) -> Iterator[None]:
    """Turns full-disk errors into one that says what was not written; others pass unchanged.

    Args:
      what: the output being written, which cleans up after itself: "An export to /folder".

    Raises:
      FullDiskError: the disk is full.
    """
    told = (
        f"{what} was not written; existing files are unchanged. Free some space, or use a folder "
        "on another disk."
    )
    with _explained(lambda: told):
        yield


@contextlib.contextmanager
def _explained(told: Callable[[], str]) -> Iterator[None]:
    """Turns full-disk errors into a FullDiskError; ``told`` returns the second part of its text."""
    try:
        yield
    except Exception as error:
        reason = _reason(error)
        if reason is None or isinstance(error, FullDiskError):
            raise
        raise FullDiskError(f"The disk is full: {reason}. {told()}") from error


def _reason(error: BaseException) -> str | None:
    """Returns the line of an error that says a disk or quota is full; None for other errors."""
    if not isinstance(error, (tf.errors.OpError, OSError, RuntimeError)):
        return None
    lines = str(getattr(error, "message", None) or error).splitlines()
    return next((line.strip() for line in lines if any(r in line for r in _REASONS)), None)


def _what_stands(model_dir: str) -> str:
    try:
        latest = latest_checkpoint(model_dir)
    except (CheckpointError, tf.errors.OpError):
        latest = None
    if latest is None:
        return f"There is no whole checkpoint in {model_dir}."
    return f"The checkpoint {latest} is whole: a restarted training resumes from it."
