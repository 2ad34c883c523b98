"""Reports a stalled training, and what it waits for; ends the process only if asked to.

It costs steps nothing: after each chunk of steps `note_progress` notes the time, and a sleeping
thread checks it now and then. The reason for the wait is read from Python's stacks at that moment.
"""

from __future__ import annotations

import contextlib
import dataclasses
import faulthandler
import math
import os
import sys
import threading
import time
import traceback
from collections.abc import Iterator, Sequence
from typing import Any

import tensorflow as tf
from tensorflow.compat.v1 import logging

from estimator_bridge.training.supervision.exit_message import (
    describe_latest_checkpoint,
    exit_at_once,
)
from estimator_bridge.training.supervision.stall_diagnosis import diagnose_stall

__all__ = ["Beat", "Watchdog", "note_progress", "watched"]

_VARIABLE = "ESTIMATOR_BRIDGE_WATCHDOG"
_EXIT_CODE = 75  # EX_TEMPFAIL: the process should be restarted
_SessionRunHook: Any = tf.compat.v1.train.SessionRunHook
_WANTED = "seconds, then 'stacks' and 'end' as wanted, such as '300,stacks,end'; 0 turns it off"


class Watchdog(_SessionRunHook):
    """Reports what training, an evaluation or a prediction waits for when it stalls.

    Pass it to train(), evaluate() or predict() among the hooks. It takes precedence over the
    environment variable ESTIMATOR_BRIDGE_WATCHDOG ('300,stacks,end'). Without either, one line is
    logged after 600 seconds. Each further line comes after twice the time.

    Args:
      secs: the seconds without the end of a call of the compiled loop; 0 turns it off.
      stacks: whether to also write the stacks of all Python threads to stderr.
      end: whether to exit the process then, with exit code 75. The newest checkpoint remains.

    Raises:
      ValueError: secs is not a number >= 0.
    """

    def __init__(self, secs: float = 600.0, stacks: bool = False, end: bool = False):
        self.settings = _Settings(_seconds(secs, "Watchdog(secs)"), stacks, end)


@dataclasses.dataclass(frozen=True)
class _Settings:
    secs: float = 600.0
    stacks: bool = False
    end: bool = False


_LAST_WORDS_SECS = 5.0  # for a watcher that writes a line while its training ends


class Beat:
    """The time of the last progress of a call of train(), evaluate() or predict()."""

    def __init__(self) -> None:
        self.at = time.monotonic()
        self.chunks = 0
        self.thread = threading.get_ident()
        self.is_paused = False

    @contextlib.contextmanager
    def paused(self) -> Iterator[None]:
        """A context for the caller's own code: predict() returns control between its batches."""
        is_watched = _beats.get(self.thread) is self
        if is_watched:
            del _beats[self.thread]
        self.is_paused = True
        try:
            yield
        finally:
            self.thread = threading.get_ident()  # another thread may continue
            if is_watched:
                _beats[self.thread] = self
            self.at, self.is_paused = time.monotonic(), False
            self.chunks += 1


_beats: dict[int, Beat] = {}  # by thread


def note_progress() -> None:
    """Notes that this thread has finished a chunk of steps."""
    beat = _beats.get(threading.get_ident())
    if beat is not None:
        beat.at = time.monotonic()
        beat.chunks += 1


@contextlib.contextmanager
def watched(what: str, hooks: Sequence[Any], model_dir: str) -> Iterator[Beat]:
    """Watches a call of train(), evaluate() or predict(); a nested call counts as part of it.

    Args:
      what: 'Training', 'Evaluation' or 'Prediction'.
      hooks: the hooks of the call, perhaps with a Watchdog.
      model_dir: the folder of the checkpoint that a message names.
    """
    settings = _settings(hooks)
    thread = threading.get_ident()
    if thread in _beats or not settings.secs:
        yield Beat()
        return
    beat, end = Beat(), threading.Event()
    _beats[thread] = beat
    watcher = threading.Thread(
        target=_watch,
        args=(what, settings, model_dir, beat, end),
        name="estimator_bridge watchdog",
        daemon=True,
    )
    watcher.start()
    try:
        yield beat
    finally:
        end.set()
        _beats.pop(beat.thread, None)
        watcher.join(_LAST_WORDS_SECS)


def _watch(
    what: str,
    settings: _Settings,
    model_dir: str,
    beat: Beat,
    end: threading.Event,
) -> None:
    last_beat, patience = beat.at, settings.secs

    def until_then() -> float:
        """Returns at most `secs`: after a step, the first report comes after that time again."""
        return min(settings.secs, max(0.01, beat.at + patience - time.monotonic()))

    while not end.wait(until_then()):
        if beat.is_paused:
            beat.at = time.monotonic()
        if beat.at != last_beat:
            last_beat, patience = beat.at, settings.secs
        elif time.monotonic() >= last_beat + patience:
            _tell(what, settings, beat)
            patience *= 2
            if settings.end:
                message = f"estimator_bridge: {what} ends, by the watchdog."
                exit_at_once(f"{message} {describe_latest_checkpoint(model_dir)}", _EXIT_CODE)


def _tell(what: str, settings: _Settings, beat: Beat) -> None:
    since = "since it began" if not beat.chunks else f"after {beat.chunks} calls of the loop"
    logging.warning(
        "%s: no progress for %.0f s, %s. It waits for %s. %s",
        what,
        time.monotonic() - beat.at,
        since,
        diagnose_stall(beat.thread, is_first=not beat.chunks),
        "All threads' stacks follow."
        if settings.stacks
        else f"{_VARIABLE}={settings.secs:g},stacks shows all threads' stacks.",
    )
    if settings.stacks:
        with contextlib.suppress(Exception):  # a notebook's stderr is not a file
            stream = sys.__stderr__ or sys.stderr
            # First, because faulthandler shows at most a hundred threads, the main thread last.
            traceback.print_stack(sys._current_frames()[beat.thread], file=stream)
            stream.flush()
            faulthandler.dump_traceback(stream, all_threads=True)


def _settings(hooks: Sequence[Any]) -> _Settings:
    settings = next((hook.settings for hook in hooks if isinstance(hook, Watchdog)), None)
    text = os.environ.get(_VARIABLE)
    if settings or not text:
        return settings or _Settings()
    secs, *words = [part.strip() for part in text.split(",")]
    if set(words) - {"stacks", "end"}:
        raise ValueError(f"The environment variable {_VARIABLE} must be {_WANTED}; got {text!r}.")
    name = f"The environment variable {_VARIABLE}"
    return _Settings(_seconds(secs, name), "stacks" in words, "end" in words)


def _seconds(value: Any, name: str) -> float:
    try:
        secs = float(value)
    except (TypeError, ValueError):
        secs = math.nan
    if not (secs >= 0 and math.isfinite(secs)):
        raise ValueError(f"{name} must be a number of seconds >= 0 ({_WANTED}); got {value!r}.")
    return secs
