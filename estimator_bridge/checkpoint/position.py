"""The position of an input: where its iterator stands, in files beside the model's checkpoints."""

from __future__ import annotations

import os
import re
from typing import Any

import tensorflow as tf
from tensorflow.compat.v1 import logging

from estimator_bridge.checkpoint.whole import check_whole, data_files
from estimator_bridge.errors import CheckpointError
from estimator_bridge.tensorflow_private import eager_mode

__all__ = ["InputPositionError", "Positions"]

_STATE = "iterator/.ATTRIBUTES/ITERATOR_STATE"


class InputPositionError(CheckpointError, tf.errors.FailedPreconditionError):
    """An input's position cannot be saved, or does not fit the input."""

    def __init__(self, message: str):
        tf.errors.FailedPreconditionError.__init__(self, None, None, message)


class Positions:
    """The saved positions of one input, one for each checkpoint of the model.

    The position of step N is ``input.ckpt-N``; ``checkpoint_input`` lists them all. It has to be
    written before the model's checkpoint of that step: then no model's is ever without it.

    Args:
      folder: where the model's checkpoints are.
      name: the beginning of the files' names; each process of a cluster has its own.
      model: the beginning of the names of the model's checkpoints, as "folder/model.ckpt".
    """

    def __init__(self, folder: str, name: str, model: str):
        self._folder, self._name, self._model = folder, name, model

    def path(self, step: int) -> str:
        """The common beginning of the names of a position's files."""
        return os.path.join(self._folder, f"{self._name}.ckpt-{step}")

    def save(self, iterator: Any, step: int) -> None:
        """Saves where an iterator stands, as the position of this step.

        Args:
          iterator: of an eager dataset.
          step: the global step.

        Raises:
          InputPositionError: its dataset has a state that cannot be saved.
        """
        try:
            with eager_mode():
                tf.train.Checkpoint(iterator=iterator).write(self.path(step))
        except (tf.errors.FailedPreconditionError, tf.errors.UnimplementedError) as error:
            raise InputPositionError(
                f"The position of the input cannot be saved: {_reason(error)}. "
                + _advice(isinstance(error, tf.errors.UnimplementedError))
            ) from error

    def restore(self, iterator: Any, step: int) -> bool:
        """Sets an iterator to the position of a step.

        Args:
          iterator: of a dataset made as the one was whose position was saved.
          step: the global step of the model's checkpoint that was restored.

        Returns:
          Whether there is a position of that very step.

        Raises:
          InputPositionError: it is of another dataset.
        """
        path = self.path(step)
        try:
            reader = check_whole(path)
        except CheckpointError as error:
            logging.warning("The input's position at step %d was not found: %s", step, error)
            return False
        if not reader.has_tensor(_STATE):
            logging.warning("%s was not written by this library, and cannot be used", path)
            return False
        try:
            with eager_mode():
                tf.train.Checkpoint(iterator=iterator).read(path).assert_consumed()
        except tf.errors.OpError as error:
            raise InputPositionError(
                f"The input's position {path} does not fit the dataset that input_fn returns now: "
                f"{_reason(error)}. Return the dataset that was used up to step {step}; or delete "
                f"{path}.*, and the input begins anew."
            ) from error
        return True

    def steps(self) -> list[int]:
        """The steps of which there is a position, in order."""
        pattern = re.compile(re.escape(self._name) + r"\.ckpt-(\d+)\.index")
        found = map(pattern.fullmatch, tf.io.gfile.listdir(self._folder))
        return sorted(int(match[1]) for match in found if match)

    def tidy(self, step: int) -> None:
        """Deletes the positions whose model's checkpoint is deleted, and lists the others.

        Args:
          step: the global step, whose position stays in any case.
        """
        kept = []
        for other in self.steps():
            if other == step or tf.io.gfile.exists(f"{self._model}-{other}.index"):
                kept.append(other)
            else:
                self._remove(other)
        self._list(kept)

    def clear(self) -> None:
        """Deletes all positions: those of an earlier training are none of a new one's."""
        for step in self.steps():
            self._remove(step)

    def _remove(self, step: int) -> None:
        path = self.path(step)
        for file in [path + ".index", *data_files(path)]:
            tf.io.gfile.remove(file)

    def _list(self, steps: list[int]) -> None:
        """Writes the file that lists the positions, as tf.train.Saver does."""
        names = [f"{self._name}.ckpt-{step}" for step in steps]
        lines = [f'model_checkpoint_path: "{names[-1]}"'] if names else []
        lines += [f'all_model_checkpoint_paths: "{name}"' for name in names]
        file = os.path.join(self._folder, f"checkpoint_{self._name}")
        with tf.io.gfile.GFile(file + ".new", "w") as written:
            written.write("".join(line + "\n" for line in lines))
        tf.io.gfile.rename(file + ".new", file, overwrite=True)


def _reason(error: tf.errors.OpError) -> str:
    """TensorFlow's reason, without the operation in which it was found."""
    message = re.sub(r"\{\{.*?\}\}|\[Op:.*", "", error.message)
    return message.strip().rstrip(".")


def _advice(is_unsupported: bool) -> str:
    if is_unsupported:
        return (
            "Read the data with datasets that keep their position (from_tensor_slices, "
            "TFRecordDataset, TextLineDataset), or train without CheckpointInputPipelineHook."
        )
    return (
        "What its functions draw from outside of the dataset (a generator, py_function, a random "
        "op without a seed of its own) is not part of it. If that may begin anew in a resumed run, "
        "say CheckpointInputPipelineHook(estimator, external_state_policy='warn')."
    )
