"""The selections of tests are up to date: each entry exists, and each package is in them."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "tests" / "selections"
SELECTIONS = ("every_room.txt", "fast.txt")
# Packages whose tests are not in a folder of the same name.


def entries(selection):
    return (FOLDER / selection).read_text(encoding="utf-8").splitlines()


def names_of_tests(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}


@pytest.mark.parametrize("selection", SELECTIONS)
def test_each_entry_exists_and_comes_once(selection):
    listed = entries(selection)
    assert len(set(listed)) == len(listed)
    for entry in listed:
        file, _, test = entry.partition("::")
        assert (ROOT / file).exists(), f"{selection}: {entry}"
        assert not test or test.partition("[")[0] in names_of_tests(ROOT / file), entry


@pytest.mark.parametrize("selection", SELECTIONS)
def test_each_package_of_the_library_is_in_it(selection):
    listed = entries(selection)
    packages = {path.parent.name for path in (ROOT / "estimator_bridge").glob("*/__init__.py")}
    for package in sorted(packages - WITHOUT[selection]):
        tested_in = f"tests/{package}/", f"tests/test_{package}.py"
        assert any(entry.startswith(tested_in) for entry in listed), f"{selection} lacks {package}"


# `compile_for` needs jax, which the matrix does not install.
WITHOUT = {"every_room.txt": {"compile_for"}, "fast.txt": set()}
