"""Inputs of only the first examples of a split."""

from __future__ import annotations

import math
from typing import Any, Callable

import tensorflow as tf

import estimator_bridge as eb
from estimator_bridge.data.reader_parts import reader_part
from models.common.task import InputRequest

__all__ = ["input_for"]


def input_for(
    request: InputRequest, make: Callable[[bool], Callable[..., tf.data.Dataset]]
) -> Callable[..., tf.data.Dataset]:
    """Makes the input_fn of a request, of all examples or of the first ones.

    Several hosts share the first examples: each reads the first ones of its own part.

    Args:
        request: the request.
        make: maps whether it is training to the input_fn of all examples, such as
            `eb.records.input_fn`. With False it has each example once, in order.
    """
    first = request.first
    if first is None:
        return make(request.training)
    in_order = make(False)

    def examples(
        params: Any, mode: str, input_context: tf.distribute.InputContext | None
    ) -> tf.data.Dataset:
        batches = in_order(params=params, mode=mode, input_context=input_context)
        _, count = reader_part(params, input_context)
        first_examples = batches.unbatch().take(math.ceil(first / count)).cache()
        return first_examples.repeat() if request.training else first_examples

    return eb.data.input_fn(examples, request.training, request.batch_size)
