"""Seeds for the random operations of one function."""

from __future__ import annotations

import hashlib
from typing import Any

__all__ = ["SeedStream"]


class SeedStream:
    """Gives a new seed at each call, the same ones in each program.

    Args:
      seed: an integer; None, for seeds that are None too; or another stream, whose own seed is
        used.
      salt: text that tells the function's seeds from those of others.
    """

    def __init__(self, seed: Any, salt: str):
        self._seed = seed.original_seed if isinstance(seed, SeedStream) else seed
        self._salt = salt
        self._count = 0

    def __call__(self) -> int | None:
        """Returns the next seed."""
        self._count += 1
        if self._seed is None:
            return None
        text = str((self._seed, self._count, self._salt))
        return int(hashlib.sha512(text.encode()).hexdigest(), 16)

    @property
    def original_seed(self) -> Any:
        """The seed that the stream was made with."""
        return self._seed

    @property
    def salt(self) -> str:
        """The text that the stream was made with."""
        return self._salt
