"""Pretrained weights of a backbone, from a file of Keras 2: checked, and made a warm start."""

from __future__ import annotations

import atexit
import os
import re
import tempfile
from typing import Any

import h5py
import numpy as np
import tensorflow as tf

import estimator_bridge as eb
from models.common.errors import UserError, few
from models.flowers.model import backbone

__all__ = ["warm_start_from"]


def warm_start_from(path: str, params: dict[str, Any]) -> eb.WarmStartSettings:
    """Returns the warm start of a backbone with the weights of a file.

    Args:
        path: an .h5 file of Keras 2, such as those of tf_keras.applications; other layers that it
            has, such as the classifier of ImageNet, are left out.
        params: the model's.

    Raises:
        UserError: the file is none of weights, or of another network: the message has the names
            and shapes that differ.
    """
    weights = _read(path)
    with tf.Graph().as_default():
        shapes = {
            variable.name.partition(":")[0]: variable.shape.as_list()
            for variable in backbone(params).weights
        }
    _check(path, params["backbone"], shapes, weights)
    return eb.WarmStartSettings(
        _as_checkpoint({name: weights[name] for name in shapes}),
        # Regular expressions for the names of tensors, as in "Conv1/kernel:0".
        vars_to_warm_start=[f"^{re.escape(name)}:0$" for name in shapes],
    )


def _read(path: str) -> dict[str, np.ndarray]:
    try:
        with h5py.File(path, "r") as file:
            weights = file.get("model_weights", file)
            layers = [weights[_text(name)] for name in weights.attrs["layer_names"]]
            return {
                _text(name).partition(":")[0]: np.asarray(layer[_text(name)])
                for layer in layers
                for name in layer.attrs["weight_names"]
            }
    except (OSError, KeyError) as error:
        raise UserError(
            f"--weights={path}: not a file of weights of Keras 2 ({error}). Want one as "
            "model.save_weights('weights.h5') writes it."
        ) from error


def _text(name: bytes | str) -> str:
    return name.decode() if isinstance(name, bytes) else name


def _check(
    path: str, network: str, shapes: dict[str, list[int]], weights: dict[str, np.ndarray]
) -> None:
    missing = [name for name in shapes if name not in weights]
    differing = [
        f"{name} is {list(weights[name].shape)} in the file and {shape} in the model"
        for name, shape in shapes.items()
        if name in weights and list(weights[name].shape) != shape
    ]
    if not missing and not differing:
        return
    reasons = []
    if missing:
        has = [name for name in weights if name not in shapes]
        reasons.append(
            f"it lacks {len(missing)} of {len(shapes)} weights ({few(missing)}), and has instead "
            f"{few(has) or 'none'}"
        )
    if differing:
        reasons.append(f"{len(differing)} have another shape: {few(differing)}")
    raise UserError(
        f"--weights={path}: not the weights of this {network}: {'; '.join(reasons)}. Give the "
        "--backbone and --width that they were trained with."
    )


def _as_checkpoint(values: dict[str, np.ndarray]) -> str:
    """Writes a checkpoint that lasts as long as the process; a warm start reads nothing else."""
    folder = tempfile.TemporaryDirectory(prefix="pretrained-")
    atexit.register(folder.cleanup)
    prefix = os.path.join(folder.name, "model.ckpt")
    names = list(values)
    tf.raw_ops.SaveV2(
        prefix=prefix,
        tensor_names=names,
        shape_and_slices=[""] * len(names),
        tensors=[tf.constant(values[name]) for name in names],
    )
    return prefix
