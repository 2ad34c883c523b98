"""Imports have the positions of Python 3.10 and later, on 3.9 too."""

import ast
import sys

import pytest

from estimator_bridge.migrate.alias_positions import place_aliases

SOURCE = """import a
import a.b as c, d  # e
x = "\u00e4"; from .f import (
    g as h,  # i
    j,
)
from k import *
"""
FIELDS = ("lineno", "col_offset", "end_lineno", "end_col_offset")


def positions(tree):
    aliases = [node for node in ast.walk(tree) if isinstance(node, ast.alias)]
    return [(a.name, *(getattr(a, field) for field in FIELDS)) for a in aliases]


def test_an_alias_gets_its_place():
    tree = ast.parse(SOURCE)
    place_aliases(tree, SOURCE)
    places = {name: place for name, *place in positions(tree)}
    assert places["a"] == [1, 7, 1, 8]
    assert places["a.b"] == [2, 7, 2, 15]
    assert places["g"] == [4, 4, 4, 10]
    assert places["*"] == [7, 14, 7, 15]


@pytest.mark.skipif(sys.version_info < (3, 10), reason="an alias has no position there")
def test_the_places_are_those_of_the_parser():
    parsed, placed = ast.parse(SOURCE), ast.parse(SOURCE)
    for node in ast.walk(placed):
        if isinstance(node, ast.alias):
            node.lineno = node.col_offset = node.end_lineno = node.end_col_offset = 0
    place_aliases(placed, SOURCE)
    assert positions(placed) == positions(parsed)
