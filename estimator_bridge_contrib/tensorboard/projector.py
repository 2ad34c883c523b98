"""tf.contrib.tensorboard.plugins.projector, through the package tensorboard."""

# ruff: noqa: F822 -- the names are looked for when they are used: the package may be missing

from __future__ import annotations

import importlib
from typing import Any

from estimator_bridge.errors import MissingNameError

__all__ = [
    "EmbeddingInfo",
    "EmbeddingMetadata",
    "ProjectorConfig",
    "SpriteMetadata",
    "visualize_embeddings",
]

_PACKAGE = "tensorboard.plugins.projector"


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'tf.contrib.tensorboard.plugins.projector' has no {name!r}")
    try:
        return getattr(importlib.import_module(_PACKAGE), name)
    except ModuleNotFoundError as error:
        raise MissingNameError(
            f"tf.contrib.tensorboard.plugins.projector.{name} needs the package tensorboard. Run: "
            "pip install tensorboard",
            name=name,
        ) from error
