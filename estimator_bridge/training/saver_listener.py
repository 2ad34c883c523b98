"""Writes everything that must precede a checkpoint, so that a kill loses nothing.

Training that resumes from a checkpoint repeats no earlier step. So summaries up to its step are
written first, and the old checkpoint that it replaces is noted.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import tensorflow as tf

from estimator_bridge.checkpoint import check_model_dir, note_deletion, remove_deletion_note
from estimator_bridge.tensorflow_private.hooks import (
    checkpoint_folder,
    checkpoint_path,
    has_saver_attributes,
    listeners_of,
    saver_of,
)
from estimator_bridge.training.own_hooks import RunListener

__all__ = ["release_savers", "savers_of", "watch_savers"]

_train = tf.compat.v1.train


class _SaverListener(RunListener):
    """The first of a saver's listeners.

    Args:
      hook: the CheckpointSaverHook.
    """

    def __init__(self, hook: Any):
        self._hook = hook

    def before_save(self, session: Any, global_step_value: int) -> None:
        """Prepares a checkpoint."""
        del session
        check_model_dir(checkpoint_folder(self._hook))
        self._flush()
        path = f"{checkpoint_path(self._hook)}-{global_step_value}"
        note_deletion(checkpoint_folder(self._hook), saver_of(self._hook), path)

    def after_save(self, session: Any, global_step_value: int) -> None:
        """Completes a checkpoint."""
        del session, global_step_value
        self._flush()  # the hook's event of the checkpoint
        remove_deletion_note(checkpoint_folder(self._hook))

    def _flush(self) -> None:
        tf.compat.v1.summary.FileWriterCache.get(checkpoint_folder(self._hook)).flush()


def savers_of(hooks: Iterable[Any]) -> list[Any]:
    """Returns the CheckpointSaverHooks of a run that can have listeners.

    Args:
      hooks: all hooks of the run. A program's saver hook that only delegates has no listeners.
    """
    of_class = [hook for hook in hooks if isinstance(hook, _train.CheckpointSaverHook)]
    return [hook for hook in of_class if has_saver_attributes(hook)]


def watch_savers(hooks: Iterable[Any]) -> None:
    """Adds the listener to a run's savers.

    Args:
      hooks: all hooks of the run, before they begin.
    """
    for hook in savers_of(hooks):
        listeners = listeners_of(hook)
        listeners[:] = [one for one in listeners if not isinstance(one, _SaverListener)]
        listeners.insert(0, _SaverListener(hook))


def release_savers(hooks: Iterable[Any]) -> None:
    """Removes the listener from a run's savers, whose listeners programs may read.

    Args:
      hooks: all hooks of the run, after they have ended.
    """
    for hook in savers_of(hooks):
        listeners = listeners_of(hook)
        listeners[:] = [one for one in listeners if not isinstance(one, RunListener)]
