"""Finds the private names of tf.contrib that a test uses, from its source.

A name is public if programs reach it through tf.contrib without the path of a file, as
``public.json`` lists them, or if it is public in another namespace. A name of one of the
modules that only tests import is public too.
"""

from __future__ import annotations

import ast
import functools
import json
from collections.abc import Iterator
from pathlib import Path

from parity.contrib.files import ROOT, SUPPORT
from parity.contrib.public import PATH
from parity.harness.privates import Privates, Source, private_names

__all__ = ["contrib_private_names"]

_TOP = "tensorflow.contrib."


def contrib_private_names(path: Path, checkout: Path) -> Privates:
    """Reads a test file of a checkout."""
    return private_names(path, lambda tree: _ContribSource(tree, checkout))


class _ContribSource(Source):
    def __init__(self, tree: ast.Module, checkout: Path):
        self._folder = checkout / ROOT
        self._modules: dict[str, str] = {}  # local name -> module below tensorflow.contrib
        self._objects: dict[str, str] = {}  # local name -> private object
        super().__init__(tree)
        for local, full in self.tensorflow.items():
            if full.startswith(_TOP):
                self._add_contrib(local, full[len(_TOP) :])

    def _add_contrib(self, local: str, below: str) -> None:
        place = self._folder.joinpath(*below.split("."))
        if place.is_dir() or place.with_suffix(".py").is_file():
            self._modules[local] = below
        elif "." in below and not _is_public(*below.rsplit(".", 1)):
            self._objects[local] = below

    def privates(self, node: ast.AST) -> Iterator[str]:
        """Yields the private names in one definition."""
        yield from super().privates(node)
        for part in ast.walk(node):
            if isinstance(part, ast.Name) and part.id in self._objects:
                yield self._objects[part.id]
            elif isinstance(part, ast.Attribute) and isinstance(part.value, ast.Name):
                module = self._modules.get(part.value.id, "")
                if module and not _is_public(module, part.attr):
                    yield f"{module}.{part.attr}"


def _is_public(module: str, name: str) -> bool:
    if name.startswith("_"):
        return False
    if module in SUPPORT or not (module or "").strip("."):
        return True
    names_of_namespace, every = _public()
    namespace = module.partition(".")[0]
    return name in names_of_namespace.get(namespace, ()) or name in every or name == "python"


@functools.cache
def _public() -> tuple[dict[str, set[str]], set[str]]:
    table = {k: set(v.split()) for k, v in json.loads(PATH.read_text(encoding="utf-8")).items()}
    # contrib.slim and contrib.layers, for example, are made of names of other namespaces' files.
    shared = {name for namespace in ("framework", "layers", "lookup") for name in table[namespace]}
    return table, shared
