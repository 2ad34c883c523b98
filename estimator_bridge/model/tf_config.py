"""The TF_CONFIG environment variable."""

from __future__ import annotations

import json
import os
from typing import Any

from estimator_bridge.base.redaction import redacted

__all__ = ["read_tf_config"]


def read_tf_config() -> dict[str, Any]:
    """Reads the TF_CONFIG environment variable.

    Returns:
      Its content; {} if it is not set.

    Raises:
      ValueError: it is not a JSON object.
    """
    text = os.environ.get("TF_CONFIG") or "{}"
    try:
        tf_config = json.loads(text)
    except json.JSONDecodeError as error:
        redacted_text = redacted(text)
        message = f"TF_CONFIG must be JSON, got {redacted_text!r}: {error.msg}"
        raise json.JSONDecodeError(
            message, redacted_text, min(error.pos, len(redacted_text))
        ) from None
    if not isinstance(tf_config, dict):
        raise ValueError(
            f"TF_CONFIG must be a JSON object with the keys 'cluster' and 'task', got "
            f"{redacted(text)!r}."
        )
    return tf_config
