"""The schedules and output paths of TensorFlow's session-run hooks."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from typing import Any

import tensorflow as tf

# The timer of hooks that act only at the end; no public name.
from tensorflow.python.training.basic_session_run_hooks import NeverTriggerTimer

__all__ = [
    "checkpoint_folder",
    "checkpoint_path",
    "count_logged_calls",
    "final_step",
    "forget_event_writers",
    "has_saver_attributes",
    "has_waited",
    "listeners_of",
    "logged_calls",
    "move_next_step",
    "open_event_writers",
    "profile_path",
    "saver_of",
    "timer_of",
    "timer_periods",
    "watched_loss",
    "write_graph_def",
]


def watched_loss(hook: tf.compat.v1.train.NanTensorHook) -> Any:
    """The tensor that a NanTensorHook checks."""
    return hook._loss_tensor


def final_step(hook: tf.compat.v1.train.StopAtStepHook) -> int | None:
    """The global step at which a StopAtStepHook stops; None before its session."""
    return hook._last_step


def has_waited(hook: tf.compat.v1.train.GlobalStepWaiterHook) -> bool:
    """Returns whether a GlobalStepWaiterHook has seen its step; False before begin()."""
    return getattr(hook, "_worker_is_started", False)


def timer_of(hook: Any) -> Any:
    """A hook's SecondOrStepTimer."""
    return hook._timer


_TIMER = tf.compat.v1.train.SecondOrStepTimer
_TIMER_RULE = ("should_trigger_for_step", "last_triggered_step")


def timer_periods(timer: Any) -> tuple[int | None, float | None] | None:
    """The steps and the seconds of a timer; None for a program's timer with a rule of its own.

    Both are None for a timer that never triggers.
    """
    kind = type(timer)  # this runs for each call of hooks; most timers are plain ones
    if kind is NeverTriggerTimer:
        return None, None
    if kind is not _TIMER and any(
        getattr(kind, name, None) is not getattr(_TIMER, name) for name in _TIMER_RULE
    ):
        return None
    return timer._every_steps, timer._every_secs


def logged_calls(hook: tf.compat.v1.train.LoggingTensorHook) -> int:
    """The number of calls that a LoggingTensorHook has counted; 0 before its begin()."""
    return getattr(hook, "_iter_count", 0)


def count_logged_calls(hook: tf.compat.v1.train.LoggingTensorHook, calls: int) -> None:
    """Adds skipped calls to a LoggingTensorHook's count."""
    hook._iter_count += calls


def move_next_step(hook: Any, step: int) -> None:
    """Sets the next step of a ProfilerHook or SummarySaverHook that has already recorded one."""
    if hook._next_step is not None:
        hook._next_step = step


def profile_path(hook: tf.compat.v1.train.ProfilerHook) -> str:
    """The path of a ProfilerHook's files, with a placeholder for the step."""
    return hook._output_file


def has_saver_attributes(hook: tf.compat.v1.train.CheckpointSaverHook) -> bool:
    """Returns whether a CheckpointSaverHook has what its constructor sets.

    A program's subclass may delegate to another hook, and a mock has the class's methods only.
    """
    return {"_checkpoint_dir", "_save_path", "_listeners"} <= vars(hook).keys()


def checkpoint_folder(hook: tf.compat.v1.train.CheckpointSaverHook) -> str:
    """The folder that a CheckpointSaverHook saves into."""
    return hook._checkpoint_dir


def checkpoint_path(hook: tf.compat.v1.train.CheckpointSaverHook) -> str:
    """The path of a CheckpointSaverHook's checkpoints, without the step."""
    return hook._save_path


def saver_of(hook: tf.compat.v1.train.CheckpointSaverHook) -> tf.compat.v1.train.Saver:
    """The Saver that a CheckpointSaverHook uses, which may be the scaffold's."""
    return hook._get_saver()


def listeners_of(hook: tf.compat.v1.train.CheckpointSaverHook) -> list[Any]:
    """The list of a CheckpointSaverHook's listeners; changes to it take effect."""
    return hook._listeners


def write_graph_def(hook: tf.compat.v1.train.CheckpointSaverHook, should_write: bool) -> None:
    """Sets whether a CheckpointSaverHook writes graph.pbtxt; the argument varies by release."""
    hook._save_graph_def = should_write


def open_event_writers() -> Iterable[Any]:
    """The writers in FileWriterCache, which has no public list."""
    return list(tf.compat.v1.summary.FileWriterCache._cache.values())


def forget_event_writers(folder: str) -> None:
    """Removes the writers of a folder and the folders in it from FileWriterCache, and closes them.

    Their files have left the folder, but the cache would still return them.

    Args:
      folder: the folder, as passed to the cache.
    """
    cache = tf.compat.v1.summary.FileWriterCache
    with cache._lock:
        names = [name for name in cache._cache if f"{name}/".startswith(f"{folder}/")]
        writers = [cache._cache.pop(name) for name in names]
    for writer in writers:
        with contextlib.suppress(Exception):  # its thread has ended, as its file is gone
            writer.close()
