"""NumPy scalars that print as numbers.

NumPy 2 prints a scalar in a dict as ``np.float32(0.796)``, where programs that print or log the
results of an evaluation expect ``0.796``, as with every TensorFlow that had Estimator.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

__all__ = ["printed_as_number"]

_HAS_NAMES = repr(np.float32(0.5)) != "0.5"  # NumPy 2


def printed_as_number(value: Any) -> Any:
    """Returns a scalar whose ``repr`` is that of NumPy 1; anything else as it is.

    The type is a subclass of the scalar's own. Arithmetic, pickling and ``.item()`` give what they
    give for the scalar.

    Args:
      value: a metric's value.
    """
    kind: Any = type(value)
    if not _HAS_NAMES or kind.__module__ != "numpy" or not issubclass(kind, np.number):
        return value
    return _subclass(kind)(value)


@functools.cache
def _subclass(kind: Any) -> Any:
    return type(kind.__name__, (kind,), {"__repr__": kind.__str__, "__module__": __name__})
