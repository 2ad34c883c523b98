"""Opens the package `estimator_bridge_contrib` by its name."""

from __future__ import annotations

import importlib
import os
from types import ModuleType

from estimator_bridge.base.version import __version__
from estimator_bridge.errors import MissingImportError

__all__ = ["LIBRARY_FOLDERS", "is_of_library", "load_contrib"]

_CORE = "estimator_bridge"
_CONTRIB = "estimator_bridge_contrib"
_SITE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

# The folders of both packages, each with a separator at its end. They are installed side by side.
LIBRARY_FOLDERS = tuple(os.path.join(_SITE, name, "") for name in (_CORE, _CONTRIB))


def is_of_library(module: str) -> bool:
    """Returns whether a module's full name is one of this library, tf.contrib included."""
    return module.partition(".")[0] in (_CORE, _CONTRIB)


def load_contrib(module: str = "") -> ModuleType:
    """Imports tf.contrib as this library has it.

    Args:
      module: a module of it, as "namespaces" or "layers.utils"; by default the package.

    Raises:
      MissingImportError: the package is not installed.
      ModuleNotFoundError: it has no such module.
    """
    try:
        return importlib.import_module(".".join(filter(None, (_CONTRIB, module))))
    except ModuleNotFoundError as error:
        if error.name != _CONTRIB:
            raise
        raise MissingImportError(
            f"tf.contrib needs the package {_CONTRIB}, which is missing. It is a part of "
            f"estimator-bridge {__version__}, installed in {_SITE}. Run: "
            f"pip install --force-reinstall --no-deps estimator-bridge=={__version__}",
            name=_CONTRIB,
        ) from error
