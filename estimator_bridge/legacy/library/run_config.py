"""Functions of ``run_config``."""

from __future__ import annotations

import os
from typing import Any

import tensorflow as tf

from estimator_bridge.model import default_session_config

__all__ = ["get_default_session_config", "path_to_str"]


def get_default_session_config() -> tf.compat.v1.ConfigProto:
    """Returns the ConfigProto for a program that gives none."""
    return default_session_config()


def path_to_str(path: Any) -> Any:
    """Returns the path of a path object; anything else unchanged."""
    return os.fspath(path) if isinstance(path, os.PathLike) else path
