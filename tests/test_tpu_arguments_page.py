"""docs/evidence/tpu_arguments.md has a row for each argument, and the tests that it names exist."""

from __future__ import annotations

import ast
import inspect
import re

import documents
import pytest

import estimator_bridge as eb

PAGE = documents.ROOT / "docs" / "evidence" / "tpu_arguments.md"
SIGNATURES = {
    "TPUEstimator": eb.tpu.TPUEstimator,
    "TPUConfig": eb.tpu.TPUConfig,
    "tpu.RunConfig": eb.tpu.RunConfig,
    "TPUEstimatorSpec": eb.tpu.TPUEstimatorSpec,
}


def rows(heading):
    """The cells of the rows of the table below a heading."""
    _, _, text = PAGE.read_text(encoding="utf-8").partition(f"\n## {heading}\n")
    section = text.partition("\n## ")[0]
    lines = [line for line in section.splitlines() if line.startswith("| `")]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]


@pytest.mark.parametrize("name", SIGNATURES)
def test_each_argument_has_a_row_in_order(name):
    arguments = [
        argument.name
        for argument in inspect.signature(SIGNATURES[name]).parameters.values()
        if argument.kind is not argument.VAR_KEYWORD
    ]
    assert [row[0].strip("`") for row in rows(name)] == arguments


@pytest.mark.parametrize("name", [*SIGNATURES, "params"])
def test_each_row_names_tests_that_exist(name):
    for row in rows(name):
        named = re.findall(r"`(tests/[\w/]+\.py)::(test_\w+)`", row[-1])
        assert named and len(named) == row[-1].count("`") / 2, row
        for path, test in named:
            tree = ast.parse((documents.ROOT / path).read_text(encoding="utf-8"))
            assert test in {n.name for n in tree.body if isinstance(n, ast.FunctionDef)}, row
