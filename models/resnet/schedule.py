"""Learning rates over a training: a warm-up, then a cosine, steps, or a polynomial."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Callable

import tensorflow as tf

__all__ = ["SCHEDULES", "rate_at"]

# The rate falls to a tenth at epochs 30, 60 and 80 of 90.
_FALLS = (30 / 90, 60 / 90, 80 / 90)

_v1 = tf.compat.v1


def _cosine(rate: float, part: tf.Tensor) -> tf.Tensor:
    return 0.5 * rate * (1 + tf.cos(3.14159265 * part))


def _steps(rate: float, part: tf.Tensor) -> tf.Tensor:
    falls = tf.add_n([tf.cast(part >= fall, tf.float32) for fall in _FALLS])
    return rate * tf.pow(0.1, falls)


def _polynomial(rate: float, part: tf.Tensor) -> tf.Tensor:
    return rate * tf.square(1 - part)


# The polynomial is what LARS was trained with.
SCHEDULES: dict[str, Callable[[float, tf.Tensor], tf.Tensor]] = {
    "cosine": _cosine,
    "steps": _steps,
    "polynomial": _polynomial,
}


def rate_at(step: tf.Tensor, params: Mapping[str, Any]) -> tf.Tensor:
    """Returns the learning rate of a step, float32 [].

    Args:
        step: the global step, int64 [].
        params: `learning_rate`, the highest one; `warmup_steps`, over which it rises from 0;
            `train_steps`, at which the schedule ends; `schedule`, a key of `SCHEDULES`.
    """
    rate, warmup, total = (params[k] for k in ("learning_rate", "warmup_steps", "train_steps"))
    now = tf.cast(step, tf.float32)
    part = (now - warmup) / max(total - warmup, 1)
    schedule_rate = SCHEDULES[params["schedule"]](rate, tf.clip_by_value(part, 0.0, 1.0))
    if not warmup:
        return schedule_rate
    return tf.where(now < warmup, rate * (now + 1) / warmup, schedule_rate)
