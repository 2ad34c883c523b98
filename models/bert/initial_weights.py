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
    shapes = {variable.name: variable.shape for variable in eb.weights.list_weights(checkpoint)}
    expected = variable_shapes(config)
    missing = [name for name in expected if name not in shapes]
    other = [name for name in expected if name in shapes and shapes[name] != expected[name]]
    if missing or other:
        reasons = [f"{name} is missing" for name in missing]
        reasons += [
            f"{name} has the shape {list(shapes[name])}, want {list(expected[name])}"
            for name in other
        ]
        raise UserError(
            f"--init_checkpoint={checkpoint}: it is of another model: {'; '.join(reasons[:_FEW])}"
            + (f"; and {len(reasons) - _FEW} more" if len(reasons) > _FEW else "")
            + ". Name the --bert_config_file and --vocab_file that belong to it."
        )
    has_heads = pretraining and any(name.startswith(_HEADS) for name in shapes)
    names = "^(bert|cls)/.*(?<!adam_m)(?<!adam_v)$" if has_heads else "^bert/.*"
    return eb.WarmStartSettings(checkpoint, vars_to_warm_start=names)
