"""Finds the modules beside a program that it imports."""

from __future__ import annotations

import ast
import os
from collections.abc import Iterable, Iterator

from estimator_bridge.legacy.running.notebooks import is_notebook
from estimator_bridge.migrate.files import is_excluded
from estimator_bridge.migrate.notebooks import read_notebook_source
from estimator_bridge.migrate.source_reading import UnreadableError, read_source

__all__ = ["find_local_imports"]


def find_local_imports(paths: Iterable[str], exclude: Iterable[str] = ()) -> list[str]:
    """Finds the local modules that programs import, and those that these import.

    An absolute import is looked for in the program's folder, where Python finds it when the program
    is run, and in the folder that holds its package. Installed packages are not looked into.

    Args:
      paths: the programs. Folders are passed over: all their modules are processed anyway.
      exclude: `fnmatch` patterns of modules to leave out, with what only they import.

    Returns:
      The modules' paths, without the programs'.
    """
    programs = [path for path in paths if not os.path.isdir(path)]
    visited = {os.path.realpath(path) for path in programs}
    patterns = tuple(exclude)
    modules: list[str] = []
    for program in programs:
        folder = os.path.dirname(program)
        roots = list(dict.fromkeys([folder, _above_packages(folder)]))
        waiting = [program]
        while waiting:
            path = waiting.pop(0)
            for candidate in map(os.path.normpath, _imported_by(path, roots)):
                if (
                    os.path.isfile(candidate)
                    and os.path.realpath(candidate) not in visited
                    and not is_excluded(candidate, patterns)
                ):
                    visited.add(os.path.realpath(candidate))
                    modules.append(candidate)
                    waiting.append(candidate)
    return modules


def _above_packages(folder: str) -> str:
    """Returns the folder above the outermost package that a folder belongs to."""
    while os.path.isfile(os.path.join(folder, "__init__.py")):
        folder = os.path.join(folder, os.pardir)
    return folder


def _imported_by(path: str, roots: Iterable[str]) -> Iterator[str]:
    """Yields the files that a module's imports may mean; most do not exist."""
    for node in ast.walk(_parse(path)):
        if isinstance(node, ast.Import):
            for alias in node.names:
                for root in roots:
                    yield from _files_of(root, alias.name.split("."))
        elif isinstance(node, ast.ImportFrom):
            names = node.module.split(".") if node.module else []
            base = os.path.dirname(path)
            for _ in range(node.level - 1):
                base = os.path.join(base, os.pardir)
            for root in [base] if node.level else roots:
                for alias in node.names:
                    yield from _files_of(root, [*names, alias.name])


def _files_of(folder: str, names: list[str]) -> Iterator[str]:
    """Yields the file of a module, and those of the packages that hold it."""
    for name in names:
        folder = os.path.join(folder, name)
        yield f"{folder}.py"
        yield os.path.join(folder, "__init__.py")


def _parse(path: str) -> ast.Module:
    """Returns a module's syntax tree; an empty one if `check` calls the file unreadable."""
    try:
        source = read_notebook_source(path) if is_notebook(path) else read_source(path)
        return ast.parse(source.text)
    except (OSError, UnreadableError, SyntaxError, ValueError, RecursionError, MemoryError):
        return ast.Module([], [])
