"""The TF_CONFIG environment variable."""

from __future__ import annotations

import json
import os
from typing import Any

__all__ = ["read_tf_config"]


def read_tf_config() -> dict[str, Any]:
    """Reads the TF_CONFIG environment variable.

    Returns:
      Its content; {} where it is not set.

    Raises:
      ValueError: it is not a JSON object.
    """
    text = os.environ.get("TF_CONFIG") or "{}"
    try:
        tf_config = json.loads(text)
    except json.JSONDecodeError as error:
        message = f"TF_CONFIG must be JSON, got {text!r}: {error.msg}"
        raise json.JSONDecodeError(message, text, error.pos) from error
    if not isinstance(tf_config, dict):
        raise ValueError(
            f"TF_CONFIG must be a JSON object with the keys 'cluster' and 'task', got {text!r}."
        )
    return tf_config
