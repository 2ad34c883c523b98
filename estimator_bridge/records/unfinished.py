"""The note of finished shards in a folder whose records are not all written."""

from __future__ import annotations

import dataclasses
import json
import os

import tensorflow as tf

from estimator_bridge.errors import DataError
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


def read_unfinished(folder: str) -> Unfinished:
    """Reads the note of a folder that has one.

    Raises:
      DataError: the note is damaged.
    """
    path = os.path.join(folder, UNFINISHED)
    with tf.io.gfile.GFile(path) as file:
        text = file.read()
    try:
        content = json.loads(text)
        shards = tuple(Shard(**shard) for shard in content.pop("shards"))
        return Unfinished(**content, shards=shards)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise DataError(
            f"{path}: damaged ({error!r}). Remove the folder to write its records again."
        ) from error
