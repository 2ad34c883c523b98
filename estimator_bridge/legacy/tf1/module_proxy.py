"""A module that presents another one with some names changed, without modifying it."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any

from estimator_bridge.base.lazy_namespace import LazyNamespace, loaded_names
from estimator_bridge.errors import MissingNameError

__all__ = ["Changes", "ModuleProxy"]


class Changes:
    """The differences between proxies and the real modules.

    Args:
      own: values by full name ("tensorflow.estimator"): the path of the value
        ("package.module.name"), or a function that makes it.
      missing: the advice for names that no longer exist, by full name.
      wraps: whether a module inside a proxy is also presented by a proxy.
      by_name: returns a proxy by its full name, where it is unpickled.
    """

    def __init__(
        self,
        own: Mapping[str, str | Callable[[], Any]],
        missing: Mapping[str, str],
        wraps: Callable[[str, ModuleType], bool],
        by_name: Callable[[str], ModuleType],
    ):
        self.own, self.missing = own, missing
        self.wraps, self.by_name = wraps, by_name
        self._names: dict[str, list[str]] = {}
        for full_name in own:
            namespace, _, name = full_name.rpartition(".")
            self._names.setdefault(namespace, []).append(name)

    def names(self, namespace: str) -> list[str]:
        """Returns the names that a namespace has in addition to the real module's."""
        return self._names.get(namespace, [])


class ModuleProxy(LazyNamespace):
    """Presents a module. Attributes that a program sets on the proxy do not reach the module.

    Args:
      name: the proxy's full name, which errors use.
      real: the module to present.
      changes: the differences in it and in the modules inside.
    """

    __slots__ = ("_changes", "_real")

    def __init__(self, name: str, real: ModuleType, changes: Changes):
        super().__init__(name, real.__doc__)
        self._real = real
        self._changes = changes
        for attribute in ("__file__", "__path__", "__package__", "__spec__"):
            if hasattr(real, attribute):
                setattr(self, attribute, getattr(real, attribute))

    def __getattr__(self, name: str) -> Any:
        value = self._find(name)
        # Kept, so that a program finds the attributes again that it sets on a namespace.
        setattr(self, name, value)
        return value

    def _find(self, name: str) -> Any:
        full_name = f"{self.__name__}.{name}"
        own = self._changes.own.get(full_name)
        if own is not None:
            return _load(own) if isinstance(own, str) else own()
        try:
            value = getattr(self._real, name)
        except AttributeError:
            advice = self._changes.missing.get(full_name)
            short_name = full_name.replace("tensorflow.", "tf.", 1)
            if advice is None:
                raise AttributeError(
                    f"module {self.__name__!r} has no attribute {name!r}"
                ) from None
            raise MissingNameError(f"{short_name} {advice}", name=name) from None
        if isinstance(value, ModuleType) and self._changes.wraps(full_name, value):
            return ModuleProxy(full_name, value, self._changes)
        return value

    def __reduce__(self) -> tuple[Callable[..., ModuleType], tuple[str, ...]]:
        """Pickles the proxy: by its name, Python would find the real module."""
        return self._changes.by_name, (self.__name__,)

    def __dir__(self) -> list[str]:
        own = self._changes.names(self.__name__)
        return sorted({*dir(self._real), *own, *loaded_names(self)})


def _load(place: str) -> Any:
    module, _, name = place.rpartition(".")
    try:
        return importlib.import_module(place)
    except ModuleNotFoundError as error:
        if error.name != place:  # the missing module is one that the module itself imports
            raise
    return getattr(importlib.import_module(module), name)
