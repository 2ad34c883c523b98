"""Finds the private names of the original that a test uses, from its source.

A test uses the names in its own body, in its class's set-up, and, recursively, in the functions and
classes of its file that these use.
"""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Callable, Iterator
from pathlib import Path

from parity.harness.names import ONLY_WITH, is_provided
from parity.harness.tensorflow_shims import GONE

__all__ = ["Privates", "Source", "private_names"]

_PROJECT = "tensorflow_estimator.python.estimator"
_FIXTURES = ("__init__", "setUp", "tearDown", "setUpClass", "tearDownClass")
# Not private despite the underscore: methods of named tuples, and uses of graphs in TF1 programs.
_OPEN = {"_replace", "_asdict", "_fields", "_make", "_fields_defaults"}
_Function = (ast.FunctionDef, ast.AsyncFunctionDef)


@dataclasses.dataclass
class Privates:
    """The private names that the tests of one file use.

    Attributes:
      by_test: the names by class and method; those of the method "" are of the class's set-up,
        which tests that the class inherits from another file use too.
    """

    by_test: dict[tuple[str, str], tuple[str, ...]]

    def of(self, test: str) -> tuple[str, ...]:
        """Returns the names of ``Class.method``; parameterized methods have their own suffix."""
        kind, _, method = test.partition(".")
        methods = [m for k, m in self.by_test if k == kind and method.startswith(m)]
        return self.by_test[kind, max(methods, key=len)] if methods else ()


def private_names(
    path: Path, source_type: Callable[[ast.Module], Source] | None = None
) -> Privates:
    """Reads a test file.

    Args:
      path: the file.
      source_type: what finds the names; by default, `Source`.
    """
    source = (source_type or Source)(ast.parse(path.read_text(encoding="utf-8")))
    names_by_test = {}
    for kind in source.classes.values():
        methods = source.methods(kind)
        shared = [methods[name] for name in _FIXTURES if name in methods]
        shared += kind.decorator_list
        tests = {name: [node] for name, node in methods.items() if name.startswith("test")}
        # Its set-up is all that a class shows of the tests that it inherits from another file.
        for name, own_nodes in {"": [], **tests}.items():
            nodes = source.reachable([*own_nodes, *shared], methods)
            names = {n for node in nodes for n in source.privates(node)}
            names |= _lacking_their_use(nodes, source)
            names_by_test[kind.name, name] = tuple(sorted(names))
    return Privates(names_by_test)


def _lacking_their_use(nodes: list[ast.AST], source: Source) -> set[str]:
    """Returns names of which the test uses a part that the stand-in lacks."""
    parts = [p for node in nodes for p in ast.walk(node) if isinstance(p, ast.Attribute)]
    attributes = {part.attr for part in parts}
    names = {
        f"{source.project[part.value.id]}.{part.attr}"
        for part in parts
        if isinstance(part.value, ast.Name) and part.value.id in source.project
    }
    return {name for name in names & ONLY_WITH.keys() if not attributes & ONLY_WITH[name]}


class Source:
    """A test file's definitions and imports."""

    def __init__(self, tree: ast.Module):
        self.functions = {n.name: n for n in tree.body if isinstance(n, _Function)}
        self.classes = {n.name: n for n in tree.body if isinstance(n, ast.ClassDef)}
        self.project: dict[str, str] = {}  # local name -> module below the project
        self.tensorflow: dict[str, str] = {}
        self.others: set[str] = set()  # other modules, whose private names are not the original's
        for node in ast.walk(tree):
            if isinstance(node, (ast.Import, ast.ImportFrom)):
                self._add_imports(node)

    def _add_imports(self, node: ast.Import | ast.ImportFrom) -> None:
        prefix = f"{node.module}." if isinstance(node, ast.ImportFrom) else ""
        for name in node.names:
            full, local = prefix + name.name, name.asname or name.name.partition(".")[0]
            if full.startswith(f"{_PROJECT}."):
                self.project[local] = full.removeprefix(f"{_PROJECT}.")
            elif full.partition(".")[0] == "tensorflow":
                self.tensorflow[local] = full
            else:
                self.others.add(local)

    def methods(self, kind: ast.ClassDef) -> dict[str, ast.AST]:
        """Returns a class's methods, including those of its bases in this file."""
        methods: dict[str, ast.AST] = {}
        for base in kind.bases:
            if isinstance(base, ast.Name) and base.id in self.classes:
                methods.update(self.methods(self.classes[base.id]))
        methods.update({n.name: n for n in kind.body if isinstance(n, _Function)})
        return methods

    def reachable(self, begin: list[ast.AST], methods: dict[str, ast.AST]) -> list[ast.AST]:
        """Returns the definitions, and those that they use."""
        nodes_by_id: dict[int, ast.AST] = {}
        waiting = list(begin)
        while waiting:
            node = waiting.pop()
            if id(node) in nodes_by_id:
                continue
            nodes_by_id[id(node)] = node
            # A class that a test's super() names does not make it use the class's other tests.
            super_args = {
                id(arg)
                for part in ast.walk(node)
                if _is_super(part)
                for arg in part.args  # type: ignore[attr-defined]
            }
            for part in ast.walk(node):
                if isinstance(part, ast.Name) and id(part) not in super_args:
                    definition = self.functions.get(part.id) or self.classes.get(part.id)
                    if definition is not None:
                        waiting.append(definition)
                elif _is_own(part) and part.attr in methods:  # type: ignore[attr-defined]
                    waiting.append(methods[part.attr])  # type: ignore[attr-defined]
        return list(nodes_by_id.values())

    def privates(self, node: ast.AST) -> Iterator[str]:
        """Yields the private names in one definition."""
        for part in ast.walk(node):
            if isinstance(part, ast.Attribute):
                yield from self._attribute(part)
            elif isinstance(part, ast.Call):
                yield from self._replacements(part)

    def _attribute(self, part: ast.Attribute) -> Iterator[str]:
        root = _root(part)
        if isinstance(part.value, ast.Name) and part.value.id in self.project:
            module = self.project[part.value.id]
            # Anything but a module is an object that was imported by name.
            is_object = module.rpartition(".")[2][:1].isupper()
            if not is_object and not is_provided(module, part.attr):
                yield f"{module}.{part.attr}"
        elif isinstance(part.value, ast.Name) and self.tensorflow.get(part.value.id) in GONE:
            yield f"{self.tensorflow[part.value.id]}.{part.attr}"
        elif not part.attr.startswith("_") or part.attr.startswith("__") or part.attr in _OPEN:
            return
        elif root in self.tensorflow:
            yield ".".join([self.tensorflow[root], *ast.unparse(part).split(".")[1:]])
        elif not _is_own(part) and root not in self.project and root not in self.others:
            yield f"(object).{part.attr}"

    def _replacements(self, call: ast.Call) -> Iterator[str]:
        """Yields the target of a mock.patch.object, if it is internal to the original."""
        function = call.func
        if not (isinstance(function, ast.Attribute) and function.attr == "object"):
            return
        if "patch" not in ast.unparse(function) or len(call.args) < 2:
            return
        place, name = call.args[0], call.args[1]
        root = _root(place)
        if not (isinstance(name, ast.Constant) and isinstance(name.value, str)):
            return
        if root in self.project:
            module = ".".join([self.project[root], *ast.unparse(place).split(".")[1:]])
            yield f"mock of {module}.{name.value}"
        elif root in self.tensorflow and "logging" not in ast.unparse(place):
            rest = ast.unparse(place).split(".")[1:]
            yield f"mock of {'.'.join([self.tensorflow[root], *rest])}.{name.value}"


def _is_super(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "super"
    )


def _is_own(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id in ("self", "cls")
    )


def _root(node: ast.AST) -> str:
    while isinstance(node, (ast.Attribute, ast.Call)):
        node = node.value if isinstance(node, ast.Attribute) else node.func
    return node.id if isinstance(node, ast.Name) else ""
