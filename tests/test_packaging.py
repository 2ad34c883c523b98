"""The contents of the sdist and the wheel; the wheel alone does what the README says."""

from __future__ import annotations

import doctest
import email
import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import documents
import pytest

ROOT = documents.ROOT
LIBRARY = {"estimator_bridge", "estimator_bridge_contrib"}
NOT_OF_THE_PROJECT = shutil.ignore_patterns(
    ".git",
    ".venv*",
    ".hypothesis",
    ".*_cache",
    "__pycache__",
    "build",
    "dist",
    "runs",
    "*.egg-info",
)
BUILD = "import sys, setuptools.build_meta as backend; backend.build_{}(sys.argv[1])"


def call(*command, folder, **environment):
    done = subprocess.run(
        [sys.executable, *map(str, command)],
        cwd=folder,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """The sdist of a copy of the repository, the wheel of that sdist, the copy; no network."""
    folder = tmp_path_factory.mktemp("built")
    copy = shutil.copytree(ROOT, folder / "copy", ignore=NOT_OF_THE_PROJECT)
    files = {path.relative_to(copy).as_posix() for path in copy.rglob("*") if path.is_file()}
    call("-c", BUILD.format("sdist"), folder, folder=copy)
    (sdist,) = folder.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        archive.extractall(folder / "unpacked")
    (unpacked,) = (folder / "unpacked").iterdir()
    call("-c", BUILD.format("wheel"), folder, folder=unpacked)
    (wheel,) = folder.glob("*.whl")
    return sdist, wheel, files


@pytest.fixture(scope="module")
def installed(built, tmp_path_factory):
    """A folder into which pip has installed the wheel alone."""
    site = tmp_path_factory.mktemp("site")
    pip = ["-m", "pip", "--disable-pip-version-check"]
    call(*pip, "install", "--quiet", "--no-index", "--no-deps", "--target", site, built[1],
         folder=site)  # fmt: skip
    return site


def metadata_of(wheel):
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (n for n in archive.namelist() if n.endswith(".dist-info/METADATA"))
        return email.message_from_bytes(archive.read(name))


def test_the_wheel_holds_the_two_packages_alone(built):
    with zipfile.ZipFile(built[1]) as archive:
        names = archive.namelist()
    tops = {name.partition("/")[0] for name in names}
    assert {top for top in tops if not top.endswith(".dist-info")} == LIBRARY
    modules = {f"{p.relative_to(ROOT)}" for top in LIBRARY for p in (ROOT / top).rglob("*.py")}
    assert modules <= set(names)
    assert {f"{top}/py.typed" for top in LIBRARY} <= set(names)
    assert [name for name in names if name.endswith("LICENSE")]


def test_the_wheel_has_the_pages_that_the_command_shows(installed, tmp_path):
    pages = {f"{p.relative_to(ROOT / 'docs')}" for p in (ROOT / "docs").rglob("*.md")}
    inside = installed / "estimator_bridge" / "pages"
    assert {f"{p.relative_to(inside)}" for p in inside.rglob("*.md")} == pages
    words = ("-m", "estimator_bridge", "docs", "workers#parameter-servers")
    shown = call(*words, folder=tmp_path, PYTHONPATH=str(installed))
    assert shown.startswith("## Parameter servers\n")


def test_an_installation_leaves_nothing_outside_of_the_packages(installed):
    tops = {path.name for path in installed.iterdir() if not path.name.endswith(".dist-info")}
    assert tops == {*LIBRARY, "bin"}
    assert [path.name for path in (installed / "bin").iterdir()] == ["estimator-bridge"]


def test_the_sdist_holds_the_whole_project(built):
    sdist, _, files = built
    with tarfile.open(sdist) as archive:
        held = {name.partition("/")[2] for name in archive.getnames()}
    assert files - held == set()


def test_the_metadata_is_complete(built):
    metadata = metadata_of(built[1])
    assert metadata["Author"] == "The estimator_bridge authors"
    assert metadata["License-File"] == "LICENSE"
    assert (
        metadata["Requires-Python"] == ">=3.9,<3.14" or metadata["Requires-Python"] == "<3.14,>=3.9"
    )
    classifiers = metadata.get_all("Classifier")
    for minor in range(9, 14):
        assert f"Programming Language :: Python :: 3.{minor}" in classifiers
    text = metadata.get_payload()
    assert text.startswith("# estimator_bridge")
    assert "](docs/" not in text
    assert "docs/migration.md" in text


def test_the_snippets_of_the_readme_run_from_an_empty_folder(installed, tmp_path):
    """With the wheel, and none of the repository on the path."""
    programs = documents.programs(ROOT / "README.md")
    mark = "---- next ----"
    source = "\n".join(f"{block.text}\nprint({mark!r})" for block, _ in programs)
    source += "\nprint(estimator_bridge.__file__)\n"
    (tmp_path / "snippets.py").write_text(source, encoding="utf-8")
    printed = call("snippets.py", folder=tmp_path, PYTHONPATH=str(installed)).split(f"{mark}\n")
    assert Path(printed.pop().strip()).is_relative_to(installed)
    checker = doctest.OutputChecker()
    for (block, expected), shown in zip(programs, printed):
        if expected is not None:
            assert checker.check_output(expected, shown, doctest.ELLIPSIS), block.text
