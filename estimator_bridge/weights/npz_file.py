"""Arrays in NumPy's .npz file."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

__all__ = ["read", "write"]


def write(path: str, values: Mapping[str, np.ndarray]) -> None:
    """Writes arrays by name."""
    # Not as keyword arguments: a variable may be called "file".
    with open(path, "wb") as file, _archive(file) as archive:
        for name, value in values.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as entry:
                np.lib.format.write_array(entry, value, allow_pickle=False)


def read(path: str) -> dict[str, np.ndarray]:
    """Returns the arrays of a file, by name."""
    with np.load(path) as arrays:
        return {name: arrays[name] for name in arrays.files}


def _archive(file):
    import zipfile

    return zipfile.ZipFile(file, "w", zipfile.ZIP_STORED)
