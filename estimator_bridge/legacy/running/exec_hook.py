"""Replaces `exec` while a program runs, so that executed modules get imports of their dialect.

Every tool that runs a file by hand compiles and executes it: runpy, cProfile, pdb, coverage,
launchers, and pytest, which first rewrites the assertions. Only `import` uses the finder.
"""

from __future__ import annotations

import builtins
import os
import sys
from types import CodeType, FrameType
from typing import Any, Callable

__all__ = ["python_exec", "watch_exec"]

# These return the builtins for a namespace about to run a file or a text; None changes nothing.
OfFile = Callable[[str, str, bool, "str | None"], "dict[str, Any] | None"]
OfText = Callable[[bytes, "str | None"], "dict[str, Any] | None"]

python_exec = builtins.exec


def watch_exec(of_file: OfFile, of_text: OfText) -> None:
    """Installs the hook in Python's builtins.

    Args:
      of_file: called with a file's path, the name of its module, whether it runs as ``__main__``,
        and the file that the namespace belongs to, if that is another file.
      of_text: called with source that is executed as text, and the same kind of file.
    """
    _Watched.of_file, _Watched.of_text = staticmethod(of_file), staticmethod(of_text)
    builtins.exec = _Watched


class _Watched:
    """Replaces `exec`.

    A class has no frame on the stack while the code runs, unlike a function: a call runs
    ``__new__``, which returns, and then ``__init__``, which is Python's own `exec`. So tracebacks,
    debuggers, profilers and code that inspects its caller see no difference.
    """

    of_file: OfFile
    of_text: OfText

    def __new__(cls, *args: Any, **kwargs: Any) -> _Watched:
        frame = sys._getframe(1)
        if args and not _executes_its_own(str(frame.f_globals.get("__name__"))):
            explicit_globals = args[1] if len(args) > 1 else kwargs.get("globals")
            debugger = sys.gettrace()
            sys.settrace(None)  # hides this work from the user's tracing
            try:
                cls._prepare(args[0], explicit_globals, frame)
            finally:
                sys.settrace(debugger)
        return object.__new__(cls)

    __init__ = python_exec

    @classmethod
    def _prepare(cls, code: Any, explicit_globals: Any, frame: FrameType) -> None:
        namespace = frame.f_globals if explicit_globals is None else explicit_globals
        if not isinstance(namespace, dict):
            return
        own_builtins = None
        if isinstance(code, (str, bytes)):
            text = code.encode(errors="replace") if isinstance(code, str) else code
            if b"tensorflow" in text:
                owner = namespace.get("__file__") if namespace is frame.f_globals else None
                own_builtins = cls.of_text(text, owner)
        elif isinstance(code, CodeType) and code.co_name == "<module>":
            path = code.co_filename
            if os.path.isfile(path):
                name = getattr(namespace.get("__spec__"), "name", None) or namespace.get("__name__")
                is_main = namespace.get("__name__") in ("__main__", "__mp_main__")
                own_builtins = cls.of_file(path, str(name), is_main, _other_owner(path, namespace))
        if own_builtins is not None:
            namespace["__builtins__"] = own_builtins


_Watched.__name__ = _Watched.__qualname__ = "exec"
_Watched.__module__ = "builtins"
_Watched.__doc__ = python_exec.__doc__


def _executes_its_own(module: str) -> bool:
    """Returns whether a module executes only code that is not the program's.

    Python's import is such a module: the finder prepares what it executes. TensorFlow's modules
    are too: they execute wrappers of operations during their import.
    """
    return module == "importlib._bootstrap" or module.partition(".")[0] == "tensorflow"


def _other_owner(path: str, namespace: dict[str, Any]) -> str | None:
    """Returns the file that a namespace belongs to; None if that is the file about to run."""
    file = namespace.get("__file__")
    if "__builtins__" not in namespace or file is None:
        return None
    return None if os.path.realpath(file) == os.path.realpath(path) else file
