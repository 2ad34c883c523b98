"""Errors that a user can mend: their message is shown alone, without a traceback."""

from __future__ import annotations

__all__ = ["UserError"]


class UserError(ValueError):
    """Something outside the program is not as it has to be; the message says what, and the cure."""
