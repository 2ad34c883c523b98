"""Errors in the user's data."""

from __future__ import annotations

from models.common.errors import UserError

__all__ = ["DataError"]


class DataError(UserError):
    """Data on disk is damaged, incomplete or unexpected; the message names the file."""
