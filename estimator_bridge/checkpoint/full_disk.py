"""A disk that becomes full during a training: what is said then, and what is left there."""

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
    """Turns the errors of a full disk into one that says what stands, and removes what is half.

    Args:
      model_dir: of the training within, whose lock this process holds.

    Raises:
      FullDiskError: the disk is full.
    """

    def removed_and_told() -> str:
        with contextlib.suppress(tf.errors.OpError):
            remove_leftovers(model_dir)
        return (
            f"{_what_stands(model_dir)} Free some space, or use a model_dir on another disk; "
            "RunConfig(keep_checkpoint_max=...) says how many checkpoints are kept."
        )

    with _explained(removed_and_told):
        yield


@contextlib.contextmanager
def explained_full_disk_of(what: str) -> Iterator[None]:
    """Turns the errors of a full disk into one that says what was not written; others pass.

    Args:
      what: was being written, and cleans up after itself: "An export to /folder".

    Raises:
      FullDiskError: the disk is full.
    """
    told = (
        f"{what} is not there; what was there before stays. Free some space, or use a folder on "
        "another disk."
    )
    with _explained(lambda: told):
        yield


@contextlib.contextmanager
def _explained(told: Callable[[], str]) -> Iterator[None]:
    """Turns the errors of a full disk into a FullDiskError; ``told`` is its text's second part."""
    try:
        yield
    except Exception as error:
        reason = _reason(error)
        if reason is None or isinstance(error, FullDiskError):
            raise
        raise FullDiskError(f"The disk is full: {reason}. {told()}") from error


def _reason(error: BaseException) -> str | None:
    """Returns the line of an error which says that a disk or a quota is full; None for others."""
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
    return f"The checkpoint {latest} is whole: training goes on from there when started again."
