"""The results of one run of one program: facts as JSON, numbers as npz, both in one folder."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

__all__ = ["Record", "load", "save"]


class Record(NamedTuple):
    """A run.

    Attributes:
      facts: results that have to be equal: names, shapes, files, tags, signatures.
      arrays: numbers, as ``KIND/NAME`` to an array, such as ``weights/dense/kernel``.
    """

    facts: dict[str, Any]
    arrays: dict[str, np.ndarray]

    def under(self, kind: str) -> dict[str, np.ndarray]:
        """Returns the arrays of one kind, by their names."""
        start = kind + "/"
        return {k[len(start) :]: v for k, v in self.arrays.items() if k.startswith(start)}

    def add(self, kind: str, values: Mapping[str, Any] | Iterable[tuple[str, Any]]) -> None:
        """Adds or replaces the arrays of one kind."""
        for name in self.under(kind):
            del self.arrays[f"{kind}/{name}"]
        for name, value in dict(values).items():
            array = np.asarray(value)
            if array.dtype.kind == "O":  # a session's strings; as bytes they need no pickle
                array = array.astype(bytes)
            self.arrays[f"{kind}/{name}"] = array


def save(folder: Path, record: Record) -> None:
    """Writes ``record.json`` and ``record.npz`` into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "record.json").write_text(json.dumps(record.facts, indent=1) + "\n")
    np.savez_compressed(folder / "record.npz", **record.arrays)  # type: ignore[arg-type]


def load(folder: Path) -> Record:
    """Reads a record that ``save`` wrote.

    Raises:
      FileNotFoundError: the folder holds no record.
    """
    if not (folder / "record.json").is_file():
        raise FileNotFoundError(
            f"{folder} holds no record.json. A run of the program writes it: "
            f"python -m parity.run --out {folder.parent} {folder.name}"
        )
    with np.load(folder / "record.npz") as arrays:
        values = dict(arrays)
    return Record(json.loads((folder / "record.json").read_text()), values)
