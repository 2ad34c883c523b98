"""Adam with decoupled weight decay and clipped gradients, as BERT was trained."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import tensorflow as tf

__all__ = ["AdamWeightDecay", "bert_optimizer"]

v1 = tf.compat.v1
_BETA1, _BETA2, _EPSILON = 0.9, 0.999, 1e-6
_DECAY = 0.01
_NOT_DECAYED = re.compile(r"LayerNorm|bias")
_LARGEST_NORM = 1.0


class AdamWeightDecay(tf.compat.v1.train.Optimizer):
    """Adam without correction of its start; weights decay by a share of the rate.

    The averages are the variables NAME/adam_m and NAME/adam_v, as in checkpoints of BERT's own
    pretraining. Gradients are clipped after they were summed over the cores, so a global batch
    gives the same step on any number of cores.

    Args:
        rate: the learning rate, a scalar.
    """

    def __init__(self, rate: Any):
        super().__init__(use_locking=False, name="AdamWeightDecay")
        self.rate = rate

    def apply_gradients(
        self,
        grads_and_vars: Sequence[tuple[Any, Any]],
        global_step: Any = None,
        name: str | None = None,
    ) -> tf.Operation:
        """Applies gradients, and counts the global step."""
        pairs = [(grad, variable) for grad, variable in grads_and_vars if grad is not None]
        clipped, _ = tf.clip_by_global_norm(
            [tf.convert_to_tensor(grad) for grad, _ in pairs], _LARGEST_NORM
        )
        updates = [
            update
            for grad, (_, variable) in zip(clipped, pairs)
            for update in self._updates(grad, variable)
        ]
        if global_step is not None:
            updates.append(v1.assign_add(global_step, 1).op)
        return tf.group(*updates, name=name)

    def _updates(self, grad: tf.Tensor, variable: Any) -> list[Any]:
        def average(suffix: str) -> Any:
            return v1.get_variable(
                f"{variable.op.name}/{suffix}",
                variable.shape,
                trainable=False,
                initializer=v1.zeros_initializer(),
            )

        mean, square = average("adam_m"), average("adam_v")
        next_mean = _BETA1 * mean + (1.0 - _BETA1) * grad
        next_square = _BETA2 * square + (1.0 - _BETA2) * tf.square(grad)
        step = next_mean / (tf.sqrt(next_square) + _EPSILON)
        if not _NOT_DECAYED.search(variable.op.name):
            step += _DECAY * variable
        return [
            mean.assign(next_mean),
            square.assign(next_square),
            variable.assign_sub(self.rate * step),
        ]


def bert_optimizer(params: dict[str, Any]) -> AdamWeightDecay:
    """Makes the optimizer, with a rate that rises over `warmup_steps` and falls to 0."""
    step = tf.cast(v1.train.get_or_create_global_step(), tf.float32)
    rate = params["learning_rate"] * tf.maximum(0.0, 1.0 - step / params["train_steps"])
    warmup_steps = params.get("warmup_steps", 0)
    if warmup_steps:
        rising = params["learning_rate"] * step / warmup_steps
        rate = tf.where(step < warmup_steps, rising, rate)
    return AdamWeightDecay(rate)
