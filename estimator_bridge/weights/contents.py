"""Lists a checkpoint's variables by kind: weights, averages, an optimizer's, the step."""

from __future__ import annotations

import dataclasses
import enum
import os
from collections.abc import Mapping
from typing import Any

import tensorflow as tf

from estimator_bridge.checkpoint import latest_checkpoint
from estimator_bridge.checkpoint.integrity import check_intact
from estimator_bridge.errors import CheckpointError

__all__ = ["Kind", "Variable", "find_checkpoint", "list_weights"]

_AVERAGE = "ExponentialMovingAverage"
# Names that Keras optimizers give to slots: `m/dense/kernel`, or `Adam/dense/kernel/m` before 2.11.
_KERAS_SLOTS = frozenset(
    ["accum_grad", "accum_var", "accumulated_delta_var", "accumulated_grad", "accumulator",
     "average_gradient", "linear", "m", "mg", "momentum", "rms", "u", "v", "velocity", "vhat"]
)  # fmt: skip
_KERAS_AVERAGE = "average"
_STEPS = ("global_step", "save_counter")
# Scalars of optimizers, without their scope and without the suffix of a second optimizer.
_OF_OPTIMIZERS = ("beta1_power", "beta2_power")
_OF_KERAS_OPTIMIZERS = ("iteration", "learning_rate")
_OBJECT_VALUE = "/.ATTRIBUTES/VARIABLE_VALUE"
_OBJECT_SLOT = "/.OPTIMIZER_SLOT/"


class Kind(enum.Enum):
    """The purpose of a variable."""

    WEIGHT = "weight"
    AVERAGE = "average"  # the average of a weight over the steps, used in evaluation
    SLOT = "slot"  # an optimizer's variable for one weight
    OPTIMIZER = "optimizer"  # a scalar of an optimizer
    STEP = "step"
    OTHER = "other"  # not numeric: the graph of objects, strings


@dataclasses.dataclass(frozen=True)
class Variable:
    """A variable of a checkpoint.

    Attributes:
      name: its name; for checkpoints of `tf.train.Checkpoint`, the path through objects.
      key: its name in the checkpoint's files.
      shape: its shape.
      dtype: its type.
      kind: its purpose, judged by its name and shape.
    """

    name: str
    key: str
    shape: tuple[int, ...]
    dtype: Any
    kind: Kind


def find_checkpoint(path: str) -> str:
    """Returns the prefix of the checkpoint that a path stands for.

    Args:
      path: a model_dir, for its latest checkpoint; a SavedModel's folder; or a checkpoint's prefix,
        such as "model_dir/model.ckpt-100".

    Raises:
      CheckpointError: there is no checkpoint, or it is damaged.
    """
    path = os.fspath(path)
    if not tf.io.gfile.isdir(path):
        check_intact(path)
        return path
    prefix = os.path.join(path, "variables", "variables")
    if tf.io.gfile.exists(os.path.join(path, "saved_model.pb")):
        check_intact(prefix)
        return prefix
    latest = latest_checkpoint(path)
    if latest is None:
        raise CheckpointError(
            f"Couldn't find a checkpoint in the folder {path}. Name a model_dir, the folder of a "
            "SavedModel, or a checkpoint such as model_dir/model.ckpt-100."
        )
    return latest


def list_weights(path: str) -> tuple[Variable, ...]:
    """Lists the variables of a checkpoint, ordered by name.

    Args:
      path: see `find_checkpoint`.

    Raises:
      CheckpointError: there is no checkpoint, or it is damaged.
    """
    reader = check_intact(find_checkpoint(path))
    shapes, dtypes = reader.get_variable_to_shape_map(), reader.get_variable_to_dtype_map()
    keys = {_plain(key): key for key in sorted(shapes)}
    shapes_by_name = {name: tuple(shapes[key]) for name, key in keys.items()}
    return tuple(
        Variable(
            name,
            key,
            shapes_by_name[name],
            dtypes[key],
            _kind(name, key, dtypes[key], shapes_by_name),
        )
        for name, key in keys.items()
    )


def _plain(key: str) -> str:
    return key[: -len(_OBJECT_VALUE)] if key.endswith(_OBJECT_VALUE) else key


def _kind(name: str, key: str, dtype: Any, shapes: Mapping[str, tuple[int, ...]]) -> Kind:
    scope, _, last = name.rpartition("/")
    first, _, rest = name.partition("/")
    middle, _, slot = rest.rpartition("/")
    shape = shapes[name]

    def is_of(weight: str) -> bool:
        return bool(weight) and shapes.get(weight) == shape

    if dtype in (tf.string, tf.variant, tf.resource):
        return Kind.OTHER
    if last in _STEPS:
        return Kind.STEP
    if _OBJECT_SLOT in key:
        return Kind.SLOT
    if last == _AVERAGE or (first == _KERAS_AVERAGE and is_of(rest)):
        return Kind.AVERAGE
    if is_of(scope) or (first in _KERAS_SLOTS and is_of(rest)):
        return Kind.SLOT
    if slot in _KERAS_SLOTS and is_of(middle):
        return Kind.SLOT
    return Kind.OPTIMIZER if not shape and _is_of_optimizer(name, shapes) else Kind.WEIGHT


def _is_of_optimizer(name: str, shapes: Mapping[str, tuple[int, ...]]) -> bool:
    scope, _, last = name.rpartition("/")
    if last in _OF_OPTIMIZERS or last.rpartition("_")[0] in _OF_OPTIMIZERS:
        return True
    if not scope:
        return last in _OF_KERAS_OPTIMIZERS
    slots = (other.split("/") for other in shapes if other.startswith(scope + "/"))
    return any(
        parts[-1] in _KERAS_SLOTS and shapes.get("/".join(parts[1:-1])) is not None
        for parts in slots
    )
