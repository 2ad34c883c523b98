"""The protocol of iterators on several hosts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol, runtime_checkable

__all__ = ["PlacedIterators"]


@runtime_checkable
class PlacedIterators(Protocol):
    """One iterator for each host, whose elements are (batch, size of the next batch).

    Attributes:
      parts: the iterators, in the order of the hosts.
      devices: the CPU of each host.
      ahead: the sizes of the next batches, 0 for none. A loop updates them.
    """

    parts: Sequence[Any]
    devices: Sequence[str]
    ahead: list[int]

    @property
    def element_spec(self) -> Any:
        """The specs of the hosts' elements."""

    def __next__(self) -> list[Any]:
        """Returns the next batch of each host that has one."""
