"""Makes the golden files of names that libraries import, by running the real tf.estimator.

pip install tensorflow-cpu==2.15.1           # Python 3.11, an environment of its own
cd tests && python -m goldens.library.make_library
"""

from __future__ import annotations

import json
import runpy
from pathlib import Path
from typing import Any

from goldens.library import library_cases

HERE = Path(__file__).parent
NAMES = HERE.parents[2] / "estimator_bridge" / "legacy" / "library" / "names.py"


def main() -> None:
    """Writes parameters.json, of each name in the table, and library.json, of each case."""
    signatures: dict[str, Any] = {}
    for path, names in runpy.run_path(str(NAMES))["LIBRARY_NAMES"].items():
        for name in names:
            try:
                value = getattr(library_cases.module(path), name)
            except (ImportError, AttributeError):
                signatures[f"{path}.{name}"] = "not in 2.15"
            else:
                signatures[f"{path}.{name}"] = library_cases.parameters(value)
    _write("parameters.json", signatures)
    _write("library.json", library_cases.run_all())


def _write(file: str, results: dict[str, Any]) -> None:
    lines = (f"{json.dumps(key)}: {json.dumps(value)}" for key, value in sorted(results.items()))
    (HERE / file).write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main()
