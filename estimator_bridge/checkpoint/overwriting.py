"""Checkpoints that appear complete, and cleanup after killed processes.

A saver of several shards writes its index in place. Training that resumes from a checkpoint first
saves it again under the same name: a process killed at that moment would leave no checkpoint to
resume from. If the values are still the same, nothing is written at all.
"""

from __future__ import annotations

import contextlib
import functools
import os
import re
import time
from collections.abc import Callable, Iterator, Sequence, Set
from typing import Any

import tensorflow as tf

from estimator_bridge.checkpoint.background_writer import BackgroundWriter
from estimator_bridge.checkpoint.integrity import data_files
from estimator_bridge.checkpoint.lock import check_model_dir
from estimator_bridge.checkpoint.present_values import has_present_values, variable_values
from estimator_bridge.checkpoint.publishing import publish
from estimator_bridge.checkpoint.saver_operations import MERGE, SAVE
from estimator_bridge.graph import LiftedSession
from estimator_bridge.own_files import (
    has_open_staging,
    lies_at,
    log_once,
    open_staging,
    remove_abandoned_staging,
    replace_file,
    set_aside,
    staged,
)
from estimator_bridge.tensorflow_private.saving import whole_files_written_by

__all__ = [
    "CheckpointingSession",
    "complete_files",
    "remove_leftovers",
    "save_whole",
    "saved_prefix",
]

# Files of killed processes, of TensorFlow or of estimator_bridge 0.2.0. Users' files may have such
# names too, so these are mentioned and stay.
_LIKE_LEFTOVERS = re.compile(
    r".+-\d+(\.new)?_temp|"  # the folder of a saver's shards, before they are merged
    r".+-\d+\.new\.(index|data-\d+-of-\d+)|"
    r".+\.tempstate\d+|"  # a shard or an index
    r".+\.tmp[0-9a-f]{32}|"  # `checkpoint` and .meta
    r"checkpoint_input(_\w+)?\.new|"
    r"\.estimator_bridge-[0-9a-f]{32}|"
    r"\.estimator_bridge\.unfinished\.new|"
    r"graph\.pbtxt\.new"
)
_SLOW_DISK = 50e6  # bytes a second
_OF_CHECKPOINT = re.compile(r"(.+\.ckpt-\d+)\.(?:data-\d{5}-of-\d{5}|meta)")


@contextlib.contextmanager
def complete_files(model_dir: str) -> Iterator[None]:
    """Lets checkpoints, `checkpoint`, .meta and other files of a training appear complete.

    Args:
      model_dir: the folder of the training that runs within; this process holds its lock.
    """

    def write(path: str, content: bytes) -> bool:
        if not has_open_staging(os.path.dirname(path)):
            return False
        replace_file(path, content)
        return True

    with open_staging(model_dir), whole_files_written_by(write):
        yield


class CheckpointingSession(LiftedSession):
    """A session that replaces a checkpoint by another one once that is complete.

    Attributes:
      writer: writes checkpoints in the background, one at a time.
      slowest_save_secs: the duration of this session's slowest save; at least what a slow disk
        takes for a checkpoint that was there already.
    """

    slowest_save_secs = 0.0

    def __init__(self, *args: Any, **kwargs: Any):
        super().__init__(*args, **kwargs)
        self.writer = BackgroundWriter()

    def run(self, fetches, feed_dict=None, options=None, run_metadata=None):
        """Computes fetches; see ``LiftedSession.run``."""
        may_save = bool(feed_dict) and not self.should_stop()
        prefix = saved_prefix(self.graph, fetches, feed_dict) if may_save else None
        if prefix is None:
            return super().run(fetches, feed_dict, options, run_metadata)
        self.writer.wait()  # one write at a time, and the saver must know of the previous one
        element = self.graph.as_graph_element(fetches)
        operation = element.op if isinstance(element, tf.Tensor) else element
        if self.has_saved(prefix, operation, functools.partial(variable_values, self)):
            return tf.compat.as_bytes(prefix)
        run = super().run

        def write(path: str) -> Any:
            return run(fetches, dict.fromkeys(feed_dict, path), options, run_metadata)

        return self.save(prefix, write)

    def has_saved(
        self,
        prefix: str,
        operation: tf.Operation,
        values_of: Callable[[Sequence[tf.Tensor]], Sequence[tf.Tensor] | None],
    ) -> bool:
        """Returns whether the values to be written are there; see ``has_present_values``."""
        if not tf.io.gfile.exists(prefix + ".index"):
            return False
        check_model_dir(prefix)
        if not has_present_values(prefix, operation, values_of):
            return False
        size = sum(tf.io.gfile.stat(file).length for file in data_files(prefix))
        self.slowest_save_secs = max(self.slowest_save_secs, size / _SLOW_DISK)
        return True

    def save(self, prefix: str, write: Callable[[str], Any]) -> Any:
        """Writes a checkpoint; see ``save_whole``."""
        start = time.monotonic()
        try:
            return save_whole(prefix, write)
        finally:
            self.slowest_save_secs = max(self.slowest_save_secs, time.monotonic() - start)

    def close(self) -> None:
        """Closes the session, after waiting for the checkpoint that is being written."""
        self.writer.wait()
        super().close()


def save_whole(prefix: str, write: Callable[[str], Any]) -> Any:
    """Writes a checkpoint; one of the same name is replaced only once the new one is complete.

    Args:
      prefix: the checkpoint's prefix.
      write: writes the checkpoint under a given prefix; returns the result for the saver.

    Raises:
      ModelDirLostError: the folder has been removed, renamed or replaced.
    """
    check_model_dir(prefix)  # TensorFlow would recreate the folder
    folder, name = os.path.split(prefix)
    if not has_open_staging(folder) and not tf.io.gfile.exists(prefix + ".index"):
        result = write(prefix)
    else:
        with staged(folder, name) as place:
            write(place)
            if not tf.io.gfile.exists(prefix + ".index") and lies_at(prefix + ".meta"):
                set_aside(prefix + ".meta", "has no index, and a checkpoint of its name was saved")
            publish(place, prefix)
        result = tf.compat.as_bytes(prefix)
    check_model_dir(prefix)  # before the saver names the checkpoint in `checkpoint`
    return result


def saved_prefix(graph: tf.Graph, fetches: Any, feed_dict: Any) -> str | None:
    """Returns the checkpoint that a saver's call of a session writes; None for other calls.

    Args:
      graph: the session's.
      fetches: the call's.
      feed_dict: the call's.
    """
    if not feed_dict or len(feed_dict) != 1 or not isinstance(fetches, (str, tf.Tensor)):
        return None
    (value,) = feed_dict.values()
    if not isinstance(value, (str, bytes)):
        return None
    try:
        element = graph.as_graph_element(fetches)
    except (KeyError, TypeError, ValueError):  # run() explains these
        return None
    operation = element.op if isinstance(element, tf.Tensor) else element
    if not any(above.type in (MERGE, SAVE) for above in operation.control_inputs):
        return None
    return tf.compat.as_str(value)


def remove_leftovers(folder: str) -> None:
    """Removes files left by processes that were killed while they wrote checkpoints.

    Files that only look like it stay, with a line that names them once.

    Args:
      folder: the model_dir of a training that is about to start, or that an error has ended; this
        process holds its lock.
    """
    leftovers = remove_abandoned_staging(folder, is_only_training=True)
    names = {name.rstrip("/") for name in tf.io.gfile.listdir(folder)}
    similar = [
        name for name in names if _LIKE_LEFTOVERS.fullmatch(name) or _is_without_index(name, names)
    ]
    log_once(
        folder,
        "%s has files that a killed process may have left: %s. It cannot be shown that this "
        "library wrote them, so they stay. Delete them if nobody needs them.",
        [*similar, *(os.path.relpath(path, folder) for path in leftovers)],
    )


def _is_without_index(name: str, names: Set[str]) -> bool:
    """Returns whether a file's checkpoint has neither an index nor a single file."""
    match = _OF_CHECKPOINT.fullmatch(name)
    return match is not None and names.isdisjoint({f"{match[1]}.index", match[1]})
