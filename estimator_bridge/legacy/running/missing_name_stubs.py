"""Placeholders for missing names that an import asked for; they fail when used."""

from __future__ import annotations

import sys
from types import CodeType
from typing import Any, NoReturn

from estimator_bridge.errors import MissingNameError
from estimator_bridge.tf_contrib.package import LIBRARY_FOLDERS

__all__ = ["MissingNameStub", "calling_line"]

_OPERATIONS = (
    "__call__", "__iter__", "__len__", "__getitem__", "__contains__", "__enter__", "__exit__",
    "__mro_entries__", "__instancecheck__", "__subclasscheck__", "__add__", "__mul__",
    "__float__", "__int__", "__index__", "__bool__",
)  # fmt: skip


class MissingNameStub:
    """The result of `from tensorflow.contrib import name` if the name does not exist.

    The import succeeds, because the program may never use the name; any use of it raises.

    Args:
      message: the error message, with what to use instead.
      name: the full name.
    """

    def __init__(self, message: str, name: str):
        self.__dict__.update(_message=message, __name__=name)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name.endswith("__"):  # lookups by Python itself
            raise AttributeError(name)
        self._fail()

    def __setattr__(self, name: str, value: Any) -> None:
        self._fail()

    def __repr__(self) -> str:
        return f"<not supported: {self.__dict__['_message']}>"

    def _fail(self, *unused_args: Any, **unused_kwargs: Any) -> NoReturn:
        raise MissingNameError(
            f"{calling_line()}: {self.__dict__['_message']}", name=self.__dict__["__name__"]
        )


for _operation in _OPERATIONS:
    setattr(MissingNameStub, _operation, MissingNameStub._fail)


def calling_line() -> str:
    """Returns the program's position as 'file:line': the first frame outside this library."""
    frame = sys._getframe(1)
    while frame.f_back is not None and _is_ours(frame.f_code):
        frame = frame.f_back
    return f"{frame.f_code.co_filename}:{frame.f_lineno}"


def _is_ours(code: CodeType) -> bool:
    return code.co_filename.startswith((*LIBRARY_FOLDERS, "<frozen importlib"))
