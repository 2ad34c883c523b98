"""A file in model_dir with the progress of train_and_evaluate, for a restart after a kill.

Checkpoints alone do not show whether the evaluation and the exports after them were done. So the
note exists from the start of training to the end of the last export. It names the step to
evaluate before the checkpoint of that step is written, and each export before it begins.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

import tensorflow as tf

from estimator_bridge.own_files import read_note, remove_note, write_note

__all__ = ["Progress"]

_NOTE = ".estimator_bridge.unfinished"
# Of the note's JSON: the step that is to be evaluated; the one that was, with all exports; and by
# the name of each exporter that was called, the exports that were there before, or null where it
# did not export anything.
_DUE, _DONE, _EXPORTS = "due", "done", "exports"


class Progress:
    """The note that an earlier process left, and that this process writes.

    Args:
      model_dir: the folder.

    Attributes:
      was_unfinished: whether an earlier process left it.
      evaluated_step: the last step whose evaluation and exports it finished.
    """

    def __init__(self, model_dir: str):
        self._folder = tf.compat.as_str_any(model_dir)
        self._path = os.path.join(self._folder, _NOTE)
        self.was_unfinished = tf.io.gfile.exists(self._path)
        self._previous: dict[str, Any] = read_note(self._path, _parse) or {}
        self._now: dict[str, Any] = {}
        self.evaluated_step: int | None = self._previous.get(_DONE)

    def begin(self) -> None:
        """Writes the note at the start of training."""
        if not self.was_unfinished:
            self._write()

    def is_left(self, step: int) -> bool:
        """Whether an earlier process began to evaluate a step and did not finish."""
        return self._previous.get(_DUE) == step

    def exports_left(self, step: int) -> dict[str, list[str] | None]:
        """Returns the exporters that an earlier process called for a step.

        Returns:
          For each, the names of the exports that existed before; None for one that chose not to
          export anything.
        """
        return dict(self._previous.get(_EXPORTS, {})) if self.is_left(step) else {}

    def evaluate(self, step: int) -> None:
        """Notes that a step will be evaluated; call it before its checkpoint is written."""
        if self._now.get(_DUE) != step:
            self._now = {_DUE: step, _EXPORTS: self.exports_left(step)}
            self._write()

    def skip(self) -> None:
        """Notes that the step will not be evaluated."""
        self._now = {} if self.evaluated_step is None else {_DONE: self.evaluated_step}
        self._write()

    def export(self, name: str, before: Iterable[str]) -> None:
        """Notes that an exporter is called.

        Args:
          name: the exporter's name.
          before: the names of the existing exports.
        """
        self._now[_EXPORTS][name] = list(before)
        self._write()

    def exported_nothing(self, name: str) -> None:
        """Notes that an exporter chose not to export anything; written with the next note."""
        self._now[_EXPORTS][name] = None

    def note_evaluation(self, step: int) -> None:
        """Notes that the evaluation and the exports of a step are done."""
        self._now, self._previous, self.evaluated_step = {_DONE: step}, {}, step
        self._write()

    def finish(self) -> None:
        """Removes the note: all evaluations and exports are done."""
        remove_note(self._path)

    def _write(self) -> None:
        if not tf.io.gfile.isdir(self._folder):
            return  # nothing was trained in this folder
        write_note(self._path, self._now)


def _parse(note: dict[str, Any]) -> dict[str, Any]:
    """Checks a note's types; raises what wrong ones cause."""
    for name in (_DUE, _DONE):
        if not isinstance(note.get(name, 0), int):
            raise TypeError(f"{name!r} must be a step, got {note[name]!r}")
    for exports in dict(note.get(_EXPORTS, {})).values():
        if not (exports is None or all(isinstance(name, str) for name in exports)):
            raise TypeError(f"{_EXPORTS!r} must be lists of names")
    return note
