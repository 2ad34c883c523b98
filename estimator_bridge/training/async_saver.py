"""Checkpoints that are written while training continues."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf
from tensorflow.compat.v1 import logging

from estimator_bridge.checkpoint import SaverSnapshot, Write, why_not_beside_steps
from estimator_bridge.training.graph_files import GraphSaverHook
from estimator_bridge.training.hook_schedule import Due, due_by_timer
from estimator_bridge.training.own_hooks import SnapshotListener

__all__ = ["AsyncCheckpointSaverHook", "AsyncCheckpoints", "wants_async"]

_VARIABLE = "ESTIMATOR_BRIDGE_ASYNC_CHECKPOINTS"
_WORDS = {"": False, "0": False, "false": False, "1": True, "true": True}
_SessionRunHook: Any = tf.compat.v1.train.SessionRunHook
_SessionLog: Any = tf.compat.v1.SessionLog


class AsyncCheckpoints(_SessionRunHook):
    """Writes the checkpoints of RunConfig while training continues.

    Pass it to train() among the hooks, or set ESTIMATOR_BRIDGE_ASYNC_CHECKPOINTS=1. The
    program's saver hook takes precedence, as it does over RunConfig's.

    Args:
      on: False makes training wait, regardless of the environment variable.
    """

    def __init__(self, on: bool = True):
        self.on = on


class AsyncCheckpointSaverHook(GraphSaverHook):
    """Saves checkpoints every N steps or seconds, while training continues.

    Between two steps it copies the values of the variables and the position of the input. A thread
    writes them as CheckpointSaverHook does. At most one checkpoint is written at a time: the next
    one waits for it, so none is skipped. Listeners run in the training's thread: `before_save` at
    the step that is saved, `after_save` at the end of the first call of the loop after the
    checkpoint is complete. A write error is raised there, too. The last checkpoint is complete
    when train() returns.

    Args:
      checkpoint_dir: where to save.
      save_secs: seconds between checkpoints.
      save_steps: steps between checkpoints, instead of ``save_secs``.
      saver: the saver; by default the scaffold's or the graph's.
      checkpoint_basename: the prefix of the files.
      scaffold: whose saver is used instead of ``saver``.
      listeners: CheckpointSaverListeners.

    Raises:
      ValueError: both saver and scaffold, or not exactly one of save_secs and save_steps.
    """

    def __init__(
        self,
        checkpoint_dir: str,
        save_secs: float | None = None,
        save_steps: int | None = None,
        saver: Any = None,
        checkpoint_basename: str = "model.ckpt",
        scaffold: Any = None,
        listeners: Sequence[Any] | None = None,
    ):
        super().__init__(
            checkpoint_dir, save_secs, save_steps, saver, checkpoint_basename, scaffold, listeners
        )
        self._lasting: tuple[int, Write] | None = None  # the step and the unfinished write
        self._is_ending = False
        self._reported_reason: str | None = None  # why checkpoints are not written during steps

    def steps_until_due(self, step: int) -> Due:
        """Returns when the next checkpoint is due; also now, if one was written or has failed."""
        due = due_by_timer(self._timer, step)
        is_done = self._lasting is not None and self._lasting[1].is_done
        return due._replace(now=True) if is_done else due

    def begin(self) -> None:
        """Starts a run."""
        self._lasting, self._is_ending = None, False
        super().begin()

    def after_run(
        self,
        run_context: tf.compat.v1.train.SessionRunContext,
        run_values: tf.compat.v1.train.SessionRunValues,
    ) -> None:
        """Saves if it is time, and completes a finished write."""
        if self._lasting and self._lasting[1].is_done and self._settle(run_context.session):
            run_context.request_stop()
        super().after_run(run_context, run_values)

    def end(self, session: Any) -> None:
        """Waits for the last checkpoint."""
        self._settle(session)
        self._is_ending = True
        super().end(session)

    def _save(self, session: Any, step: int) -> Any:
        """Begins to save; returns whether a listener of an earlier checkpoint asks for the end."""
        saver = self._get_saver()
        why_not = why_not_beside_steps(session, saver)
        if why_not:
            if why_not != self._reported_reason:
                logging.warning("Training waits while checkpoints are written: %s.", why_not)
                self._reported_reason = why_not
            return super()._save(session, step)
        should_stop = self._settle(session)
        if self._wrote_graph:  # see GraphSaverHook
            self._save_graph_def = True
        writes = self._take(session, step)
        logging.info("Saving checkpoints for %d into %s.", step, self._save_path)
        snapshot: list[SaverSnapshot] = [SaverSnapshot(session, saver)]

        def write() -> None:
            for write_first in writes:
                write_first()
            source = snapshot.pop()  # only the thread holds it from now on
            with source.graph.as_default():
                saver.save(source, self._save_path, step, write_meta_graph=self._save_graph_def)

        path = f"{self._save_path}-{step}"
        self._lasting = int(step), session.writer.start(path, write)
        if self._is_ending:
            should_stop |= self._settle(session)
        return should_stop

    def _take(self, session: Any, step: int) -> list[Callable[[], None]]:
        """Calls listeners before a save; returns functions that write their files first."""
        logging.info("Calling checkpoint listeners before saving checkpoint %d...", step)
        writes = []
        for listener in self._listeners:
            if isinstance(listener, SnapshotListener):
                writes.append(listener.take(step))
            else:
                listener.before_save(session, step)
        return writes

    def _settle(self, session: Any) -> bool:
        """Waits for the write, if any, and notifies listeners of the checkpoint.

        Returns:
          Whether one of them asks training to end.
        """
        if self._lasting is None:
            return False
        (step, write), self._lasting = self._lasting, None
        write.wait()
        if write.error is not None:
            raise write.error
        logging.info("Checkpoint finished for %d into %s.", step, self._save_path)
        log = _SessionLog(status=_SessionLog.CHECKPOINT, checkpoint_path=self._save_path)
        self._summary_writer.add_session_log(log, step)
        logging.info("Calling checkpoint listeners after saving checkpoint %d...", step)
        asking = [listener for listener in self._listeners if listener.after_save(session, step)]
        for listener in asking:
            logging.info(
                "A CheckpointSaverListener requested that training be stopped. listener: %s",
                listener,
            )
        return bool(asking)


def wants_async(hooks: Sequence[Any]) -> bool:
    """Whether to write RunConfig's checkpoints while training continues.

    Args:
      hooks: the hooks of train(), which may include an AsyncCheckpoints.

    Raises:
      ValueError: the environment variable has a value other than 0 or 1.
    """
    is_on = next((hook.on for hook in hooks if isinstance(hook, AsyncCheckpoints)), None)
    if is_on is not None:
        return is_on
    text = os.environ.get(_VARIABLE, "")
    if text.strip().lower() not in _WORDS:
        raise ValueError(f"The environment variable {_VARIABLE} must be 0 or 1; got {text!r}.")
    return _WORDS[text.strip().lower()]
