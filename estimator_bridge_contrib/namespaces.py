"""The namespaces of tf.contrib, read from the tables of names."""

from __future__ import annotations

import importlib
import operator
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.machinery import PathFinder
from types import ModuleType
from typing import Any

from estimator_bridge.base.lazy_namespace import loaded_names, make_lazy
from estimator_bridge.base.missing_names import missing_getattr
from estimator_bridge_contrib.names import NAMES
from estimator_bridge_contrib.unsupported import UNSUPPORTED

__all__ = ["NAMESPACES", "Namespace", "read_tables"]

# The values that a namespace's file takes from here: its names, and a lazy module's functions.
Opened = tuple[list[str], Callable[[str], Any], Callable[[], list[str]]]


@dataclass(frozen=True)
class Namespace:
    """A namespace of tf.contrib, whose names are loaded on first use.

    Attributes:
      name: its name below tf.contrib, as "layers" or "losses.metric_learning".
      module: the full name of the namespace's module.
      places: by public name, the path of the object, as "package.module:name".
      unsupported: by missing name, the advice.
    """

    name: str
    module: str
    places: Mapping[str, str]
    unsupported: Mapping[str, str]

    @property
    def names(self) -> list[str]:
        """The public names, sorted; with tf_slim installed, slim has others."""
        return sorted(self.places)

    def load(self) -> ModuleType:
        """Imports the namespace's module."""
        return importlib.import_module(self.module)

    def opened(self) -> Opened:
        """Returns the ``__all__``, ``__getattr__`` and ``__dir__`` of the namespace's file."""
        make_lazy(self.module)
        fail = missing_getattr(self.module, self.unsupported, f"tf.contrib.{self.name}")

        def __getattr__(name: str) -> Any:
            if name in self.places:
                return self.find(name)
            if not name.startswith("_") and self._has_file(name):
                return importlib.import_module(f"{self.module}.{name}")
            return fail(name)

        return self.names, __getattr__, lambda: self.names

    def find(self, name: str) -> Any:
        """Returns the object of one of the names."""
        place, _, path = self.places[name].partition(":")
        module = importlib.import_module(place)
        # It may be a submodule, not a name of the file.
        if place == self.module and path not in loaded_names(module):
            return importlib.import_module(f"{place}.{path}")
        return operator.attrgetter(path)(module)

    def _has_file(self, name: str) -> bool:
        """Returns whether the namespace has a module of that name, as layers.initializers."""
        folders = loaded_names(sys.modules[self.module]).get("__path__", [])
        return PathFinder.find_spec(f"{self.module}.{name}", folders) is not None


def read_tables(
    package: str,
    names: Mapping[str, Mapping[str, str]],
    unsupported: Mapping[str, Mapping[str, str]],
) -> dict[str, Namespace]:
    """Reads the tables of a package that has namespaces of tf.contrib.

    Args:
      package: its full name.
      names: see `names.NAMES`. A path that starts with "estimator_bridge." is a full name.
      unsupported: see `unsupported.UNSUPPORTED`.

    Returns:
      The namespaces by name, including nested ones, whose names have a dot.
    """
    namespaces = {}
    for namespace, places in names.items():
        targets = {
            name: _full(package, place, target or name)
            for place, words in places.items()
            for name, _, target in (word.partition("=") for word in words.split())
        }
        advice_by_name = {
            name: advice
            for advice, words in unsupported.get(namespace, {}).items()
            for name in words.split()
        }
        namespaces[namespace] = Namespace(
            namespace, f"{package}.{namespace}", targets, advice_by_name
        )
    return namespaces


def _full(package: str, place: str, name: str) -> str:
    if place == "tf" or place.startswith("tf."):
        return f"tensorflow:{f'{place[3:]}.{name}'.lstrip('.')}"
    if not place.startswith("estimator_bridge."):
        place = ".".join(filter(None, (package, place)))
    return f"{place}.{name}" if ":" in place else f"{place}:{name}"


NAMESPACES = read_tables("estimator_bridge_contrib", NAMES, UNSUPPORTED)
