"""The code that AutoGraph does not convert."""

from __future__ import annotations

from collections.abc import Iterable

# There is no public list of packages that AutoGraph does not convert.
from tensorflow.python.autograph.core import config

__all__ = ["leave_unconverted"]


class _Unconverted(config.DoNotConvert):
    """Leaves a package as it is, apart from some of its modules."""

    def __init__(self, package: str, apart_from: Iterable[str]):
        super().__init__(package)
        self._apart_from = tuple(f"{module}." for module in apart_from)

    def matches(self, module_name: str) -> bool:
        """Returns whether a module is one of the package."""
        return super().matches(module_name) and not f"{module_name}.".startswith(self._apart_from)


def leave_unconverted(package: str, apart_from: Iterable[str] = ()) -> None:
    """Lets AutoGraph call a package's functions without converting them.

    The base class of layers converts the ``call`` of each class that is not Keras's own, and all
    that it calls. For code that has no Python branches on tensors, this costs most of the time in
    which a graph is built. The public ``do_not_convert`` would also turn it off for the program's
    functions that are called from there, such as the ``call`` of a wrapped cell.

    Args:
      package: its full name; its modules are included.
      apart_from: modules of it that are converted as before, with those below them.
    """
    rule = _Unconverted(package, apart_from)
    if str(rule) not in map(str, config.CONVERSION_RULES):
        config.CONVERSION_RULES = (rule, *config.CONVERSION_RULES)
