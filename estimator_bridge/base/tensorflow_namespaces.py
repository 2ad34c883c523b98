"""Finds the modules that TensorFlow's public API consists of."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from types import ModuleType

__all__ = ["tensorflow_namespaces"]

# Each namespace exists several times, because they contain each other.
_NAMESPACE = re.compile(r"tensorflow(\._api\.v2)?(\.(v2|compat\.v[12]))*")


def tensorflow_namespaces() -> Iterator[tuple[str, ModuleType]]:
    """Returns the loaded modules that are ``tf``, ``tf.compat.v1`` or ``tf.compat.v2``.

    Yields:
      The module's full name, which ends in "v1" for ``tf.compat.v1``, and the module.
    """
    for name, module in list(sys.modules.items()):
        if _NAMESPACE.fullmatch(name) and isinstance(module, ModuleType):
            yield name, module
