"""Checks a checkpoint with initial weights against the model, before anything is trained."""

from __future__ import annotations

from typing import Any

import estimator_bridge as eb
from models.bert.config import BertConfig, variable_shapes
from models.common.errors import UserError

__all__ = ["warm_start"]

_FEW = 3
_HEADS = "cls/"


def warm_start(checkpoint: str, config: BertConfig, pretraining: bool) -> Any:
    """Returns the settings that start a training with a checkpoint's weights.

    Args:
        checkpoint: its prefix.
        config: the sizes of the model.
        pretraining: whether the outputs of pretraining are taken too, if it has them.

    Raises:
        UserError: the encoder's variables are missing in it, or have other shapes.
        CheckpointError: it is damaged.
    """
    there = {variable.name: variable.shape for variable in eb.weights.list_weights(checkpoint)}
    wanted = variable_shapes(config)
    missing = [name for name in wanted if name not in there]
    other = [name for name in wanted if name in there and there[name] != wanted[name]]
    if missing or other:
        told = [f"{name} is missing" for name in missing]
        told += [
            f"{name} has the shape {list(there[name])}, want {list(wanted[name])}" for name in other
        ]
        raise UserError(
            f"--init_checkpoint={checkpoint}: it is of another model: {'; '.join(told[:_FEW])}"
            + (f"; and {len(told) - _FEW} more" if len(told) > _FEW else "")
            + ". Name the --bert_config_file and --vocab_file that belong to it."
        )
    has_heads = pretraining and any(name.startswith(_HEADS) for name in there)
    names = "^(bert|cls)/.*(?<!adam_m)(?<!adam_v)$" if has_heads else "^bert/.*"
    return eb.WarmStartSettings(checkpoint, vars_to_warm_start=names)
