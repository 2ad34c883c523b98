"""Checks that a checkpoint of Keras belongs to a model before it is restored."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

import estimator_bridge as eb
from models.common.errors import UserError, few

__all__ = ["require_same_weights"]


def require_same_weights(checkpoint: str, variables: Iterable[Any]) -> None:
    """Compares the shapes of a checkpoint's weights with those of a model.

    A checkpoint of `tf.train.Checkpoint` names weights by their place in the model, so those of
    another model may have the same names.

    Args:
        checkpoint: its prefix.
        variables: the model's.

    Raises:
        UserError: the shapes differ; the message has names and shapes of both.
        CheckpointError: the checkpoint is damaged.
    """
    checkpoint_shapes = [
        (weight.name, tuple(weight.shape))
        for weight in eb.weights.list_weights(checkpoint)
        if weight.name.startswith("model/") and weight.kind is eb.weights.Kind.WEIGHT
    ]
    model_shapes = [
        (variable.name.partition(":")[0], tuple(variable.shape)) for variable in variables
    ]
    only_there, only_here = (
        _besides(checkpoint_shapes, model_shapes),
        _besides(model_shapes, checkpoint_shapes),
    )
    if only_there or only_here:
        raise UserError(
            f"{checkpoint}: a checkpoint of another model, or of other flags: it has "
            f"{few(only_there) or 'no others'}; this model has {few(only_here) or 'no others'}. "
            "Name another --model_dir, or give the flags of its training, which are in run.yaml."
        )


def _besides(
    weights: list[tuple[str, tuple[int, ...]]], others: list[tuple[str, tuple[int, ...]]]
) -> list[str]:
    """Returns the weights whose shapes the others do not have, or not as often."""
    counts = Counter(shape for _, shape in others)
    texts = []
    for name, shape in weights:
        counts[shape] -= 1
        if counts[shape] < 0:
            texts.append(f"{name} {list(shape)}")
    return texts
