"""Looks up the signatures of a graph that was read from a SavedModel."""

from __future__ import annotations

from typing import Any

__all__ = ["get_signature_def_by_key"]


def get_signature_def_by_key(meta_graph_def: Any, signature_def_key: str) -> Any:
    """Returns a signature.

    Args:
      meta_graph_def: the graph.
      signature_def_key: the signature's name.

    Raises:
      ValueError: the graph has no such signature.
    """
    if signature_def_key not in meta_graph_def.signature_def:
        raise ValueError(
            f"No signature_def with key '{signature_def_key}' found in MetaGraphDef. Signatures: "
            f"{', '.join(sorted(meta_graph_def.signature_def)) or 'none'}."
        )
    return meta_graph_def.signature_def[signature_def_key]
