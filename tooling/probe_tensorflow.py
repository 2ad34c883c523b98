"""Reports each private name, attribute or behavior of TensorFlow that a release has changed.

    python -m tooling.probe_tensorflow

It tries each import of `estimator_bridge.tensorflow_private` separately, then each of its functions
and classes on small objects, and writes a line for each failure. The exit status is 1 if there is
one.
"""

from __future__ import annotations

import ast
import importlib
import sys
from collections.abc import Iterator
from pathlib import Path

import estimator_bridge  # noqa: F401 - before TensorFlow, for Keras 2

__all__ = ["broken", "imported_names", "main", "offered_names"]

PACKAGE = Path(__file__).resolve().parents[1] / "estimator_bridge" / "tensorflow_private"


def imported_names() -> dict[str, tuple[str, str]]:
    """Returns the module and the name of each private import, by its local name."""
    names = {}
    for path in sorted(PACKAGE.glob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and str(node.module).startswith("tensorflow."):
                for name in node.names:
                    names[name.asname or name.name] = (str(node.module), name.name)
    return names


def offered_names() -> set[str]:
    """Returns the names that the modules of the package offer to the library: their `__all__`."""
    return {
        name
        for path in PACKAGE.glob("*.py")
        for node in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__"
        for name in ast.literal_eval(node.value)
    }


def broken() -> Iterator[str]:
    """Yields a line for each import or behavior that differs from the library's expectation."""
    lines = [line for line in map(_import_fails, imported_names().values()) if line]
    yield from lines
    if lines:
        yield "The imports above come first: nothing else can be probed before they are fixed."
        return
    from tooling import tensorflow_probes

    for names, probe in tensorflow_probes.PROBES.items():
        try:
            probe()
        except Exception as error:
            text = " ".join(str(error).split()) or "it behaves otherwise"
            yield f"{', '.join(names)}: {type(error).__name__}: {text[:200]}"


def _import_fails(place: tuple[str, str]) -> str | None:
    module, name = place
    try:
        loaded_module = importlib.import_module(module)
    except ImportError as error:
        return f"{module}: {error}"
    if hasattr(loaded_module, name):
        return None
    try:
        importlib.import_module(f"{module}.{name}")
    except ImportError:
        return f"{module}.{name}: there is no such name"
    return None


def main() -> int:
    """Writes the failures, or that there are none."""
    import tensorflow as tf

    lines = list(broken())
    print("\n".join(lines) or f"TensorFlow {tf.__version__}: every private name is as expected.")
    return bool(lines)


if __name__ == "__main__":
    sys.exit(main())
