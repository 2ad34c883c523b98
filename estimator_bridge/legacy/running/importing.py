"""The `import` statement of a program's modules, which depends on their TensorFlow dialect.

A module's imports call ``__builtins__["__import__"]`` of its namespace. The program's modules get
builtins with the function made here; all other modules keep Python's.
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
from estimator_bridge.legacy.running.guarded_imports import is_guarded
from estimator_bridge.legacy.running.missing_name_messages import missing_name_message
from estimator_bridge.legacy.running.missing_name_stubs import MissingNameStub
from estimator_bridge.legacy.tf1.private_modules import (
    moved_module,
    moved_name,
    with_old_names,
)

__all__ = ["are_of_program", "builtins_for"]

_ROOT = "tensorflow"
# Folders of TensorFlow, whose modules are not all attributes of TF1's tf.
_FILES = ("python", "core", "compiler", "tools", "contrib", "lite.python", "examples")


def builtins_for(dialect: Dialect) -> dict[str, Any]:
    """Returns the builtins for the program's modules of a dialect."""
    if dialect not in _builtins:
        _builtins[dialect] = {
            **vars(builtins),
            **bridges.BUILTINS,
            "__import__": _import_function(dialect),
        }
    return _builtins[dialect]


_builtins: dict[Dialect, dict[str, Any]] = {}


def are_of_program(frame_builtins: dict[str, Any]) -> bool:
    """Returns whether a frame's builtins are those of a module of the program."""
    return any(frame_builtins is each for each in _builtins.values())


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
            bridge = bridges.prepare(name)
            if bridge is not None:
                return bridge
        return builtins.__import__(name, globals, locals, fromlist, level)

    return program_import


def _import_tensorflow(name: str, fromlist: tuple[str, ...], dialect: Dialect) -> Any:
    importlib.import_module(_ROOT)  # the finder prepares it
    top = _top(dialect)
    try:
        module = _resolve(name, dialect)
        if isinstance(module, MissingNameStub):  # left by an earlier import
            module = _missing(name, None)
    except (MissingImportError, ModuleNotFoundError) as error:
        if not (error.name or "").startswith(_ROOT):
            raise  # the missing package is one that TensorFlow needs
        module = _missing(name, error)
        if not fromlist:
            _hang(module)
    if not fromlist:
        return top
    if fromlist == ("*",):
        return module
    replacements = {}
    for attribute in fromlist:
        value = _name_of(module, f"{name}.{attribute}", dialect)
        if value is not getattr(module, attribute, _nothing):
            replacements[attribute] = value
    return _with(module, replacements) if replacements else module


_nothing = object()


def _top(dialect: Dialect) -> ModuleType:
    if dialect is Dialect.TF1:
        from estimator_bridge.legacy.tf1.changes import tensorflow_1

        return tensorflow_1()
    return sys.modules[_ROOT]


def _resolve(name: str, dialect: Dialect) -> Any:
    """Returns the module of a full name, as the dialect defines it."""
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
        # Some modules of packages such as tf.keras are not attributes of them.
        try:
            return importlib.import_module(f"{_ROOT}.compat.v1.{below}")
        except ModuleNotFoundError:
            pass
    return importlib.import_module(name)


def _name_of(module: Any, full_name: str, dialect: Dialect) -> Any:
    """Returns the result of `from module import name`; a placeholder if it does not exist."""
    try:
        return moved_name(full_name)
    except AttributeError:
        pass
    if isinstance(module, MissingNameStub):
        return _missing(full_name, None)
    new_module = moved_module(full_name)
    if new_module is not None:
        return new_module
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


def _missing(name: str, error: Exception | None) -> MissingNameStub:
    """Returns a placeholder for a name; raises if the program handles an ImportError."""
    frame = sys._getframe(1)
    while frame.f_globals.get("__name__", "").startswith("estimator_bridge.legacy.running"):
        assert frame.f_back is not None  # the caller is a module of the program
        frame = frame.f_back
    message = missing_name_message(name, error)
    if is_guarded(frame.f_code.co_filename, frame.f_lineno):
        raise MissingImportError(message, name=name)
    return MissingNameStub(message, name)


def _hang(placeholder: MissingNameStub) -> None:
    """Registers a placeholder so that `import a.b.c as d` finds it.

    That statement looks up one attribute after the other; if one is missing, it uses sys.modules
    with the parent's ``__name__``.
    """
    name, message = placeholder.__dict__["__name__"], placeholder.__dict__["_message"]
    while name != _ROOT and name not in sys.modules:
        sys.modules[name] = MissingNameStub(message, name)  # type: ignore[assignment]
        name = name.rpartition(".")[0]


def _with(module: Any, values: dict[str, Any]) -> ModuleType:
    """Returns a module as the `from` of one import statement sees it."""
    view = ModuleType(getattr(module, "__name__", _ROOT))
    view.__getattr__ = lambda name: getattr(module, name)  # type: ignore[method-assign]
    vars(view).update(values)
    return view
