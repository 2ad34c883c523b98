"""Builds the sdist, builds the wheel from that sdist, checks both, and moves them to dist/.

    python -m tooling.release

Both files appear in dist/ together, or neither does.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path

from estimator_bridge.base.version import __version__
from tooling.matrix.claims import PAIRS
from tooling.matrix.page import Row, passed, read_results

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("estimator_bridge", "estimator_bridge_contrib")
# The files that training, testing and documenting the project needs.
IN_SDIST = ("LICENSE", "README.md", "CHANGELOG.md", "Makefile", "train.py", "tests/conftest.py")


class ReleaseError(RuntimeError):
    """A release that must not be published; the text says what to correct."""


def check_changelog(changelog: str, version: str) -> None:
    """Checks that the changes of a version are listed under a date.

    Args:
        changelog: the text of CHANGELOG.md.
        version: the version to release.

    Raises:
        ReleaseError: the version has no entry, or its entry has no date.
    """
    heading = re.search(rf"^## {re.escape(version)}\b(.*)$", changelog, re.M)
    if heading is None:
        raise ReleaseError(f"CHANGELOG.md has no entry '## {version}'. Add one.")
    if not re.fullmatch(r" \(\d{4}-\d{2}-\d{2}\)", heading[1]):
        raise ReleaseError(
            f"CHANGELOG.md says '{heading[0]}'. Replace the brackets by the date of the release: "
            f"'## {version} (2026-01-31)'."
        )


def check_matrix(results: dict[str, Row]) -> None:
    """Checks that each claimed pair of TensorFlow and Python was tested.

    Args:
        results: the rows of docs/versions.json by the names of their pairs.

    Raises:
        ReleaseError: a pair was not run, or failed.
    """
    open_pairs = [p.name for p in PAIRS if p.name not in results or not passed(results[p.name])]
    if open_pairs:
        raise ReleaseError(
            f"docs/versions.json has no passing row of {', '.join(open_pairs)}. Run `make matrix`, "
            "or claim fewer versions: see tooling/matrix/claims.py."
        )


def check_wheel(names: list[str]) -> None:
    """Checks that a wheel installs the two packages and nothing else.

    Args:
        names: the files in the wheel.

    Raises:
        ReleaseError: there are other packages, or the type marker is missing.
    """
    tops = {name.partition("/")[0] for name in names}
    others = sorted(top for top in tops - set(PACKAGES) if not top.endswith(".dist-info"))
    if others:
        raise ReleaseError(
            f"The wheel also holds {', '.join(others)}. Run `make clean`: an earlier build may "
            "have left files in build/."
        )
    for package in PACKAGES:
        if f"{package}/py.typed" not in names:
            raise ReleaseError(f"The wheel lacks {package}/py.typed; see package_data in setup.py.")


def check_sdist(names: list[str]) -> None:
    """Checks that an sdist holds the project, not just the package.

    Args:
        names: the files in the sdist, below its one folder.

    Raises:
        ReleaseError: a file is missing.
    """
    missing = sorted(set(IN_SDIST) - {name.partition("/")[2] for name in names})
    if missing:
        raise ReleaseError(f"The sdist lacks {', '.join(missing)}; see MANIFEST.in.")


def build(folder: Path) -> tuple[Path, Path]:
    """Builds in a folder; returns the sdist and the wheel."""
    _python("build", "--outdir", str(folder), str(ROOT))
    (sdist,) = folder.glob("*.tar.gz")
    (wheel,) = folder.glob("*.whl")
    return sdist, wheel


def main() -> int:
    """Builds, checks and prints the two files.

    Returns:
        0, or 1 after a line that says what is wrong.
    """
    try:
        check_changelog((ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), __version__)
        check_matrix(read_results())
        dist = ROOT / "dist"
        dist.mkdir(exist_ok=True)
        with tempfile.TemporaryDirectory(dir=dist, prefix=".building") as folder:
            paths = build(Path(folder))
            with tarfile.open(paths[0]) as archive:
                check_sdist(archive.getnames())
            with zipfile.ZipFile(paths[1]) as archive:
                check_wheel(archive.namelist())
            _python("twine", "check", "--strict", *map(str, paths))
            for path in paths:
                os.replace(path, dist / path.name)
                print(f"dist/{path.name}")
    except ReleaseError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


def _python(module: str, *arguments: str) -> None:
    process = subprocess.run(
        [sys.executable, "-m", module, *arguments],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
    )  # fmt: skip
    if process.returncode:
        raise ReleaseError(f"`python -m {module}` failed:\n{process.stdout}")


if __name__ == "__main__":
    sys.exit(main())
