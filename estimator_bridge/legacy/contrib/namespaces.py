"""All namespaces of tf.contrib: those of `estimator_bridge.contrib`, and those of this package."""

from __future__ import annotations

from estimator_bridge.contrib import namespaces
from estimator_bridge.legacy.contrib.names import NAMES, UNSUPPORTED

__all__ = ["NAMESPACES"]

NAMESPACES: dict[str, namespaces.Namespace] = {
    **namespaces.NAMESPACES,
    **namespaces.read_tables("estimator_bridge.legacy.contrib", NAMES, UNSUPPORTED),
}
