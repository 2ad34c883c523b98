"""Finds the line of the user's program behind a node or an error."""

from __future__ import annotations

import functools
import importlib.util
import linecache
import os
import re
import sysconfig
import traceback
from collections.abc import Iterable
from typing import Any

import tensorflow as tf

from estimator_bridge.tf_contrib.package import LIBRARY_FOLDERS

__all__ = ["is_library_file", "line_of_error", "line_of_forward", "line_of_node", "shown_path"]

_PYTHON = sysconfig.get_path("stdlib") + os.sep
# 'gradients/dense/MatMul_grad/MatMul_1', and GradientTape's 'gradient_tape/dense/MatMul'.
_GRADIENT = re.compile(
    r"(?:.*/)?(?:gradients(?:_\d+)?/(?P<of>.+)_grad/|gradient_tape/(?P<tape>.+)/)"
)
_LIBRARIES = ("tensorflow", "tf_keras", "keras", "absl", "numpy", "six")


def line_of_node(graph: tf.Graph, name: str) -> str | None:
    """Returns the user's line that made an operation.

    Args:
      graph: the traced graph.
      name: name of an operation, or of a node that was made from one and is named below it.

    Returns:
      'file:line: code'; None if no frame is the user's.
    """
    while name:
        try:
            return _last_user_line(graph.get_operation_by_name(name).traceback)
        except (KeyError, ValueError):
            name = name.rpartition("/")[0]
    return None


def line_of_forward(graph: tf.Graph, name: str) -> str | None:
    """Returns ``line_of_node``, but for a gradient operation the line of the forward operation.

    The line of all gradients is the one that calls the optimizer, which does not help a user.
    """
    forward = _GRADIENT.match(name)
    if forward:
        inner = forward["of"] or forward["tape"]
        while inner:
            try:
                graph.get_operation_by_name(inner)
                return line_of_node(graph, inner)
            except (KeyError, ValueError):
                inner = inner.rpartition("/")[0]
    return line_of_node(graph, name)


def line_of_error(error: BaseException) -> str | None:
    """Returns the innermost user line in an error's traceback, formatted as ``line_of_node``."""
    return _last_user_line(traceback.extract_tb(error.__traceback__))


def _last_user_line(frames: Iterable[Any]) -> str | None:
    for frame in reversed(list(frames)):
        if not is_library_file(frame.filename):
            code = linecache.getline(frame.filename, frame.lineno).strip()
            return f"{shown_path(frame.filename)}:{frame.lineno}: {code}".rstrip(": ")
    return None


def is_library_file(path: str) -> bool:
    """Whether a file belongs to Python, to this library or to one below a program."""
    in_python = path.startswith(_PYTHON) and "-packages" not in path
    return in_python or path.startswith((*LIBRARY_FOLDERS, "<frozen", "<__", *_library_places()))


@functools.cache
def _library_places() -> tuple[str, ...]:
    """Returns the folders of the libraries below a program, wherever they are installed.

    A folder's name tells nothing: `pip install --target` takes any, and users have projects whose
    paths contain "tensorflow".
    """
    places = set()
    for name in _LIBRARIES:
        try:
            spec = importlib.util.find_spec(name)
        except (ImportError, ValueError):  # a module that a program put into sys.modules itself
            continue
        if spec is None or spec.origin is None:
            continue
        # A package's __init__.py, in a folder or an archive; or a module of one file.
        place = os.path.dirname(spec.origin) + os.sep
        place = place if spec.submodule_search_locations else spec.origin
        places |= {place, os.path.realpath(place) + os.sep * place.endswith(os.sep)}
    return tuple(sorted(places))


def shown_path(path: str) -> str:
    """Returns a path relative to the working directory if it is below it."""
    working_dir = os.getcwd() + os.sep
    return path[len(working_dir) :] if path.startswith(working_dir) else path
