"""Names of Python 2 that late Python 2 programs use without checking the version."""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable
from types import ModuleType
from typing import Any

__all__ = ["BUILTINS", "MODULES"]

BUILTINS: dict[str, Any] = {
    "basestring": str,
    "long": int,
    "raw_input": input,
    "reduce": functools.reduce,
    "unichr": chr,
    "unicode": str,
    "xrange": range,
}


def _join(name: str, *places: str) -> Callable[[], ModuleType]:
    """Returns a factory of a module with the public names of several modules."""

    def make() -> ModuleType:
        module = ModuleType(name, f"Stands in for Python 2's module {name}.")
        for place in reversed(places):
            source = importlib.import_module(place)
            vars(module).update({k: v for k, v in vars(source).items() if not k.startswith("__")})
        return module

    return make


MODULES: dict[str, Callable[[], ModuleType]] = {
    "ConfigParser": _join("ConfigParser", "configparser"),
    "HTMLParser": _join("HTMLParser", "html.parser"),
    "Queue": _join("Queue", "queue"),
    "StringIO": _join("StringIO", "io"),
    "__builtin__": _join("__builtin__", "builtins"),
    "cPickle": _join("cPickle", "pickle"),
    "cStringIO": _join("cStringIO", "io"),
    "commands": _join("commands", "subprocess"),
    "urllib2": _join("urllib2", "urllib.request", "urllib.error"),
    "urlparse": _join("urlparse", "urllib.parse"),
}
