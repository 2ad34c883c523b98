"""Profiles of a run, for RunMetadata and for TensorBoard's profiler.

TF1's sessions measured each operation if RunOptions requested it. TF2 has a profiler of the whole
process; its operation events are converted to RunMetadata.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import tempfile
from collections.abc import Iterator
from typing import Any

import tensorflow as tf
from tensorflow.compat.v1 import logging

from estimator_bridge.tensorflow_private.saving import read_profile

__all__ = ["asks_for_trace", "profile_run"]

_v1 = tf.compat.v1
_HOST = "/job:localhost/replica:0/task:0"
_RUNS = os.path.join("plugins", "profile")
_OPERATION = "tf_op"


def asks_for_trace(options: Any) -> bool:
    """Returns whether RunOptions request a trace."""
    return options is not None and options.trace_level != _v1.RunOptions.NO_TRACE


@contextlib.contextmanager
def profile_run(metadata: Any, directory: str | None = None) -> Iterator[None]:
    """Traces the code that runs inside.

    Args:
      metadata: a RunMetadata, whose step_stats are filled at the end.
      directory: a directory in which TensorBoard's profiler finds the trace too, or None.
    """
    with tempfile.TemporaryDirectory() as folder:
        try:
            tf.profiler.experimental.start(folder)
        except tf.errors.AlreadyExistsError:
            logging.warning("A run is not traced, because another trace is in progress.")
            yield
            return
        try:
            yield
        finally:
            tf.profiler.experimental.stop()
            for path in tf.io.gfile.glob(os.path.join(folder, _RUNS, "*", "*.xplane.pb")):
                _add_step_stats(metadata.step_stats, read_profile(path))
                if directory:
                    _keep(path, directory)


def _keep(path: str, directory: str) -> None:
    """Copies a profile to TensorBoard's directory; the profiler names runs by the second only."""
    run = os.path.basename(os.path.dirname(path))
    places = (
        os.path.join(directory, _RUNS, run + end)
        for end in itertools.chain([""], map("_{}".format, itertools.count(2)))
    )
    place = next(place for place in places if not tf.io.gfile.exists(place))
    tf.io.gfile.makedirs(place)
    tf.io.gfile.copy(path, os.path.join(place, os.path.basename(path)))


def _add_step_stats(stats: Any, profile: Any) -> None:
    for plane in profile.planes:
        device = stats.dev_stats.add(device=_device(plane.name))
        for number, line in enumerate(plane.lines):
            for event in line.events:
                name, kind = _operation(plane, event)
                if not kind.isidentifier():
                    continue
                micros = max(event.duration_ps // 1_000_000, 1)
                device.node_stats.add(
                    node_name=name,
                    all_start_micros=line.timestamp_ns // 1000 + event.offset_ps // 1_000_000,
                    op_end_rel_micros=micros,
                    all_end_rel_micros=micros,
                    timeline_label=f"{name} = {kind}()",
                    thread_id=number,
                )


def _operation(plane: Any, event: Any) -> tuple[str, str]:
    """Returns the name and type of the operation that an event belongs to; "" if there is none.

    On the host an operation's event is named 'name:Type'. The operations of a GPU have none there;
    their kernels tell them in a statistic.
    """
    texts = [plane.event_metadata[event.metadata_id].name]
    for stat in event.stats:
        if plane.stat_metadata[stat.metadata_id].name == _OPERATION:
            texts.append(stat.str_value or plane.stat_metadata[stat.ref_value].name)
    name, _, kind = next((text for text in reversed(texts) if ":" in text), "").partition(":")
    return name, kind


def _device(plane: str) -> str:
    # A plane's name is '/host:CPU' or '/device:GPU:0'.
    return _HOST + ("/device:CPU:0" if plane.startswith("/host:") else plane)
