"""Options of the campaign, which each kind of fault heeds as far as they concern it."""

from __future__ import annotations

import dataclasses
from pathlib import Path

__all__ = ["Options"]


@dataclasses.dataclass(frozen=True)
class Options:
    """How much is done.

    Attributes:
      every: of the places of a fault, each so many-th is tried.
      seed: of what is done at random.
      results: a file with the results so far, which are not tried again; new ones are added.
    """

    every: int = 1
    seed: int = 0
    results: Path | None = None
