"""Errors that a user can fix: only their message is shown, without a traceback."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["UserError", "few"]

_FEW = 3


class UserError(ValueError):
    """Something outside the program is wrong; the message says what, and how to fix it."""


def few(names: Sequence[str]) -> str:
    """Returns the first three names and the number of the others, for a message."""
    remainder = f" and {len(names) - _FEW:,} more" if len(names) > _FEW else ""
    return ", ".join(names[:_FEW]) + remainder
