"""Saved positions of an input iterator, in files next to the model's checkpoints."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import tensorflow as tf
from tensorflow.compat.v1 import logging

from estimator_bridge.base.any_files import check_is_no_pipe
from estimator_bridge.checkpoint.error_types import DamagedCheckpointError, MissingCheckpointError
from estimator_bridge.checkpoint.index_table import TableError, table_entries
from estimator_bridge.checkpoint.integrity import check_intact, data_files, explained_read_errors
from estimator_bridge.checkpoint.lock import check_model_dir
from estimator_bridge.checkpoint.publishing import publish
from estimator_bridge.errors import CheckpointError
from estimator_bridge.graph import DividedIterators
from estimator_bridge.own_files import is_link, remove_file, replace_text, set_aside, staged
from estimator_bridge.tensorflow_private.datasets import iterator_state
from estimator_bridge.tensorflow_private.names import eager_mode

__all__ = ["InputPositionError", "Positions"]

_IN_LIST = b"model_checkpoint_path: "
_STATE = "/.ATTRIBUTES/ITERATOR_STATE"
_DRAWS, _NAMES = "draws/.ATTRIBUTES/", "NAMES"

Draws = Mapping[str, np.ndarray]  # the counters of a step's draws: see graph/draw_counters.py


class InputPositionError(CheckpointError, tf.errors.FailedPreconditionError):
    """An input's position cannot be saved, or does not match the input."""

    def __init__(self, message: str):
        tf.errors.FailedPreconditionError.__init__(self, None, None, message)


class Positions:
    """The saved positions of one input, one for each checkpoint of the model.

    The position of step N is ``input.ckpt-N``; ``checkpoint_input`` lists them all. A position must
    be written before the model's checkpoint of that step, so that no checkpoint lacks one.

    Args:
      folder: the folder of the model's checkpoints.
      name: the start of the file names; each process of a cluster has its own.
      model: the start of the model's checkpoint names, such as "folder/model.ckpt".
    """

    def __init__(self, folder: str, name: str, model: str):
        self._folder, self._name, self._model = folder, name, model
        self._saved_steps: set[int] = set()  # steps

    @property
    def _list_file(self) -> str:
        return os.path.join(self._folder, f"checkpoint_{self._name}")

    def path(self, step: int) -> str:
        """Returns the prefix of a position's files."""
        return os.path.join(self._folder, f"{self._name}.ckpt-{step}")

    def save(self, iterator: Any, step: int, draws: Draws) -> None:
        """Saves an iterator's state as the position of this step.

        Args:
          iterator: an iterator of an eager dataset.
          step: the global step.
          draws: the counters of the step's draws.

        Raises:
          InputPositionError: the dataset has a state that cannot be saved.
        """
        self.take(iterator, step, draws)()

    def take(self, iterator: Any, step: int, draws: Draws) -> Callable[[], None]:
        """Captures an iterator's state; returns a function that writes it, callable in any thread.

        Args:
          iterator: see `save`.
          step: see `save`.
          draws: see `save`.

        Raises:
          InputPositionError: see `save`.
        """
        path = self.path(step)
        try:
            with eager_mode():
                state = _saveable_state(iterator)
        except (tf.errors.FailedPreconditionError, tf.errors.UnimplementedError) as error:
            raise InputPositionError(
                f"The position of the input cannot be saved: {_reason(error)}. "
                + _advice(isinstance(error, tf.errors.UnimplementedError))
            ) from error

        def write() -> None:
            check_model_dir(path)  # TensorFlow would recreate the folder
            if tf.io.gfile.exists(path + ".index") and not self._can_show(step):
                for file in [path + ".index", *data_files(path)]:
                    set_aside(file, "is no position of an input, and one of its name was saved")
            with eager_mode(), staged(self._folder, os.path.basename(path)) as place:
                _together(state, draws).write(place)
                publish(place, path)
            self._saved_steps.add(step)

        return write

    def restore(self, iterator: Any, step: int) -> Draws | None:
        """Sets an iterator to the position of a step.

        Args:
          iterator: of a dataset built like the one whose position was saved.
          step: the global step of the model's checkpoint that was restored.

        Returns:
          The counters of the step's draws; None if no position of exactly that step exists.

        Raises:
          InputPositionError: the position belongs to another dataset.
        """
        path = self.path(step)
        problem = None
        try:
            if not self._is_ours(step):
                problem = f"{path} was not written by this library"
        except (MissingCheckpointError, DamagedCheckpointError) as error:
            problem = error.problem
        if problem:
            logging.warning(
                "The input's position at step %d was not found: %s. The input starts over.",
                step,
                problem,
            )
            return None
        try:
            draws = _saved_draws(path)
            with eager_mode():
                _together(iterator, draws).read(path).assert_consumed()
        except (tf.errors.OpError, AssertionError) as error:  # the input has other parts
            raise InputPositionError(
                f"The input's position {path} does not fit the dataset that input_fn returns now: "
                f"{_reason(error)}. Return the dataset that was used up to step {step}; or delete "
                f"{path}.* and {self._list_file}, and the input starts over."
            ) from error
        return draws

    def damage(self, step: int) -> str | None:
        """Returns why the saved position of a step cannot be used.

        Args:
          step: the global step.

        Returns:
          The reason; None if the position is complete or never existed.
        """
        try:
            self._is_ours(step)
        except DamagedCheckpointError as error:
            return error.problem
        except MissingCheckpointError as error:
            path = self.path(step)
            is_there = data_files(path) or tf.io.gfile.exists(path + ".index")
            return error.problem if is_there or step in self._read_list() else None
        return None

    def lacks(self, step: int) -> bool:
        """Returns whether other steps have positions but this one has none.

        Args:
          step: the global step.
        """
        steps = self.steps()
        return bool(steps) and step not in steps

    def _is_ours(self, step: int) -> bool:
        """Returns whether this library wrote a step's position; reads all of it, as it is small.

        Raises:
          MissingCheckpointError: the position or a part of it is missing.
          DamagedCheckpointError: its contents are wrong.
        """
        path = self.path(step)
        reader = check_intact(path)
        kinds = reader.get_variable_to_dtype_map()
        if not any(n.startswith("iterator/") and n.endswith(_STATE) for n in kinds):
            return False
        names = sorted(kinds)  # including the object graph, which a restore needs
        with eager_mode(), explained_read_errors(path):  # the reader itself cannot read variants
            tf.raw_ops.RestoreV2(
                prefix=path,
                tensor_names=names,
                shape_and_slices=[""] * len(names),
                dtypes=[kinds[name] for name in names],
            )
        return True

    def _can_show(self, step: int) -> bool:
        """Returns whether this library wrote what has the name of a step's position."""
        if step in self._saved_steps:
            return True
        try:
            return self._is_ours(step)
        except MissingCheckpointError:
            return self._is_rest_of_removal(step)
        except CheckpointError:
            return False

    def _is_rest_of_removal(self, step: int) -> bool:
        """Returns whether an index is left alone, with an iterator's state among its names."""
        path = self.path(step)
        try:
            check_is_no_pipe(path + ".index")
            with tf.io.gfile.GFile(path + ".index", "rb") as file:
                names = [name for name, _ in table_entries(file.read())]
        except (OSError, tf.errors.OpError, TableError):
            return False
        is_state = any(n.startswith(b"iterator/") and n.endswith(_STATE.encode()) for n in names)
        return is_state and not data_files(path)

    def _read_list(self) -> list[int]:
        """Returns the steps of the positions that the list file names."""
        try:
            check_is_no_pipe(self._list_file)
            with tf.io.gfile.GFile(self._list_file, "rb") as file:
                content = file.read().decode("utf-8", "replace")
        except (OSError, tf.errors.OpError):
            return []
        steps = re.findall(rf'paths: "{re.escape(self._name)}\.ckpt-(\d+)"', content)
        return list(map(int, steps))

    def _is_list(self) -> bool:
        """Returns whether the list file is a list, or is missing or empty; a link is none."""
        if is_link(self._list_file):
            return False
        try:
            check_is_no_pipe(self._list_file)
            with tf.io.gfile.GFile(self._list_file, "rb") as file:
                content = file.read()
        except tf.errors.NotFoundError:
            return True
        except (OSError, tf.errors.OpError):
            return False
        return not content or _IN_LIST in content

    def steps(self) -> list[int]:
        """Returns the steps that have a position, in order."""
        pattern = re.compile(re.escape(self._name) + r"\.ckpt-(\d+)\.index")
        matches = map(pattern.fullmatch, tf.io.gfile.listdir(self._folder))
        return sorted(int(match[1]) for match in matches if match)

    def tidy(self, step: int) -> None:
        """Deletes listed positions whose model checkpoint is gone, and lists the others.

        A position that is not listed may be another program's, and stays.

        Args:
          step: the current global step, whose position is always kept.
        """
        steps = {step, *self._read_list()}
        is_needed = {
            other: other == step or tf.io.gfile.exists(f"{self._model}-{other}.index")
            for other in self.steps()
            if other in steps
        }
        for other, stays in is_needed.items():
            if not stays:
                self._remove(other)
        self._list([other for other, stays in is_needed.items() if stays])

    def clear(self) -> None:
        """Deletes listed positions, so that a new training does not use an earlier one's."""
        for step in sorted(set(self._read_list()).intersection(self.steps())):
            self._remove(step)

    def _remove(self, step: int) -> None:
        """Removes a position, unless another program wrote the file of that name."""
        path = self.path(step)
        # The index last: after a kill in between, it alone shows that the rest is the library's.
        for file in [*data_files(path), path + ".index"] if self._can_show(step) else []:
            remove_file(file)

    def _list(self, steps: list[int]) -> None:
        """Writes the list file of the positions, as tf.train.Saver does."""
        names = [f"{self._name}.ckpt-{step}" for step in steps]
        lines = [f'model_checkpoint_path: "{names[-1]}"'] if names else []
        lines += [f'all_model_checkpoint_paths: "{name}"' for name in names]
        check_model_dir(self._list_file)
        if not self._is_list():
            set_aside(self._list_file, "has the name of a list of positions, but is none")
        replace_text(self._list_file, "".join(line + "\n" for line in lines))


class _TakenIterator(tf.__internal__.tracking.AutoTrackable):
    """A checkpointable object with an iterator's state at one moment."""

    def __init__(self, iterator: Any):
        super().__init__()
        state = iterator_state(iterator)
        self._state = lambda: state  # a tensor attribute would be tracked

    def _serialize_to_tensors(self) -> dict[str, tf.Tensor]:
        return {"ITERATOR_STATE": self._state()}


class _SavedDraws(tf.__internal__.tracking.AutoTrackable):
    """A checkpointable object with the counters of a step's draws: the names, and each counter."""

    def __init__(self, draws: Draws):
        super().__init__()
        tensors = {_NAMES: np.array(list(draws), np.object_)}
        tensors.update((f"COUNTS_{i}", values) for i, values in enumerate(draws.values()))
        self._tensors = lambda: tensors  # an attribute would be tracked

    def _serialize_to_tensors(self) -> dict[str, tf.Tensor]:
        return {name: tf.constant(value) for name, value in self._tensors().items()}

    def _restore_from_tensors(self, tensors: Mapping[str, tf.Tensor]) -> None:
        del tensors  # `_saved_draws` has read them


def _saved_draws(path: str) -> Draws:
    """Returns the counters that a position has.

    Raises:
      OpError: a part of them is missing, or is no table of numbers.
    """
    reader = check_intact(path)
    if not reader.has_tensor(_DRAWS + _NAMES):
        return {}
    names = np.ravel(reader.get_tensor(_DRAWS + _NAMES))
    counts = [reader.get_tensor(f"{_DRAWS}COUNTS_{i}") for i in range(len(names))]
    if any(values.dtype != np.int64 or values.ndim != 2 for values in counts):
        raise tf.errors.DataLossError(None, None, "its counters of draws are no tables of int64")
    return {name.decode("utf-8", "replace"): values for name, values in zip(names, counts)}


def _together(state: Any, draws: Draws) -> tf.train.Checkpoint:
    further = {"draws": _SavedDraws(draws)} if draws else {}
    return tf.train.Checkpoint(iterator=state, **further)


def _saveable_state(iterator: Any) -> Any:
    if isinstance(iterator, DividedIterators):
        return iterator.with_iterators(map(_TakenIterator, iterator.iterators))
    return _TakenIterator(iterator)


def _reason(error: tf.errors.OpError | AssertionError) -> str:
    """Returns TensorFlow's reason, without the operation that raised it."""
    message = re.sub(r"\{\{.*?\}\}|\[Op:.*", "", getattr(error, "message", str(error)))
    return message.strip().rstrip(".")


def _advice(is_unsupported: bool) -> str:
    if is_unsupported:
        return (
            "Read the data with datasets that can save their position (from_tensor_slices, "
            "TFRecordDataset, TextLineDataset), or train without CheckpointInputPipelineHook."
        )
    return (
        "State outside of the dataset (a generator, py_function, a random op without its own "
        "seed) is not part of it. If that state may start over in a resumed run, use "
        "CheckpointInputPipelineHook(estimator, external_state_policy='warn')."
    )
