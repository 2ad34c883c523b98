"""Gradients of one's own for a part of a TF1 graph.

tf.custom_gradient refuses the reference variables that TF1 programs have.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

__all__ = ["used_variables", "wait_for", "with_own_gradient"]

v1 = tf.compat.v1
_numbers = itertools.count()


def with_own_gradient(
    outputs: Sequence[Any],
    sources: Sequence[Any],
    gradient: Callable[[list[Any]], Sequence[Any]],
) -> list[Any]:
    """Returns tensors whose gradients a function computes.

    Args:
      outputs: the tensors, computed from the sources.
      sources: tensors and variables.
      gradient: a function of the gradients of the outputs. It returns those of the sources, None
        for a source without one.
    """
    name = f"EstimatorBridgeOwnGradient{next(_numbers)}"

    @tf.RegisterGradient(name)
    def _registered(op: Any, *gradients: Any) -> list[Any]:
        del op
        return [None] * len(outputs) + list(gradient(list(gradients[: len(outputs)])))

    with v1.get_default_graph().gradient_override_map({"IdentityN": name}):
        same = tf.identity_n([*outputs, *(tf.convert_to_tensor(each) for each in sources)])
    return same[: len(outputs)]


def used_variables(outputs: Sequence[Any], inputs: Sequence[Any]) -> list[Any]:
    """Returns the trainable variables that tensors depend on, other than through their inputs."""
    seen = {each.op.name for each in inputs}
    pending = [each.op for each in outputs]
    while pending:
        op = pending.pop()
        if op.name not in seen:
            seen.add(op.name)
            pending.extend(each.op for each in op.inputs)
    return [each for each in v1.trainable_variables() if each.op.name in seen]


def wait_for(tensors: Sequence[Any], others: Sequence[Any]) -> list[Any]:
    """Returns tensors that are not available before others are, also under XLA.

    XLA ignores control dependencies, so a number that is always zero, and of which XLA does not
    know that, is added.
    """
    firsts = [tf.reshape(each, [-1])[:1] for each in others if each is not None]
    zeros = [
        tf.reduce_sum(tf.where(tf.math.is_finite(each), each, tf.zeros_like(each)) * 0)
        for each in firsts
        if each.dtype.is_floating
    ]
    if not zeros:
        return list(tensors)
    zero = tf.add_n([tf.cast(each, tf.float32) for each in zeros])
    return [
        each + tf.cast(zero, each.dtype) if each.dtype.is_floating else tf.identity(each)
        for each in tensors
    ]
