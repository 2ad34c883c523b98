"""The files of a repository, read and parsed once for all rules."""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Iterator
from pathlib import Path

_WRITTEN_BY_TOOLS = re.compile(
    r"\.git|\.venv(-\w+)?|\.hypothesis|build|dist|runs|site|__pycache__|\..*_cache|.*\.egg-info"
)


class Tree:
    """A repository's files, without those that tools write into it.

    Attributes:
        root: The repository's folder.
        text: Returns a file's text.
        syntax: Returns a module's syntax tree.
        nodes: Returns all nodes of it.
        imports: Returns the lines and the absolute names of a module's imports. `from a import b`
            counts as `a.b`, and imports within functions count too.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        # Rules share what was read and parsed.
        self.text = functools.cache(self._text)
        self.syntax = functools.cache(self._syntax)
        self.nodes = functools.cache(self._nodes)
        self.imports = functools.cache(self._imports)

    @functools.cached_property
    def files(self) -> list[Path]:
        """All files, relative to the root, sorted."""
        return sorted(self._below(self.root))

    def _below(self, folder: Path) -> Iterator[Path]:
        for path in folder.iterdir():
            if _WRITTEN_BY_TOOLS.fullmatch(path.name):
                continue
            if path.is_dir():
                yield from self._below(path)
            elif path.is_file():
                yield path.relative_to(self.root)

    def modules(self, *folders: str) -> list[Path]:
        """Returns the modules in some folders at the root, or everywhere."""
        return [
            path
            for path in self.files
            if path.suffix == ".py" and (not folders or path.parts[0] in folders)
        ]

    def _text(self, path: Path) -> str:
        return (self.root / path).read_text(encoding="utf-8")

    def _syntax(self, path: Path) -> ast.Module:
        return ast.parse(self.text(path), str(path))

    def _nodes(self, path: Path) -> list[ast.AST]:
        return list(ast.walk(self.syntax(path)))

    def _imports(self, path: Path) -> list[tuple[int, str]]:
        package = path.parent.parts
        names: list[tuple[int, str]] = []
        for node in self.nodes(path):
            if isinstance(node, ast.Import):
                names += [(node.lineno, alias.name) for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                base = package[: len(package) - node.level + 1] if node.level else ()
                prefix = ".".join([*base, *filter(None, [node.module])])
                names += [(node.lineno, f"{prefix}.{alias.name}") for alias in node.names]
        return names


def dotted(path: Path) -> str:
    """Returns a module's name; that of a package for its `__init__.py`."""
    return ".".join(path.with_suffix("").parts).removesuffix(".__init__")
