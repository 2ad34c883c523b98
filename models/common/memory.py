"""Estimates before training whether a batch fits into this machine's memory."""

from __future__ import annotations

import os

from models.common.errors import UserError

__all__ = ["require_memory", "total_memory"]


def total_memory() -> int | None:
    """Returns the bytes of memory of this machine or container; None if unknown."""
    try:
        pages: int | None = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (ValueError, OSError):  # a system without these names
        pages = None
    try:
        with open("/sys/fs/cgroup/memory.max", encoding="ascii") as file:
            limit = file.read().strip()
    except OSError:
        return pages
    if not limit.isdecimal():  # "max"
        return pages
    return int(limit) if pages is None else min(pages, int(limit))


def require_memory(flag: str, batch: int, bytes_each: int, total: int | None) -> None:
    """Refuses a batch that cannot fit: the system would kill the process without a message.

    Args:
        flag: the flag that set the batch size.
        batch: the global batch size.
        bytes_each: lower bound of the memory for one example, in bytes.
        total: the memory, in bytes; None if unknown.

    Raises:
        UserError: the batch is too large.
    """
    if total is None or batch * bytes_each <= total:
        return
    raise UserError(
        f"--{flag}={batch}: a batch of this size needs at least {batch * bytes_each / 2**30:,.0f} "
        f"GiB, but this machine has {total / 2**30:,.0f} GiB of memory. Use at most "
        f"{total // bytes_each:,}, better a few hundred."
    )
