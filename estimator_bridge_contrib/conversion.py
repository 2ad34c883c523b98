"""The functions of tf.contrib that AutoGraph leaves as they are."""

from __future__ import annotations

from estimator_bridge.tensorflow_private.conversion import leave_unconverted
from estimator_bridge_contrib.estimator_names import NAMES

__all__ = ["leave_layers_unconverted"]

_PACKAGE = "estimator_bridge_contrib"


def leave_layers_unconverted() -> None:
    """Lets AutoGraph call layers, cells and losses without converting them.

    The namespaces for estimators stay converted, because they call the program's models: AutoGraph
    converts Python branches on tensors in these only if it converts their callers.
    """
    apart_from = (f"{_PACKAGE}.{name}" for name in (*NAMES, "saved_model"))
    leave_unconverted(_PACKAGE, apart_from)
