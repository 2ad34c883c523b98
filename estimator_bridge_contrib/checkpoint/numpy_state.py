"""NumPy arrays in object-based checkpoints."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import tensorflow as tf

from estimator_bridge.tensorflow_private.tracking import Trackable

__all__ = ["NumpyState"]


class NumpyState(Trackable):
    """An object whose attributes are NumPy arrays, which a checkpoint saves and restores.

    An attribute that is restored may be new. The checkpoint has each array as a string, in NumPy's
    format of files.
    """

    def __init__(self) -> None:
        self._arrays: dict[str, _Array] = {}

    def _trackable_children(self, *args: Any, **kwargs: Any) -> dict[str, Any]:
        return {**super()._trackable_children(*args, **kwargs), **self._arrays}

    def _lookup_dependency(self, name: str, cached_dependencies: Any = None) -> Any:
        """Returns the part of that name; one that only the checkpoint has is made."""
        del cached_dependencies
        return self._arrays.setdefault(name, _Array(None))

    def __getattr__(self, name: str) -> Any:
        # Python looks up only attributes that it has not found otherwise.
        if name.startswith("_") or name not in self._arrays:
            raise AttributeError(f"'NumpyState' object has no attribute {name!r}")
        return self._arrays[name].array

    def __setattr__(self, name: str, value: Any) -> None:
        """Saves an array with the object.

        Raises:
          NotImplementedError: it is no NumPy array.
        """
        if name.startswith("_"):  # this class's own, and those of TensorFlow's tracking
            super().__setattr__(name, value)
            return
        if not isinstance(value, (np.ndarray, np.generic)):
            raise NotImplementedError(
                f"Assigned {value!r} to the {name} property of a NumpyState, which is not a NumPy "
                "array. Convert a number with np.asarray; assign other objects to a "
                "tf.train.Checkpoint, beside the NumpyState."
            )
        self._arrays.setdefault(name, _Array(value)).array = value


class _Array(tf.train.experimental.PythonState):
    def __init__(self, array: Any):
        self.array = array

    def serialize(self) -> bytes:
        """Returns the array as the content of a file."""
        file = io.BytesIO()
        np.save(file, self.array, allow_pickle=False)
        return file.getvalue()

    def deserialize(self, string_value: bytes) -> None:
        """Reads the array."""
        self.array = np.load(io.BytesIO(string_value), allow_pickle=False)
