"""The note of finished shards in a folder whose records are not all written."""

from __future__ import annotations

import dataclasses
import json
import os
from typing import Any

from estimator_bridge.base.any_files import is_plain_name
from estimator_bridge.own_files import read_note
from estimator_bridge.records.manifest import Shard

__all__ = ["UNFINISHED", "Unfinished", "read_unfinished"]

UNFINISHED = "unfinished.json"


@dataclasses.dataclass(frozen=True)
class Unfinished:
    """A write that has begun.

    Attributes:
      source: the checksum of its source.
      count: the number of shards planned.
      name: the start of the shards' names.
      shards: the finished shards, in order.
    """

    source: int
    count: int
    name: str
    shards: tuple[Shard, ...]

    def to_json(self) -> str:
        """Returns the note as text."""
        return json.dumps(dataclasses.asdict(self)) + "\n"


def read_unfinished(folder: str) -> Unfinished | None:
    """Reads the note of a folder; None if it has none, or one that was damaged and is set aside."""
    return read_note(os.path.join(folder, UNFINISHED), _parse)


def _parse(content: dict[str, Any]) -> Unfinished:
    shards = tuple(Shard(**shard) for shard in content.pop("shards"))
    note = Unfinished(**content, shards=shards)
    if not all(is_plain_name(shard.file) for shard in shards):
        raise ValueError("a file of records is not in this folder")
    return note
