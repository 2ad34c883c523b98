"""Checks of the environment before importing TensorFlow, which takes seconds."""

from __future__ import annotations

import json
from collections.abc import Mapping

from models.common.errors import UserError

__all__ = ["require_valid_tf_config"]

_EXAMPLE = '{"cluster": {"chief": ["host:2222"]}, "task": {"type": "chief", "index": 0}}'


def require_valid_tf_config(environment: Mapping[str, str]) -> None:
    """Checks the form of TF_CONFIG; RunConfig checks whether the task is part of the cluster.

    Args:
        environment: the environment variables.

    Raises:
        UserError: it is not a JSON object of the form that TensorFlow expects. The message does
            not show it, as it may contain credentials.
    """
    text = environment.get("TF_CONFIG")
    if not text:
        return
    try:
        content = json.loads(text)
    except ValueError as error:
        raise _error(f"is not JSON: {error}") from None
    except RecursionError:
        raise _error("is nested too deeply") from None
    if not isinstance(content, dict):
        raise _error(f"is a JSON {_kind(content)}, not an object")
    for key in ("cluster", "task"):
        if not isinstance(content.get(key, {}), dict):
            raise _error(f"has a {_kind(content[key])} as {key!r}, not an object")
    index = content.get("task", {}).get("index", 0)
    if isinstance(index, bool) or not (isinstance(index, int) or str(index).isdecimal()):
        raise _error(f"has {index!r} as the task's index, not a whole number")


def _kind(value: object) -> str:
    return {list: "array", str: "string", type(None): "null"}.get(type(value), "number")


def _error(problem: str) -> UserError:
    return UserError(
        f"the environment variable TF_CONFIG {problem}. Use for example {_EXAMPLE}; to train on "
        "this machine alone, unset it."
    )
