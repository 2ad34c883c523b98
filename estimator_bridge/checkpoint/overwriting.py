"""Checkpoints that take the place of others of their name, and what a killed process leaves.

A saver of several shards writes its index in place. Training that goes on from a checkpoint saves
it again, under its name, before the first step: a process that is killed at that moment would
leave nothing to go on from.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Set
from typing import Any

import tensorflow as tf

from estimator_bridge.checkpoint.background import BackgroundWriter
from estimator_bridge.checkpoint.folder import checkpoints_in, was_cut_short
from estimator_bridge.checkpoint.whole import data_files
from estimator_bridge.graph import LiftedSession

__all__ = ["SAVING", "CheckpointingSession", "remove_leftovers"]

_BESIDE = ".new"
SAVING = ("MergeV2Checkpoints", "SaveV2")
_LEFTOVER = re.compile(
    rf".+-\d+(\{_BESIDE})?_temp|"  # the folder of a saver's shards, before they are merged
    rf".+-\d+\{_BESIDE}\.(index|data-\d+-of-\d+)|"
    r".+\.tempstate\d+|"  # a shard, or an index, in the middle of being written
    r".+\.tmp[0-9a-f]{32}|"  # `checkpoint` and .meta, likewise
    rf"checkpoint_input(_\w+)?\{_BESIDE}|"
    r"\.estimator_bridge-[0-9a-f]{32}|"  # the probe of `check_writable`
    rf"\.estimator_bridge\.unfinished\{_BESIDE}|"
    rf"graph\.pbtxt\{_BESIDE}"
)
# Files of a checkpoint that are of no use without its index, which is written last.
_INDEX = re.compile(r"(.+\.ckpt-\d+)\.index")
_OF_CHECKPOINT = re.compile(r"(.+\.ckpt-\d+)\.(?:data-\d{5}-of-\d{5}|meta)")


class CheckpointingSession(LiftedSession):
    """A session in which a saver replaces a checkpoint only when the new one is whole.

    Attributes:
      writer: writes one of its checkpoints at a time beside the steps.
      slowest_save_secs: how long the slowest checkpoint of this session has taken.
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
        self.writer.wait()  # one writes at a time, and a saver knows of what was written before
        run = super().run

        def write(path: str) -> Any:
            return run(fetches, dict.fromkeys(feed_dict, path), options, run_metadata)

        return self.save(prefix, write)

    def save(self, prefix: str, write: Callable[[str], Any]) -> Any:
        """Has a checkpoint written, which replaces one of its name when it is whole.

        Args:
          prefix: the common beginning of its files' names.
          write: writes it under such a name; returns what the saver is told.
        """
        started = time.monotonic()
        try:
            return self._save(prefix, write)
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
        """Closes the session, after the checkpoint that is being written."""
        self.writer.wait()
        super().close()

    def _saved_prefix(self, fetches: Any, feed_dict: Any) -> str | None:
        """The checkpoint that a call writes, where it is a saver's; else None."""
        if not feed_dict or len(feed_dict) != 1 or not isinstance(fetches, (str, tf.Tensor)):
            return None
        (value,) = feed_dict.values()
        if not isinstance(value, (str, bytes)) or self.should_stop():
            return None
        try:
            element = self.graph.as_graph_element(fetches)
        except (KeyError, TypeError, ValueError):  # which run() explains
            return None
        operation = element.op if isinstance(element, tf.Tensor) else element
        if not any(above.type in SAVING for above in operation.control_inputs):
            return None
        return tf.compat.as_str(value)


def _replace(new: str, old: str) -> None:
    """Gives one checkpoint's files the names of another's."""
    stale = set(data_files(old))
    # The index last: with the old one, data that are the same are whole too.
    for file in [*data_files(new), new + ".index"]:
        target = old + file[len(new) :]
        tf.io.gfile.rename(file, target, overwrite=True)
        stale.discard(target)
    for file in stale:  # the old one had another number of shards
        tf.io.gfile.remove(file)


def remove_leftovers(folder: str) -> None:
    """Removes what processes left that were killed while they wrote checkpoints.

    Args:
      folder: the model_dir of a training that is about to begin; nothing else writes there.
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
    """Whether a file belongs to a checkpoint of which neither the index nor a single file is."""
    match = _OF_CHECKPOINT.fullmatch(name)
    return match is not None and names.isdisjoint({f"{match[1]}.index", match[1]})
