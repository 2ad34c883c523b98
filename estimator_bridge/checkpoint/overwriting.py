"""Safe replacement of checkpoints with the same name, and cleanup after killed processes.

A saver of several shards writes its index in place. Training that resumes from a checkpoint first
saves it again under the same name: a process killed at that moment would leave no checkpoint to
resume from.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Set
from typing import Any

import tensorflow as tf

from estimator_bridge.checkpoint.background_writer import BackgroundWriter
from estimator_bridge.checkpoint.folder import checkpoints_in, was_cut_short
from estimator_bridge.checkpoint.integrity import data_files
from estimator_bridge.checkpoint.lock import check_model_dir
from estimator_bridge.graph import LiftedSession

__all__ = ["SAVING", "CheckpointingSession", "remove_leftovers"]

_BESIDE = ".new"
SAVING = ("MergeV2Checkpoints", "SaveV2")
_LEFTOVER = re.compile(
    rf".+-\d+(\{_BESIDE})?_temp|"  # the folder of a saver's shards, before they are merged
    rf".+-\d+\{_BESIDE}\.(index|data-\d+-of-\d+)|"
    r".+\.tempstate\d+|"  # a shard or an index that is being written
    r".+\.tmp[0-9a-f]{32}|"  # `checkpoint` and .meta that are being written
    rf"checkpoint_input(_\w+)?\{_BESIDE}|"
    r"\.estimator_bridge-[0-9a-f]{32}|"  # the probe of `check_writable`
    rf"\.estimator_bridge\.unfinished\{_BESIDE}|"
    rf"graph\.pbtxt\{_BESIDE}"
)
# Files of a checkpoint are useless without its index, which is written last.
_INDEX = re.compile(r"(.+\.ckpt-\d+)\.index")
_OF_CHECKPOINT = re.compile(r"(.+\.ckpt-\d+)\.(?:data-\d{5}-of-\d{5}|meta)")


class CheckpointingSession(LiftedSession):
    """A session that replaces a checkpoint only once the new one is complete.

    Attributes:
      writer: writes checkpoints in the background, one at a time.
      slowest_save_secs: the duration of this session's slowest save.
    """

    slowest_save_secs = 0.0

    def __init__(self, *args: Any, **kwargs: Any):
        super().__init__(*args, **kwargs)
        self.writer = BackgroundWriter()

    def run(self, fetches, feed_dict=None, options=None, run_metadata=None):
        """Computes fetches; see ``LiftedSession.run``."""
        prefix = self._saved_prefix(fetches, feed_dict)
        if prefix is None:
            return super().run(fetches, feed_dict, options, run_metadata)
        self.writer.wait()  # one write at a time, and the saver must know of the previous one
        run = super().run

        def write(path: str) -> Any:
            return run(fetches, dict.fromkeys(feed_dict, path), options, run_metadata)

        return self.save(prefix, write)

    def save(self, prefix: str, write: Callable[[str], Any]) -> Any:
        """Writes a checkpoint; one of the same name is replaced only once the new one is complete.

        Args:
          prefix: the checkpoint's prefix.
          write: writes the checkpoint under a given prefix; returns the result for the saver.

        Raises:
          ModelDirLostError: the folder has been removed, renamed or replaced.
        """
        check_model_dir(prefix)  # TensorFlow would make the folder anew
        started = time.monotonic()
        try:
            result = self._save(prefix, write)
            check_model_dir(prefix)  # before the saver names the checkpoint in `checkpoint`
            return result
        finally:
            self.slowest_save_secs = max(self.slowest_save_secs, time.monotonic() - started)

    def _save(self, prefix, write):
        if not tf.io.gfile.exists(prefix + ".index"):
            return write(prefix)
        beside = prefix + _BESIDE
        write(beside)
        _replace(beside, prefix)
        return tf.compat.as_bytes(prefix)

    def close(self) -> None:
        """Closes the session, after waiting for the checkpoint that is being written."""
        self.writer.wait()
        super().close()

    def _saved_prefix(self, fetches: Any, feed_dict: Any) -> str | None:
        """Returns the checkpoint that a saver's call writes; None for other calls."""
        if not feed_dict or len(feed_dict) != 1 or not isinstance(fetches, (str, tf.Tensor)):
            return None
        (value,) = feed_dict.values()
        if not isinstance(value, (str, bytes)) or self.should_stop():
            return None
        try:
            element = self.graph.as_graph_element(fetches)
        except (KeyError, TypeError, ValueError):  # run() explains these
            return None
        operation = element.op if isinstance(element, tf.Tensor) else element
        if not any(above.type in SAVING for above in operation.control_inputs):
            return None
        return tf.compat.as_str(value)


def _replace(new: str, old: str) -> None:
    """Renames one checkpoint's files to another's prefix."""
    stale = set(data_files(old))
    # The index last: the old index also fits new data of the same values.
    for file in [*data_files(new), new + ".index"]:
        target = old + file[len(new) :]
        tf.io.gfile.rename(file, target, overwrite=True)
        stale.discard(target)
    for file in stale:  # the old checkpoint had another number of shards
        tf.io.gfile.remove(file)


def remove_leftovers(folder: str) -> None:
    """Removes files left by processes that were killed while they wrote checkpoints.

    Args:
      folder: the model_dir of a training that is about to start; nothing else writes there.
    """
    names = {name.rstrip("/") for name in tf.io.gfile.listdir(folder)}
    named = {os.path.basename(path) for path in checkpoints_in(folder)}
    for name in names:
        match = _INDEX.fullmatch(name)
        path = os.path.join(folder, name)
        if match and match[1] not in named and was_cut_short(os.path.join(folder, match[1])):
            tf.io.gfile.remove(path)
            names = names - {name}
    for name in names:
        path = os.path.join(folder, name)
        if not (_LEFTOVER.fullmatch(name) or _is_without_index(name, names)):
            continue
        if tf.io.gfile.isdir(path):
            tf.io.gfile.rmtree(path)
        else:
            tf.io.gfile.remove(path)


def _is_without_index(name: str, names: Set[str]) -> bool:
    """Returns whether a file's checkpoint has neither an index nor a single file."""
    match = _OF_CHECKPOINT.fullmatch(name)
    return match is not None and names.isdisjoint({f"{match[1]}.index", match[1]})
