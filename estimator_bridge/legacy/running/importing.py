"""The `import` statement of a program's modules: it knows which TensorFlow they mean.

A module's imports go through ``__builtins__["__import__"]`` of its own namespace. The program's
modules get builtins with the function made here; all other modules keep Python's.
"""

from __future__ import annotations

import builtins
import importlib
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

from estimator_bridge.errors import MissingImportError
from estimator_bridge.legacy.running import bridges
from estimator_bridge.legacy.running.dialects import Dialect
from estimator_bridge.legacy.running.gone import what_is_said_of
from estimator_bridge.legacy.running.guards import is_guarded
from estimator_bridge.legacy.running.placeholders import Placeholder
from estimator_bridge.legacy.tf1.privates import moved_module, with_old_names

__all__ = ["are_of_program", "builtins_for"]

_ROOT = "tensorflow"
# What TF1's tf has no attributes for, or whose attributes are not all: files of TensorFlow.
_FILES = ("python", "core", "compiler", "tools", "contrib", "lite.python", "examples")


def builtins_for(dialect: Dialect) -> dict[str, Any]:
    """The builtins of the program's modules that are written in a dialect."""
    if dialect not in _builtins:
        _builtins[dialect] = {
            **vars(builtins),
            **bridges.BUILTINS,
            "__import__": _import_function(dialect),
        }
    return _builtins[dialect]


_builtins: dict[Dialect, dict[str, Any]] = {}


def are_of_program(found: dict[str, Any]) -> bool:
    """Whether builtins, as a frame has them, are those of a module of the program."""
    return any(found is given for given in _builtins.values())


def _import_function(dialect: Dialect) -> Callable[..., Any]:
    def program_import(
        name: str,
        globals: Any = None,
        locals: Any = None,
        fromlist: Any = (),
        level: int = 0,
    ) -> Any:
        if level == 0:
            top = name.partition(".")[0]
            if top == _ROOT:
                return _import_tensorflow(name, tuple(fromlist or ()), dialect)
            bridged = bridges.prepare(name)
            if bridged is not None:
                return bridged
        return builtins.__import__(name, globals, locals, fromlist, level)

    return program_import


def _import_tensorflow(name: str, fromlist: tuple[str, ...], dialect: Dialect) -> Any:
    importlib.import_module(_ROOT)  # the finder gets it ready
    top = _top(dialect)
    try:
        module = _resolve(name, dialect)
        if isinstance(module, Placeholder):  # that an earlier import has left
            module = _missing(name, None)
    except (MissingImportError, ModuleNotFoundError) as error:
        if not (error.name or "").startswith(_ROOT):
            raise  # what is missing is a package that TensorFlow needs
        module = _missing(name, error)
        if not fromlist:
            _hang(module)
    if not fromlist:
        return top
    if fromlist == ("*",):
        return module
    given = {}
    for wanted in fromlist:
        found = _name_of(module, f"{name}.{wanted}", dialect)
        if found is not getattr(module, wanted, _nothing):
            given[wanted] = found
    return _with(module, given) if given else module


_nothing = object()


def _top(dialect: Dialect) -> ModuleType:
    if dialect is Dialect.TF1:
        from estimator_bridge.legacy.tf1.changes import tensorflow_1

        return tensorflow_1()
    return sys.modules[_ROOT]


def _resolve(name: str, dialect: Dialect) -> Any:
    """The module of a full name, as a module of the dialect means it."""
    if name == _ROOT:
        return _top(dialect)
    below = name[len(_ROOT) + 1 :]
    if f"{below}.".startswith("python."):
        return moved_module(name) or with_old_names(importlib.import_module(name))
    if dialect is Dialect.TF1 and not f"{below}.".startswith(tuple(f"{f}." for f in _FILES)):
        module: Any = _top(dialect)
        for part in below.split("."):
            module = getattr(module, part, None)
        if module is not None:
            return module
        # tf.keras and others are packages whose attributes are not all of their modules.
        try:
            return importlib.import_module(f"{_ROOT}.compat.v1.{below}")
        except ModuleNotFoundError:
            pass
    return importlib.import_module(name)


def _name_of(module: Any, full_name: str, dialect: Dialect) -> Any:
    """What `from module import name` gives; a placeholder where there is nothing."""
    if isinstance(module, Placeholder):
        return _missing(full_name, None)
    moved = moved_module(full_name)
    if moved is not None:
        return moved
    try:
        return with_old_names(getattr(module, full_name.rpartition(".")[2]))
    except AttributeError as error:
        reason: Exception = error
    try:
        return _resolve(full_name, dialect)
    except MissingImportError as error:
        reason = error
    except ModuleNotFoundError as error:
        if error.name != full_name and not full_name.startswith(f"{error.name}."):
            raise
    return _missing(full_name, reason)


def _missing(name: str, error: Exception | None) -> Placeholder:
    """A placeholder for a name; raises where the program is ready for an ImportError."""
    frame = sys._getframe(1)
    while frame.f_globals.get("__name__", "").startswith("estimator_bridge.legacy.running"):
        assert frame.f_back is not None  # a program's module has called
        frame = frame.f_back
    message = what_is_said_of(name, error)
    if is_guarded(frame.f_code.co_filename, frame.f_lineno):
        raise MissingImportError(message, name=name)
    return Placeholder(message, name)


def _hang(placeholder: Placeholder) -> None:
    """Puts a placeholder where `import a.b.c as d` looks: it takes one attribute after the other.

    Where there is none, it takes what sys.modules has by the parent's ``__name__``.
    """
    name, message = placeholder.__dict__["__name__"], placeholder.__dict__["_message"]
    while name != _ROOT and name not in sys.modules:
        sys.modules[name] = Placeholder(message, name)  # type: ignore[assignment]
        name = name.rpartition(".")[0]


def _with(module: Any, given: dict[str, Any]) -> ModuleType:
    """A module as the `from` of one import statement sees it."""
    seen = ModuleType(getattr(module, "__name__", _ROOT))
    seen.__getattr__ = lambda name: getattr(module, name)  # type: ignore[method-assign]
    vars(seen).update(given)
    return seen
