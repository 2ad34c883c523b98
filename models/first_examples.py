"""Inputs of only the first examples of a split."""

from __future__ import annotations

from typing import Any, Callable

import tensorflow as tf

import estimator_bridge as eb
from models.task import InputRequest

__all__ = ["input_for"]


def input_for(
    request: InputRequest, make: Callable[[bool], Callable[..., tf.data.Dataset]]
) -> Callable[..., tf.data.Dataset]:
    """Makes the input_fn of a request, of all examples or of the first ones.

    Args:
        request: the request.
        make: maps whether it is training to the input_fn of all examples, such as
            `eb.records.input_fn`. With False it has each example once, in order.
    """
    first = request.first
    if first is None:
        return make(request.training)
    ordered = make(False)

    def examples(params: Any, mode: str) -> tf.data.Dataset:
        few = ordered(params=params, mode=mode).unbatch().take(first).cache()
        return few.repeat() if request.training else few

    return eb.data.input_fn(examples, request.training, request.batch_size)
