"""Writes a checkpoint's weights into a file of another format, and reads it back to compare."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Mapping, Sequence
from typing import Any, Callable

import numpy as np
import tensorflow as tf

from estimator_bridge.checkpoint import explained_full_disk_of, load_variable
from estimator_bridge.errors import DataError
from estimator_bridge.own_files.local_files import whole_file
from estimator_bridge.weights import keras_file, npz_file, safetensors_file
from estimator_bridge.weights.contents import Kind, Variable, find_checkpoint, list_weights
from estimator_bridge.weights.renaming import Renaming, renamed

__all__ = ["FORMATS", "Converted", "convert"]

_CONVERTED = (Kind.WEIGHT, Kind.AVERAGE)


@dataclasses.dataclass(frozen=True)
class _Format:
    """A file format: the ending of its files' names, and its functions."""

    ending: str
    write: Callable[[str, Mapping[str, np.ndarray]], None]
    read: Callable[[str], dict[str, np.ndarray]]
    has_bfloat16: bool = False
    check_names: Callable[[list[str]], None] = lambda _: None


FORMATS: Mapping[str, _Format] = {
    "keras": _Format(".h5", keras_file.write, keras_file.read, check_names=keras_file.check_names),
    "npz": _Format(".npz", npz_file.write, npz_file.read, check_names=npz_file.check_names),
    "safetensors": _Format(".safetensors", safetensors_file.write, safetensors_file.read, True),
}


@dataclasses.dataclass(frozen=True)
class Converted:
    """The result of a conversion.

    Attributes:
      path: the file.
      checkpoint: the checkpoint that was read.
      values: the arrays, by their names in the file.
      left_out: the checkpoint's variables that are not in the file.
      widened: the names of arrays whose bfloat16 became float32, which loses nothing.
    """

    path: str
    checkpoint: str
    values: Mapping[str, np.ndarray]
    left_out: tuple[Variable, ...]
    widened: tuple[str, ...]


def convert(
    model_dir: str,
    to: str,
    output: str | None = None,
    table: Sequence[Renaming] = (),
    everything: bool = False,
) -> Converted:
    """Writes a checkpoint's weights into a file, and reads it back to compare each number.

    Args:
      model_dir: a model_dir, a SavedModel's folder, or a checkpoint's prefix.
      to: "safetensors", "npz" or "keras".
      output: the file; by default the checkpoint's name with the format's ending, in the current
        folder.
      table: new names and orders of dimensions; see `read_table`.
      everything: whether to write an optimizer's variables and the step too.

    Returns:
      The variables that were written, and those that were left out.

    Raises:
      CheckpointError: there is no checkpoint, or it is damaged.
      DataError: the table does not fit the checkpoint, the format cannot hold a variable, or the
        output exists.
      DiskFullError: the disk is full; no part of the file is left.
      ImportError: the format's package is not installed.
      ValueError: the format is unknown.
    """
    if to not in FORMATS:
        raise ValueError(f"there is no format {to!r}. Choose one of {', '.join(FORMATS)}.")
    form = FORMATS[to]
    checkpoint = find_checkpoint(model_dir)
    path = _checked_output(output or os.path.basename(checkpoint) + form.ending, to, form)
    variables = list_weights(checkpoint)
    selection = [v for v in variables if v.kind in _CONVERTED or (everything and _is_number(v))]
    if not selection:
        raise DataError(
            f"{checkpoint} has no weights, only {', '.join(v.name for v in variables) or 'nothing'}"
        )
    values = {v.name: np.asarray(load_variable(checkpoint, v.key)) for v in selection}
    values = renamed(values, table, [v.name for v in variables])
    form.check_names(list(values))
    wider = () if form.has_bfloat16 else tuple(n for n, v in values.items() if _is_bfloat16(v))
    values.update({name: values[name].astype(np.float32) for name in wider})
    with (
        explained_full_disk_of(f"The file {path}", only_writes=True),
        whole_file(path) as temporary,
    ):
        form.write(temporary, values)
        _check_same(form.read(temporary), values, path)
    omitted_names = {line.old for line in table if line.new is None}
    left_out = tuple(v for v in variables if v not in selection or v.name in omitted_names)
    return Converted(path, checkpoint, values, left_out, wider)


def _checked_output(path: str, to: str, form: _Format) -> str:
    if not path.endswith(form.ending) or path.endswith(".weights.h5"):
        raise DataError(
            f"{path}: a file for --to {to} must end in {form.ending}, and not in .weights.h5, "
            "which is a format of Keras 3 itself."
        )
    folder = os.path.dirname(path) or "."
    if not os.path.isdir(folder):
        raise DataError(f"{path}: there is no folder {folder}. Create it first.")
    if os.path.exists(path):
        raise DataError(f"{path}: exists already. Remove it, or name another file by --output.")
    return path


def _is_number(variable: Variable) -> bool:
    return variable.kind is not Kind.OTHER


def _is_bfloat16(value: np.ndarray) -> bool:
    return value.dtype == tf.bfloat16.as_numpy_dtype


def _check_same(
    actual: Mapping[str, np.ndarray], expected: Mapping[str, np.ndarray], path: str
) -> None:
    """Checks that a file holds exactly the arrays that were to be written."""
    differing = [name for name in expected if not _is_same(actual.get(name), expected[name])]
    if differing or set(actual) != set(expected):
        names = differing or sorted(set(actual) ^ set(expected))
        raise DataError(
            f"{path}: not written: read back, {len(names)} variables differ from the checkpoint, "
            f"the first {names[0]!r}. Write to another disk."
        )


def _is_same(one: Any, other: np.ndarray) -> bool:
    return (
        one is not None
        and one.dtype == other.dtype
        and one.shape == other.shape
        and one.tobytes() == other.tobytes()
    )
