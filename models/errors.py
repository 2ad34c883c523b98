"""Errors that a user can fix: only their message is shown, without a traceback."""

from __future__ import annotations

__all__ = ["UserError"]


class UserError(ValueError):
    """Something outside the program is wrong; the message says what, and how to fix it."""
