"""Truth values of variables in graphs: always true, as in TF1."""

from __future__ import annotations

import tensorflow as tf

from estimator_bridge.tensorflow_private.names import BaseResourceVariable

__all__ = ["make_variables_truthy"]

_read = BaseResourceVariable.__bool__


def make_variables_truthy() -> None:
    """Makes ``average if average else variable`` mean the same in a graph as in TF1.

    TF1's default variables defined no truth value, so they were true, like any object. Today's
    variables raise an error in a graph, where they have no value yet. Eager variables do not
    change.
    """
    BaseResourceVariable.__bool__ = _truth


def _truth(variable: BaseResourceVariable) -> bool:
    if tf.executing_eagerly() or tf.inside_function():
        return _read(variable)
    return True
