"""Full, read-only and failing disks: explains the error and removes partial files."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator

import tensorflow as tf

from estimator_bridge.checkpoint.disk_problems import disk_problem
from estimator_bridge.checkpoint.folder import latest_checkpoint
from estimator_bridge.checkpoint.overwriting import remove_leftovers
from estimator_bridge.errors import CheckpointError

__all__ = ["explained_full_disk", "explained_full_disk_of"]


@contextlib.contextmanager
def explained_full_disk(model_dir: str) -> Iterator[None]:
    """Turns full-disk errors into one that names the latest checkpoint; removes partial files.

    Args:
      model_dir: the folder of the training that runs within; this process holds its lock.

    Raises:
      DiskFullError: the disk is full, or a file must not become larger.
      DiskError: it is read-only, or fails.
    """

    def clean_up() -> str:
        with contextlib.suppress(tf.errors.OpError, OSError):
            remove_leftovers(model_dir)
        return _what_stands(model_dir)

    advice = (
        "or use a model_dir on another disk; RunConfig(keep_checkpoint_max=...) sets how many "
        "checkpoints are kept."
    )
    with _explain_full_disk(clean_up, advice, model_dir):
        yield


@contextlib.contextmanager
def explained_full_disk_of(
    output: str, folder: str = "", only_writes: bool = False
) -> Iterator[None]:
    """Turns full-disk errors into one that says what was not written; others pass unchanged.

    Args:
      output: the output being written, which cleans up after itself: "An export to /folder".
      folder: where it is written. Errors of a failing disk that do not name it pass unchanged.
      only_writes: whether nothing is read within; then such errors need no name.

    Raises:
      DiskFullError: the disk is full, or a file must not become larger.
      DiskError: it is read-only, or fails.
    """
    outcome = f"{output} was not written; existing files are unchanged."
    with _explain_full_disk(
        lambda: outcome, "or use a folder on another disk.", folder, only_writes
    ):
        yield


@contextlib.contextmanager
def _explain_full_disk(
    outcome: Callable[[], str], advice: str, folder: str, only_writes: bool = False
) -> Iterator[None]:
    """Turns errors of a disk into this library's; ``outcome`` cleans up, and says what stands."""
    try:
        yield
    except Exception as error:
        diagnosis = disk_problem(error, folder, only_writes)
        if diagnosis is None:
            raise
        problem, reason = diagnosis
        raise problem.error(
            f"{problem.statement}: {reason}. {outcome()} {problem.advice}, {advice}", problem.number
        ) from error


def _what_stands(model_dir: str) -> str:
    try:
        latest = latest_checkpoint(model_dir)
    except (CheckpointError, tf.errors.OpError):
        latest = None
    if latest is None:
        return f"There is no whole checkpoint in {model_dir}."
    return f"The checkpoint {latest} is whole: a restarted training resumes from it."
