"""Arrays in NumPy's .npz file."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from estimator_bridge.base.terminal_text import printable
from estimator_bridge.errors import DataError

__all__ = ["check_names", "read", "write"]


def check_names(names: list[str]) -> None:
    """Checks that no entry of the archive leads out of the folder that it is unpacked in.

    Raises:
      DataError: a name does, or has a control character; a checkpoint can hold any name.
    """
    for name in names:
        parts = name.replace("\\", "/").split("/")
        is_outside = ".." in parts or not parts[0] or parts[0].endswith(":")
        if is_outside or printable(name) != name:
            raise DataError(
                f"--to npz: the variable {name!r} would be a file outside of the folder that the "
                "archive is unpacked in, or has control characters. Rename it with --table, or "
                "leave it out there with '-'."
            )


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
