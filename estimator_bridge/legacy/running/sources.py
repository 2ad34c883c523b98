"""Finds the modules of a program, and the TensorFlow that each of them means."""

from __future__ import annotations

import ast
import functools
import glob
import os
import re
import site
import sys
import sysconfig
from collections.abc import Iterator, Sequence

from estimator_bridge.base.any_files import open_bytes
from estimator_bridge.legacy.running.default_graph import signs_of
from estimator_bridge.legacy.running.dialects import Verdict, imports_tensorflow, judge
from estimator_bridge.legacy.running.notebooks import (
    NotebookError,
    is_notebook,
    read_notebook,
)
from estimator_bridge.legacy.running.zipped import zipped_source

__all__ = [
    "FOREIGN",
    "STANDARD",
    "default_graph_reason",
    "is_installed",
    "mentions_tensorflow",
    "module_verdict",
    "program_files",
    "program_verdict",
    "source_of",
]

# Packages that know which TensorFlow they run on, whatever their source looks like.
_FOREIGN = """
    absl astunparse estimator_bridge estimator_bridge_contrib flatbuffers gast google grpc h5py jax
    jaxlib keras libclang markdown matplotlib ml_dtypes namex numpy opt_einsum optree packaging
    pandas pip pkg_resources PIL pytest rich scipy setuptools six sklearn tensorboard
    tensorboard_data_server tensorflow tensorflow_addons tensorflow_datasets tensorflow_estimator
    tensorflow_hub tensorflow_io tensorflow_probability tensorflow_text termcolor tf_keras torch
    transformers typing_extensions urllib3 werkzeug wheel wrapt yaml
"""
FOREIGN = frozenset(_FOREIGN.split())

STANDARD = frozenset(getattr(sys, "stdlib_module_names", sys.builtin_module_names))

_INSTALLED = ("site-packages", "dist-packages")
_MOST_FILES = 60
# Limit before any TF2 program starts; the search above ends at the first conclusive file.
_NEAREST_FILES = 20


def _python_folders() -> tuple[str, ...]:
    paths = sysconfig.get_paths()
    folders = [paths[name] for name in ("stdlib", "platstdlib", "purelib", "platlib")]
    folders += site.getsitepackages() if hasattr(site, "getsitepackages") else []
    return tuple(os.path.join(os.path.realpath(folder), "") for folder in folders)


_FOLDERS = _python_folders()


def is_installed(path: str) -> bool:
    """Returns whether a file belongs to Python or an installed package, not to the program.

    `pip install --target` takes any folder, also the program's own: there, the records that pip
    writes list what belongs to packages.
    """
    path = os.path.realpath(path)
    if path.startswith(_FOLDERS) or any(part in path.split(os.sep) for part in _INSTALLED):
        return True
    folders = (os.path.join(os.path.realpath(entry), "") for entry in sys.path)
    return any(
        path[len(folder) :].partition(os.sep)[0] in _recorded_names(folder)
        for folder in folders
        if path.startswith(folder)
    )


@functools.cache
def _recorded_names(folder: str) -> frozenset[str]:
    """Returns the files and folders of a folder that pip installed there."""
    names = set()
    for record in glob.glob(os.path.join(glob.escape(folder), "*.dist-info", "RECORD")):
        try:
            with open(record, encoding="utf-8", errors="replace") as file:
                names |= {re.split("[/,]", line, maxsplit=1)[0] for line in file}
        except OSError:  # removed, or not readable: its package counts as the program's
            continue
    return frozenset(names - {"..", "__pycache__", ""})


def module_verdict(path: str) -> Verdict:
    """Judges a file.

    Args:
      path: the path of a module's source.

    Returns:
      The verdict of `judge`; without a dialect if the file cannot be read.
    """
    return judge(source_of(path))


def program_verdict(path: str, *folders: str) -> Verdict:
    """Judges a program by its main file, then by its imports from the program's folders.

    Args:
      path: the main file.
      *folders: the folders to search for its imports.

    Returns:
      The verdict of the nearest conclusive file; its reason names the file.
    """
    for file, source in program_files(path, folders):
        verdict = judge(source)
        if verdict.dialect is not None:
            return Verdict(verdict.dialect, f"{os.path.basename(file)}: {verdict.reason}")
    return Verdict(None, "no module uses a name that decides")


def default_graph_reason(path: str, *folders: str) -> str:
    """Returns the sign that a program of tensorflow.compat.v1 relies on TensorFlow 1's behavior.

    Args:
      path: the main file.
      *folders: the folders to search for its imports.

    Returns:
      The nearest sign, with its file and line; "" if there is none, or if a module of the program
      makes the choice itself.
    """
    reason = ""
    for file, source in program_files(path, folders, _NEAREST_FILES):
        signs = signs_of(source)
        if signs.is_explicit:
            return ""
        if signs.line and not reason:
            reason = f"{os.path.basename(file)}: {signs.what} in line {signs.line}"
    return reason


def program_files(
    path: str, folders: Sequence[str], most: int = _MOST_FILES
) -> Iterator[tuple[str, bytes]]:
    """Yields a program's files with their sources: the main one, then what each imports."""
    waiting, visited = [path], {path}
    while waiting and len(visited) <= most:
        file = waiting.pop(0)
        source = source_of(file)
        yield file, source
        for local_file in _local_imports(source, folders, os.path.dirname(file)):
            if local_file not in visited:
                visited.add(local_file)
                waiting.append(local_file)


def mentions_tensorflow(path: str) -> bool:
    """Returns whether a file may import TensorFlow."""
    return imports_tensorflow(source_of(path))


def source_of(path: str) -> bytes:
    """Returns the source of a file or of a notebook's cells; empty if it cannot be read."""
    try:
        if is_notebook(path):
            return read_notebook(path).source.encode()
        with open_bytes(path) as file:
            return file.read()
    except NotADirectoryError:
        return zipped_source(path) or b""
    except (OSError, NotebookError):
        return b""


def _local_imports(source: bytes, folders: Sequence[str], package: str) -> Iterator[str]:
    """Yields the files in the program's folders that a source imports, judging by their paths."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names, bases = [alias.name for alias in node.names], folders
        elif isinstance(node, ast.ImportFrom):
            names = [".".join(filter(None, (node.module, alias.name))) for alias in node.names]
            names += [node.module] if node.module else []
            bases = folders
            if node.level:
                above = [os.pardir] * (node.level - 1)
                bases = [os.path.normpath(os.path.join(package, *above))]
        else:
            continue
        for name in names:
            if bases is not folders or name.partition(".")[0] not in FOREIGN:
                yield from _files_of(name, bases)


def _files_of(name: str, folders: Sequence[str]) -> Iterator[str]:
    for folder in folders:
        stem = os.path.join(folder, *name.split("."))
        files = [f for f in (f"{stem}.py", os.path.join(stem, "__init__.py")) if os.path.isfile(f)]
        if files:
            yield from files
            return
