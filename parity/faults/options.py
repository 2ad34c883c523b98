"""Options of the campaign; each kind of fault uses those that apply to it."""

from __future__ import annotations

import dataclasses
from pathlib import Path

__all__ = ["Options"]


@dataclasses.dataclass(frozen=True)
class Options:
    """The extent of a campaign.

    Attributes:
      every: N tries every N-th place of a fault.
      seed: the seed of random choices.
      attempts: the number of random folders, for the kinds that have any.
      results: a file with earlier results, which are not tried again; new ones are added.
    """

    every: int = 1
    seed: int = 0
    attempts: int = 1000
    results: Path | None = None
