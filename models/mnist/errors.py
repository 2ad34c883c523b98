"""What can be wrong with the data that a user has."""

from __future__ import annotations

from models.errors import UserError

__all__ = ["DataError"]


class DataError(UserError):
    """Data on disk is damaged, incomplete or not what it should be; the message names the file."""
