"""A container of objects under names."""

from __future__ import annotations

from typing import Any

from estimator_bridge.tensorflow_private.tracking import trackable_structures

__all__ = ["UniqueNameTracker"]


class UniqueNameTracker(trackable_structures.TrackableDataStructure):
    """Saves objects under names, to which it adds a number if they are taken."""

    def __init__(self) -> None:
        super().__init__()
        self._tracked: dict[str, Any] = {}

    @property
    def _values(self) -> list[Any]:
        return list(self._tracked.values())

    def track(self, trackable: Any, base_name: str) -> Any:
        """Adds an object.

        Args:
          trackable: a variable, a layer or another object that a checkpoint can hold.
          base_name: its name; "x" becomes "x_1" if it is taken.

        Returns:
          The object.

        Raises:
          ValueError: a checkpoint cannot hold it.
        """
        name, number = base_name, 1
        while name in self._tracked:
            name, number = f"{base_name}_{number}", number + 1
        self._tracked[name] = self._track_value(trackable, name)
        return self._tracked[name]
