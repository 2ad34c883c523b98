"""Saves the last state of a training that has lost its model_dir, if the program asks for it."""

from __future__ import annotations

import os
import uuid
from collections.abc import Sequence
from typing import Any

import tensorflow as tf
from tensorflow.compat.v1 import logging

from estimator_bridge.checkpoint import check_model_dir
from estimator_bridge.errors import ModelDirLostError
from estimator_bridge.tensorflow_private.hooks import forget_event_writers, saver_of
from estimator_bridge.training.input_position import CheckpointInputPipelineHook
from estimator_bridge.training.program import Program

__all__ = ["LostFolder", "RescueCheckpoint"]

_VARIABLE = "ESTIMATOR_BRIDGE_RESCUE_CHECKPOINT"
_WORDS = {"": False, "0": False, "false": False, "1": True, "true": True}
_SessionRunHook: Any = tf.compat.v1.train.SessionRunHook


class RescueCheckpoint(_SessionRunHook):
    """Saves a last checkpoint beside model_dir if that is removed, renamed or replaced.

    Pass it to train() among the hooks, or set ESTIMATOR_BRIDGE_RESCUE_CHECKPOINT=1. Training ends
    with `ModelDirLostError` in any case; with a rescue, its text names the new folder. That is made
    beside model_dir, as "NAME.rescued-STEP-" and eight random digits, and holds one checkpoint,
    with the input's position if training saves it. Use it as model_dir to continue.

    Args:
      on: False saves nothing, regardless of the environment variable.
    """

    def __init__(self, on: bool = True):
        self.on = on


class LostFolder:
    """Ends a training that has lost its model_dir.

    Args:
      program: traced for training.
      model_dir: the folder, as the program names it.
      hooks: all hooks of the run.

    Raises:
      ValueError: the environment variable has a value other than 0 or 1.
    """

    def __init__(self, program: Program, model_dir: str, hooks: Sequence[Any]):
        self._program, self._model_dir, self._hooks = program, model_dir, hooks
        self._saves = _wants_rescue(hooks)
        # The program may have changed its working directory by then.
        self._path = model_dir if "://" in model_dir else os.path.abspath(model_dir)

    def explain(self, error: Exception) -> None:
        """Explains an error of training by the loss of its folder, if that is the reason.

        Args:
          error: of any type: TensorFlow reports a missing folder in many ways.

        Raises:
          ModelDirLostError: the folder has been lost.
        """
        try:
            check_model_dir(self._model_dir)
        except ModelDirLostError as loss:
            forget_event_writers(self._model_dir)
            cause = None if isinstance(error, ModelDirLostError) else error
            raise ModelDirLostError(f"{loss} {self._rescue()}") from cause

    def _rescue(self) -> str:
        """Saves the last state if the program wants it; returns a sentence about it."""
        step = self._program.global_step
        if not self._saves:
            return (
                f"The steps since the last checkpoint, up to step {step}, are lost; "
                f"{_VARIABLE}=1 saves them beside model_dir."
            )
        folder = f"{self._path.rstrip('/')}.rescued-{step}-{uuid.uuid4().hex[:8]}"
        try:
            tf.io.gfile.mkdir(folder)  # not the folders above it, which may be lost too
            self._save(folder, step)
        except Exception as error:  # the loss is what the user has to know
            logging.exception("The last state could not be saved to %s.", folder)
            return f"Its last state, of step {step}, could not be saved to {folder}: {error}"
        return f"Its last state, of step {step}, was saved to {folder}."

    def _save(self, folder: str, step: int) -> None:
        for hook in self._hooks:
            if isinstance(hook, CheckpointInputPipelineHook):
                hook.save_beside(os.path.join(folder, "model.ckpt"), step)
        saver = self._saver()
        # It must not delete older checkpoints: their names may be another training's by now.
        saver.set_last_checkpoints_with_time([])
        saver.save(self._program.session, os.path.join(folder, "model.ckpt"), global_step=step)

    def _saver(self) -> Any:
        for hook in self._hooks:
            if isinstance(hook, tf.compat.v1.train.CheckpointSaverHook):
                return saver_of(hook)
        return self._program.scaffold.saver


def _wants_rescue(hooks: Sequence[Any]) -> bool:
    choice = next((hook.on for hook in hooks if isinstance(hook, RescueCheckpoint)), None)
    if choice is not None:
        return choice
    value = os.environ.get(_VARIABLE, "").strip().lower()
    if value not in _WORDS:
        raise ValueError(f"The environment variable {_VARIABLE} must be 0 or 1; got {value!r}.")
    return _WORDS[value]
