"""Classes of the engine stay small: few constructor parameters, few attributes."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

LIBRARY = Path(__file__).resolve().parents[1] / "estimator_bridge"
ROOMS = ("graph", "runtime", "tpu", "training")
MOST_PARAMETERS, MOST_ATTRIBUTES = 8, 10

# Wider classes: (parameters, attributes). tf.estimator's signatures force them.
PINNED = {
    "tpu/estimator.py:TPUEstimator": (15, 8),
    "tpu/embedding_spec.py:_Fields": (10, 10),
}


def is_record(kind: ast.ClassDef) -> bool:
    """Returns whether a class's annotated fields are its constructor's parameters."""
    decorators = [ast.unparse(one) for one in kind.decorator_list]
    bases = [ast.unparse(base) for base in kind.bases]
    return any("dataclass" in d for d in decorators) or any(b.endswith("NamedTuple") for b in bases)


def widths(kind: ast.ClassDef) -> tuple[int, int]:
    """Returns the numbers of constructor parameters and of attributes that methods set."""
    methods = [node for node in kind.body if isinstance(node, ast.FunctionDef)]
    attributes = {
        node.attr
        for method in methods
        for node in ast.walk(method)
        if isinstance(node, ast.Attribute)
        and isinstance(node.ctx, ast.Store)
        and isinstance(node.value, ast.Name)
        and node.value.id == "self"
    }
    parameters = 0
    if is_record(kind):
        fields = {ast.unparse(n.target) for n in kind.body if isinstance(n, ast.AnnAssign)}
        parameters, attributes = len(fields), attributes | fields
    for method in methods:
        if method.name == "__init__":
            given = method.args
            named = [*given.posonlyargs, *given.args, *given.kwonlyargs]
            parameters = len(named) - 1 + bool(given.vararg) + bool(given.kwarg)
    return parameters, len(attributes)


def classes() -> dict[str, tuple[int, int]]:
    return {
        f"{path.relative_to(LIBRARY).as_posix()}:{node.name}": widths(node)
        for room in ROOMS
        for path in sorted((LIBRARY / room).rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.ClassDef)
    }


def test_classes_of_the_engine_are_small():
    most = (MOST_PARAMETERS, MOST_ATTRIBUTES)
    wide = {
        name: found
        for name, found in classes().items()
        if any(got > limit for got, limit in zip(found, most)) and name not in PINNED
    }
    assert not wide, f"look for the missing concept: (parameters, attributes) over {most}: {wide}"


@pytest.mark.parametrize("name", PINNED)
def test_what_is_pinned_is_as_wide_as_said(name):
    assert classes()[name] == PINNED[name], "it changed: shrink its entry, or take it out"


def test_widths_are_counted():
    source = """
class Plain:
    def __init__(self, a, *b, c=1, **d):
        self.x, self._y = a, b
        self.x = c

    def later(self):
        self.z: int = 1

@dataclasses.dataclass(frozen=True)
class Record:
    a: int
    b: int = 2
"""
    plain, record = ast.parse(source).body
    assert widths(plain) == (4, 3)
    assert widths(record) == (2, 2)
