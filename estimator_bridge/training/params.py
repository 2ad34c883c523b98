"""What an estimator adds to a program's params, which are a dict or TensorFlow 1's HParams."""

from __future__ import annotations

import copy
from typing import Any

__all__ = ["shown_params", "with_params"]


def with_params(params: Any, **added: Any) -> Any:
    """Copies params with some more of them.

    Args:
      params: a mapping, or an object with ``add_hparam`` and ``set_hparam``. A class of the
        program's own stays one, since model_fn may read params by its attributes.
      **added: parameters to add, or to set where they are there.

    Returns:
      The copy.
    """
    if type(params) is dict:
        return {**params, **added}
    given = copy.deepcopy(params)
    for name, value in added.items():
        if not hasattr(given, "set_hparam"):
            given[name] = value
        elif name in given:
            given.set_hparam(name, value)
        else:
            given.add_hparam(name, value)
    return given


def shown_params(params: Any) -> Any:
    """Params as a message shows them."""
    return params.values() if hasattr(params, "set_hparam") else dict(params)
