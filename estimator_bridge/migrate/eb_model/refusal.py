"""The error for a model_fn that cannot be taken apart."""

from __future__ import annotations

import ast

__all__ = ["CannotTakeApartError"]


class CannotTakeApartError(Exception):
    """A model_fn cannot be written as an `eb.Model`.

    Args:
      node: the node at fault; None for the whole file.
      reason: the problem and what to do.
    """

    def __init__(self, node: ast.AST | None, reason: str):
        super().__init__(reason)
        self.line = getattr(node, "lineno", 0)
        self.reason = reason
