"""The state of the other processes, as far as this one knows."""

from __future__ import annotations

import threading

__all__ = ["Peers"]


class Peers:
    """Collects the ends of other processes; threads note them, and the program's thread asks."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._lost_addresses: list[str] = []
        self._failure: str | None = None

    @property
    def lost_addresses(self) -> list[str]:
        """The addresses of the processes that ended or are out of reach."""
        with self._lock:
            return list(self._lost_addresses)

    @property
    def failure(self) -> str | None:
        """What another process said of its program's failure; None if none failed."""
        return self._failure

    @property
    def is_whole(self) -> bool:
        """Whether all processes run, as far as is known."""
        return not self._lost_addresses and self._failure is None

    def note_loss(self, address: str) -> None:
        """Notes that a process ended, or is out of reach."""
        with self._lock:
            if address not in self._lost_addresses:
                self._lost_addresses.append(address)

    def note_failure(self, text: str) -> None:
        """Notes that another process's program failed; the first one counts."""
        with self._lock:
            self._failure = self._failure or text
