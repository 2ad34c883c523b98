"""Adds an estimator's entries to a program's params, a dict or TensorFlow 1's HParams."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

__all__ = ["shown_params", "with_params"]


def with_params(params: Any, **entries: Any) -> Any:
    """Copies params and adds entries.

    Args:
      params: a mapping, or an object with ``add_hparam`` and ``set_hparam``. The
        class is kept, because model_fn may read params by its attributes.
      **entries: entries to add or to replace.

    Returns:
      The copy.

    Raises:
      TypeError: params are of another type.
    """
    if type(params) is dict:
        return {**params, **entries}
    if not hasattr(params, "set_hparam") and not hasattr(params, "keys"):
        attributes = vars(params) if hasattr(params, "__dict__") else None
        advice = f" vars(params) is a dict of {sorted(attributes)}." if attributes else ""
        raise TypeError(
            f"params must be a dict (or an HParams), since "
            f"{' and '.join(map(repr, entries))} is to "
            f"be added, got {type(params).__name__}: {params!r}.{advice}"
        )
    copies = copy.deepcopy(params)
    for name, value in entries.items():
        if not hasattr(copies, "set_hparam"):
            copies[name] = value
        elif name in copies:
            copies.set_hparam(name, value)
        else:
            copies.add_hparam(name, value)
    return copies


def shown_params(params: Any) -> Any:
    """Returns params for a message."""
    if hasattr(params, "set_hparam"):
        return params.values()
    return dict(params) if isinstance(params, Mapping) else params
