"""The code that AutoGraph does not convert."""

from __future__ import annotations

# There is no public list of packages that AutoGraph does not convert.
from tensorflow.python.autograph.core import config

__all__ = ["leave_unconverted"]


def leave_unconverted(package: str) -> None:
    """Lets AutoGraph call a package's functions without converting them.

    The base class of layers converts the ``call`` of each class that is not Keras's own, and all
    that it calls. For code that has no Python branches on tensors, this costs most of the time in
    which a graph is built. The public ``do_not_convert`` would also turn it off for the program's
    functions that are called from there, such as the ``call`` of a wrapped cell.

    Args:
      package: its full name; its modules are included.
    """
    rule = config.DoNotConvert(package)
    if str(rule) not in map(str, config.CONVERSION_RULES):
        config.CONVERSION_RULES = (rule, *config.CONVERSION_RULES)
