"""The results of an evaluation as summaries."""

from __future__ import annotations

import contextlib
import contextvars
import numbers
import os
import threading
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import tensorflow as tf
from tensorflow.compat.v1 import logging

from estimator_bridge.checkpoint import check_model_dir
from estimator_bridge.errors import ModelDirLostError
from estimator_bridge.tensorflow_private.hooks import forget_event_writers
from estimator_bridge.training.event_files import tags_at

__all__ = ["write_results", "written_once"]

_WRITER_THREAD = "EventLoggerThread"
_GLOBAL_STEP = tf.compat.v1.GraphKeys.GLOBAL_STEP
_summary = tf.compat.v1.Summary
# The step whose results a killed process may have written.
_WRITTEN_ONCE: contextvars.ContextVar[int | None] = contextvars.ContextVar("step", default=None)


@contextlib.contextmanager
def written_once(step: int) -> Iterator[None]:
    """Within this context, results of a step that event files have are not written again.

    Args:
      step: the global step.
    """
    token = _WRITTEN_ONCE.set(step)
    try:
        yield
    finally:
        _WRITTEN_ONCE.reset(token)


def write_results(
    directory: str | None, results: Mapping[str, Any], checkpoint_path: str | None
) -> None:
    """Writes an evaluation's results as summaries at its global step.

    Args:
      directory: the folder of the event files; None writes them to the log alone.
      results: metrics by name, the global step among them.
      checkpoint_path: the evaluated checkpoint; written as the text summary 'checkpoint_path'.

    Raises:
      ModelDirLostError: the folder that holds it was removed, renamed or replaced during the
        evaluation. The results are in the log.
    """
    step = int(results[_GLOBAL_STEP])
    # format() without !s prints a float32 as one of Python's floats.
    text = ", ".join(f"{k} = {v!s}" for k, v in sorted(results.items()) if not _is_bytes(v))
    if directory is None:
        logging.info("Results at global step %d: %s", step, text)
        return
    logging.info("Saving dict for global step %d: %s", step, text)
    summary = _summary()
    for name, value in results.items():
        if name != _GLOBAL_STEP and value is not None:
            _add(summary, name, value)
    summaries = [summary]
    if checkpoint_path:
        logging.info(
            "Saving 'checkpoint_path' summary for global step %d: %s", step, checkpoint_path
        )
        text = _summary()
        metadata = tf.compat.v1.SummaryMetadata(
            plugin_data=tf.compat.v1.SummaryMetadata.PluginData(plugin_name="text")
        )
        text.value.add(
            tag="checkpoint_path",
            metadata=metadata,
            tensor=tf.make_tensor_proto(checkpoint_path, dtype=tf.string),
        )
        summaries.append(text)
    if _WRITTEN_ONCE.get() == step:
        old_tags = tags_at(os.path.join(directory, "*.tfevents.*"), step)
        summaries = [s for s in summaries if not old_tags.issuperset(v.tag for v in s.value)]
    if summaries:
        try:
            check_model_dir(directory)
        except ModelDirLostError:
            forget_event_writers(directory)  # a later evaluation needs a new file
            raise
        _write(directory, summaries, step)


def _write(directory: str, summaries: Sequence[Any], step: int) -> None:
    """Writes summaries; only warns if they cannot be written."""
    writer = None
    with _quiet_writer_thread():
        try:
            writer = tf.compat.v1.summary.FileWriterCache.get(directory)
            for summary in summaries:
                writer.add_summary(summary, step)
            writer.flush()
        except (RuntimeError, IndexError, OSError, tf.errors.OpError) as error:
            reason = str(getattr(error, "message", None) or error).splitlines()[0]
            logging.warning(
                "The results of global step %d could not be written as summaries to %s: %s. They "
                "are returned, and are in the log.",
                step,
                directory,
                reason,
            )
            if writer is not None:
                writer.reopen()  # its thread has ended; the next evaluation may have space


@contextlib.contextmanager
def _quiet_writer_thread() -> Iterator[None]:
    """Suppresses the traceback of TensorFlow's writer thread, whose error is raised here too."""
    before = threading.excepthook

    def hook(arguments: Any, /) -> None:
        if getattr(arguments.thread, "name", None) != _WRITER_THREAD:
            before(arguments)

    threading.excepthook = hook
    try:
        yield
    finally:
        threading.excepthook = before


def _add(summary: Any, name: str, value: Any) -> None:
    if isinstance(value, (numbers.Number, np.number)) and not isinstance(value, complex):
        summary.value.add(tag=name, simple_value=float(np.asarray(value)))
    elif _is_bytes(value):
        try:
            parsed = _summary.FromString(value)
        except Exception:  # protobuf's exception types differ between releases
            logging.warning("Skipping summary for %s, cannot parse string to Summary.", name)
            return
        for i, part in enumerate(parsed.value):
            part.tag = f"{name}/{i}"
            summary.value.add().CopyFrom(part)
    elif isinstance(value, np.ndarray):
        summary.value.add(tag=name, tensor=tf.make_tensor_proto(value))
        logging.info(
            "Summary for np.ndarray is not visible in Tensorboard by default. Consider using a "
            "Tensorboard plugin for visualization (see "
            "https://github.com/tensorflow/tensorboard-plugin-example/blob/master/README.md for "
            "more information)."
        )
    else:
        logging.warning("Skipping summary for %s, a %s.", name, type(value).__name__)


def _is_bytes(value: Any) -> bool:
    return isinstance(value, (bytes, np.bytes_))
