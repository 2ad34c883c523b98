"""Names of a batch's flat components, as a user's program would write them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import tensorflow as tf

__all__ = ["input_names"]


def input_names(spec: Any) -> list[str]:
    """Returns a name for each flat component of an element, such as 'labels'.

    Args:
      spec: the spec of (features, labels), or of features; composite specs have several
        components, which share their name.
    """
    if isinstance(spec, (tuple, list)) and not hasattr(spec, "_fields"):
        parts = zip(("features", "labels"), spec)
        return [name for head, part in parts for name in _names(head, part)]
    return list(_names("features", spec))


def _names(head: str, spec: Any) -> Iterator[str]:
    if isinstance(spec, Mapping):
        for key in sorted(spec):
            yield from _names(f"{head}[{key!r}]", spec[key])
    elif hasattr(spec, "_fields"):  # a named tuple
        for field in spec._fields:
            yield from _names(f"{head}.{field}", getattr(spec, field))
    elif isinstance(spec, (tuple, list)):
        for i, part in enumerate(spec):
            yield from _names(f"{head}[{i}]", part)
    else:
        for _ in tf.nest.flatten(spec, expand_composites=True):
            yield head
