"""The rule for the number of files: 10 to 100 MB each, and 64 files if that allows it."""

from __future__ import annotations

import math

__all__ = ["LARGEST", "SMALLEST", "shards_for"]

# Bytes per file. An object store takes longer to open a smaller file than to read it. Larger files
# are too few to read in parallel and to divide among hosts.
SMALLEST, LARGEST = 10_000_000, 100_000_000
# Enough for 16 readers on each of 4 hosts, and a multiple of every usual number of hosts.
_USUAL = 64
# Above it, counts are multiples of this, so that hosts get equal numbers of files.
_STEP = 8


def shards_for(total_bytes: int, records: int | None = None) -> int:
    """Returns the number of files for a total size.

    It is 64, unless files would then be smaller than 10 MB (fewer, and at least one) or larger
    than 100 MB (more, in steps of 8).

    Args:
      total_bytes: the size of all records, in bytes.
      records: the number of records, if known, so that no file stays empty.

    Raises:
      ValueError: a number is negative.
    """
    if total_bytes < 0 or (records is not None and records < 0):
        raise ValueError(
            f"shards_for needs a size and a count of at least 0, got {total_bytes} bytes and "
            f"{records} records."
        )
    min_count, max_count = math.ceil(total_bytes / LARGEST), total_bytes // SMALLEST
    count = math.ceil(min_count / _STEP) * _STEP if min_count > _USUAL else min(_USUAL, max_count)
    return max(1, count if records is None else min(count, records))
