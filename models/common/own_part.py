"""The examples of one host of several: each reads its own, none is read twice."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from estimator_bridge.data.reader_parts import reader_part

__all__ = ["own_part"]


def own_part(
    dataset: tf.data.Dataset, params: Any, input_context: tf.distribute.InputContext | None
) -> tf.data.Dataset:
    """Returns each n-th example for a call of an input_fn that is one of n; all for the only one.

    Args:
        dataset: the examples, in an order that is the same on all hosts: not yet shuffled.
        params: the params of the input_fn.
        input_context: its `input_context`, or None.
    """
    index, count = reader_part(params, input_context)
    return dataset if count == 1 else dataset.shard(count, index)
