"""How an evaluator learns that training has ended before ``max_steps``.

The original's evaluator waited for the checkpoint of ``max_steps`` without end, also if a hook or
the input's end had stopped training before. So a chief whose training ends before ``max_steps``
leaves a note in model_dir, which an evaluator sees by definition. A note outlives its job, and the
next chief may begin after its evaluator. So an evaluator believes a note at once only if it was
written while the evaluator ran; an older one when no process that trains answers any more.
"""

from __future__ import annotations

import os
from typing import Any

import tensorflow as tf

from estimator_bridge.checkpoint import step_of
from estimator_bridge.errors import WorkerError
from estimator_bridge.model import RunConfig, TaskType
from estimator_bridge.model.tf_config import read_tf_config
from estimator_bridge.own_files import new_token, read_note, remove_note, write_note
from estimator_bridge.training.parameter_servers.trainers_watch import TrainersWatch

__all__ = ["JobEnd", "note_early_end", "remove_end_note"]

_NOTE = ".estimator_bridge.ended"
# Of the note's JSON: the step of the last checkpoint, and a text that no other note has.
_STEP, _TOKEN = "step", "token"


def note_early_end(model_dir: str, checkpoint: str | None, max_steps: int | None) -> None:
    """Notes that training has ended, unless its last checkpoint says so by itself.

    Args:
      model_dir: the folder.
      checkpoint: the last one; None if there is none.
      max_steps: the global step that an evaluator knows as the last; None if there is none.
    """
    step = step_of(checkpoint) if checkpoint else 0
    if checkpoint and (max_steps is None or step < max_steps):
        write_note(_path(model_dir), {_STEP: step, _TOKEN: new_token()})


def remove_end_note(model_dir: str) -> None:
    """Removes the note of an earlier training."""
    remove_note(_path(model_dir))


class JobEnd:
    """Tells an evaluator whether further checkpoints will come.

    Args:
      model_dir: the folder of the checkpoints.
      config: the evaluator's.
      max_steps: the global step whose checkpoint is the last; None if unknown.
      now: the time in seconds.
    """

    def __init__(self, model_dir: str, config: RunConfig, max_steps: int | None, now: float):
        self._path = _path(model_dir)
        self._earlier = self._note()
        addresses = _trainers()
        self._watch = TrainersWatch(
            f"{config.task_type} {config.task_id}",
            addresses,
            config.session_creation_timeout_secs,
            f"had no new checkpoint in {model_dir}",
            f"The one of max_steps ({max_steps}) has not come. If training is to go on, start the "
            "chief again, and then this process.",
            now,
        ) if addresses else None  # fmt: skip

    def announced_step(self) -> int | None:
        """Returns the step at which training has ended since this object was made, or None."""
        note = self._note()
        return note[_STEP] if note and note != self._earlier else None

    def note_checkpoint(self, now: float) -> None:
        """Notes that a new checkpoint has come.

        Args:
          now: the time in seconds.
        """
        if self._watch:
            self._watch.note_life(now)

    def is_over(self, step: int | None, now: float) -> bool:
        """Looks for the processes that train; returns whether their job had ended before.

        Args:
          step: the step of the last evaluation; None if there was none.
          now: the time in seconds.

        Raises:
          WorkerError: none has answered for too long, and no note says that the job has ended.
        """
        if not self._watch:
            return False
        try:
            self._watch.look(now)
        except WorkerError:
            note = self._note()
            if note and step is not None and step >= note[_STEP]:
                return True
            raise
        return False

    def _note(self) -> dict[str, Any] | None:
        return read_note(self._path, _parse)


def _path(model_dir: str) -> str:
    return os.path.join(tf.compat.as_str_any(model_dir), _NOTE)


def _parse(note: dict[str, Any]) -> dict[str, Any]:
    """Checks a note's types; raises what wrong ones cause."""
    if not isinstance(note[_STEP], int) or not isinstance(note[_TOKEN], str):
        raise TypeError(f"{_STEP!r} must be a number and {_TOKEN!r} a text")
    return note


def _trainers() -> list[str]:
    """Returns the addresses of the processes that train, which RunConfig hides from evaluators."""
    cluster = read_tf_config().get("cluster") or {}
    spec = tf.train.ClusterSpec(cluster)
    trainers = {TaskType.CHIEF, TaskType.MASTER, TaskType.WORKER} & set(spec.jobs)
    return [
        spec.task_address(job, index)
        for job in sorted(trainers)
        for index in spec.task_indices(job)
    ]
