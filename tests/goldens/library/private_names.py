"""The private names that public repositories import, as the originals have them."""

from __future__ import annotations

import json
from pathlib import Path

__all__ = ["rows"]

_TABLE = Path(__file__).with_name("private_names.json")


def rows() -> dict[str, tuple[int, str]]:
    """Returns the number of repositories, and the versions of TensorFlow, by full name."""
    return {
        f"{module}.{name}": (int(count), versions)
        for module, names in json.loads(_TABLE.read_text()).items()
        for name, count, versions in (entry.split(":") for entry in names.split())
    }
