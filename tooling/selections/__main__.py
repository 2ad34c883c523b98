"""Writes the selections of tests from the recorded times, and says what each will take."""

from __future__ import annotations

import json
from pathlib import Path

from tooling.selections import choice

FOLDER = Path(__file__).resolve().parents[2] / "tests" / "selections"


def main() -> None:
    """Writes `core.txt` and `fast.txt`."""
    seconds = json.loads((FOLDER / "seconds.json").read_text(encoding="utf-8"))
    for name, files in (("core", choice.core(seconds)), ("fast", choice.fast(seconds))):
        (FOLDER / f"{name}.txt").write_text("".join(f"{file}\n" for file in files), "utf-8")
        total = sum(seconds[file] for file in files)
        print(f"{name}.txt: {len(files)} of {len(seconds)} files, {total:.0f} s of CPU")
    print(f"all: {sum(seconds.values()):.0f} s of CPU")


if __name__ == "__main__":
    main()
