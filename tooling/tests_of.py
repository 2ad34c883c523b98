"""Names the files of tests that cover a file of the library: `make tests-of FILE=...`.

A file of tests covers a module if it imports it, or if it mentions a public name that no other
module defines. `estimator_bridge/data/rows.py` is besides covered by `tests/data/test_rows.py`.
If nothing names the module, the tests of its package are named.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def public_names(path: Path) -> set[str]:
    """Returns the functions and classes that a module defines for others."""
    body = ast.parse(path.read_text(encoding="utf-8")).body
    return {
        node.name
        for node in body
        if isinstance(node, _DEFINITIONS) and not node.name.startswith("_")
    }


def names_of_its_own(path: Path, top: Path) -> set[str]:
    """Returns the public names that no other module below `top` defines."""
    others = (public_names(other) for other in top.rglob("*.py") if other != path)
    return public_names(path).difference(*others)


def imports_of(path: Path) -> Iterator[str]:
    """Yields the dotted names that a file imports; `from a import b` counts as a and a.b."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def tests_of(file: str, root: Path = ROOT) -> list[str]:
    """Returns the files of tests that cover a module, relative to the root, sorted.

    Args:
        file: The module's path, absolute or relative to `root`.
        root: The folder of the repository.

    Raises:
        FileNotFoundError: There is no such module.
    """
    path = (root / file).resolve()
    if path.suffix != ".py" or not path.is_file():
        raise FileNotFoundError(
            f"no module at {file}: name a file such as models/common/registry.py"
        )
    parts = path.relative_to(root).with_suffix("").parts
    module = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
    own = names_of_its_own(path, root / parts[0])
    mentions = re.compile(rf"\b({'|'.join(map(re.escape, sorted(own)))})\b") if own else None
    covering = set()
    files = sorted((root / "tests").rglob("test_*.py"))
    for test in files:
        is_namesake = test.name == f"test_{parts[-1]}.py" and parts[-2:-1] == (test.parent.name,)
        text = test.read_text(encoding="utf-8")
        if is_namesake or module in set(imports_of(test)) or (mentions and mentions.search(text)):
            covering.add(test)
    if not covering and len(parts) > 2:
        covering = {test for test in files if parts[1] in test.relative_to(root).parts}
    return [test.relative_to(root).as_posix() for test in sorted(covering)]


if __name__ == "__main__":
    try:
        print(*tests_of(sys.argv[1]), sep="\n")
    except FileNotFoundError as error:
        sys.exit(f"tests-of: {error}")
