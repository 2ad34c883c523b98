"""Names for the tensors in a nested structure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["named_leaves"]


def named_leaves(name: str, structure: Any) -> list[tuple[str, Any]]:
    """Lists the leaves of a structure with their names, in the order of ``tf.nest.flatten``.

    Args:
      name: name of the structure.
      structure: any nesting of dicts, lists, tuples, named tuples and attrs classes.

    Returns:
      (name, leaf) pairs, such as ("features['x'][0]", tensor).
    """
    if isinstance(structure, Mapping):
        parts = [(f"{name}[{key!r}]", structure[key]) for key in sorted(structure)]
    elif isinstance(structure, tuple) and hasattr(structure, "_fields"):
        parts = [(f"{name}.{field}", getattr(structure, field)) for field in structure._fields]
    elif isinstance(structure, (list, tuple)):
        parts = [(f"{name}[{i}]", part) for i, part in enumerate(structure)]
    elif hasattr(structure, "__attrs_attrs__"):
        fields = [attribute.name for attribute in structure.__attrs_attrs__]
        parts = [(f"{name}.{field}", getattr(structure, field)) for field in fields]
    else:
        return [(name, structure)]
    return [leaf for part_name, part in parts for leaf in named_leaves(part_name, part)]
