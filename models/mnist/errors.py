"""What can be wrong with the data that a user has."""

from __future__ import annotations

__all__ = ["DataError"]


class DataError(ValueError):
    """Data on disk is damaged, incomplete or not what it should be; the message names the file."""
