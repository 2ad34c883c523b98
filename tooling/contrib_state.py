"""The rule by which `make test-all` leaves out tf.contrib's tests.

    python -m tooling.contrib_state           exits with 0 if they passed on exactly these files
    python -m tooling.contrib_state --passed  records that they passed

What the tests of tf.contrib depend on, beside the installed TensorFlow, is the package itself, its
tests and recordings, and the modules of the core that its MANIFEST lists. `make test-contrib` runs
the tests and records a digest of all this in `tests/contrib/passed.txt`. As long as the digest is
the same, to run them again would tell nothing new.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
RECORD = "tests/contrib/passed.txt"
FOLDERS = ("estimator_bridge_contrib", "tests/contrib", "estimator_bridge/tensorflow_private")


def core_modules(root: Path) -> Iterator[Path]:
    """Yields the files of the core that the MANIFEST names; a package with all its modules."""
    manifest = (root / "estimator_bridge_contrib" / "MANIFEST").read_text(encoding="utf-8")
    for line in manifest.splitlines():
        name = line.partition("#")[0].strip().removesuffix(".*")
        if name:
            path = root / "estimator_bridge" / name.replace(".", "/")
            yield from sorted(path.rglob("*.py")) if path.is_dir() else [path.with_suffix(".py")]


def digest(root: Path = ROOT) -> str:
    """Returns the SHA-256 of what tf.contrib's tests depend on."""
    files = {path for folder in FOLDERS for path in (root / folder).rglob("*") if path.is_file()}
    files.update(core_modules(root))
    files.discard(root / RECORD)
    total = hashlib.sha256(importlib.metadata.version("tensorflow").encode())
    for path in sorted(files):
        if "__pycache__" not in path.parts:
            total.update(path.relative_to(root).as_posix().encode() + b"\0")
            total.update(hashlib.sha256(path.read_bytes()).digest())
    return total.hexdigest()


def have_passed(root: Path = ROOT) -> bool:
    """Returns whether the tests passed on exactly these files."""
    record = root / RECORD
    return record.exists() and record.read_text(encoding="utf-8").strip() == digest(root)


if __name__ == "__main__":
    if sys.argv[1:] == ["--passed"]:
        (ROOT / RECORD).write_text(digest() + "\n", encoding="utf-8")
    else:
        sys.exit(not have_passed())
