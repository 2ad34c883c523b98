"""Why a model_fn cannot be taken apart."""

from __future__ import annotations

import ast

__all__ = ["CannotTakeApartError"]


class CannotTakeApartError(Exception):
    """A model_fn is none that could be written as an `eb.Model`.

    Args:
      node: where that shows; None for the file as a whole.
      reason: what is there, and what to do.
    """

    def __init__(self, node: ast.AST | None, reason: str):
        super().__init__(reason)
        self.line = getattr(node, "lineno", 0)
        self.reason = reason
