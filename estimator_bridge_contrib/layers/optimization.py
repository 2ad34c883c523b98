"""A training op from a loss, with learning rate decay, clipping, noise and summaries."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import tensorflow as tf

from estimator_bridge_contrib.layers.gradients import (
    add_noise,
    clip_by_global_norm,
    multiply,
)

__all__ = ["OPTIMIZER_CLS_NAMES", "OPTIMIZER_SUMMARIES", "optimize_loss"]

v1 = tf.compat.v1

OPTIMIZER_CLS_NAMES: dict[str, Callable[..., Any]] = {
    "Adagrad": v1.train.AdagradOptimizer,
    "Adam": v1.train.AdamOptimizer,
    "Ftrl": v1.train.FtrlOptimizer,
    "Momentum": lambda learning_rate: v1.train.MomentumOptimizer(learning_rate, momentum=0.9),
    "RMSProp": v1.train.RMSPropOptimizer,
    "SGD": v1.train.GradientDescentOptimizer,
}
OPTIMIZER_SUMMARIES = [
    "learning_rate",
    "loss",
    "gradients",
    "gradient_norm",
    "global_gradient_norm",
]


def optimize_loss(
    loss: Any,
    global_step: Any,
    learning_rate: Any,
    optimizer: Any,
    gradient_noise_scale: float | None = None,
    gradient_multipliers: Mapping[Any, Any] | None = None,
    clip_gradients: Any = None,
    learning_rate_decay_fn: Callable[[Any, Any], Any] | None = None,
    update_ops: Iterable[Any] | None = None,
    variables: Sequence[Any] | None = None,
    name: str | None = None,
    summaries: Sequence[str] | None = None,
    colocate_gradients_with_ops: bool = False,
    increment_global_step: bool = True,
) -> tf.Tensor:
    """Makes the train_op of a loss.

    A learning rate given as a number becomes the variable ``OptimizeLoss/learning_rate``, so
    checkpoints contain it.

    Args:
      loss: a scalar.
      global_step: the global step; None for the graph's, if it has one.
      learning_rate: a float, a scalar tensor, or None if the optimizer has its own.
      optimizer: one of OPTIMIZER_CLS_NAMES; an optimizer class; an optimizer; or a function that
        returns one, of the learning rate unless that is None.
      gradient_noise_scale: the scale of noise to add to gradients.
      gradient_multipliers: factors of gradients, by variable or by a variable's name.
      clip_gradients: a float, the largest global norm of all gradients; or a function of
        (gradient, variable) pairs that returns such pairs.
      learning_rate_decay_fn: a function of the learning rate and the step.
      update_ops: operations to run before each step; by default the collection UPDATE_OPS.
      variables: the variables to train; by default the trainable variables.
      name: the variable scope; ``OptimizeLoss`` by default.
      summaries: the members of OPTIMIZER_SUMMARIES to write; loss, learning_rate and
        global_gradient_norm by default.
      colocate_gradients_with_ops: as for ``Optimizer.compute_gradients``.
      increment_global_step: whether to increment the global step.

    Returns:
      The loss; computing it runs the step.

    Raises:
      ValueError: an argument has none of these forms.
    """
    loss = tf.convert_to_tensor(loss)
    if loss.shape.rank != 0:
        raise ValueError(
            f"Expected scalar shape for the loss {loss.name}, saw shape: {loss.shape}."
        )
    if global_step is None:
        global_step = v1.train.get_global_step()
    else:
        v1.train.assert_global_step(global_step)
    with v1.variable_scope(name, "OptimizeLoss", [loss, global_step]):
        loss = _after(v1.get_collection(v1.GraphKeys.UPDATE_OPS), loss, update_ops)
        summary_names = _wanted_summaries(summaries)
        rate = _learning_rate(learning_rate)
        if learning_rate is not None and learning_rate_decay_fn is not None:
            if global_step is None:
                raise ValueError(
                    "global_step is required for learning_rate_decay_fn. Call "
                    "tf.train.get_or_create_global_step() first."
                )
            rate = learning_rate_decay_fn(rate, global_step)
            if "learning_rate" in summary_names:
                v1.summary.scalar("learning_rate", rate)
        applied = _optimizer(optimizer, rate)
        pairs = applied.compute_gradients(
            loss,
            v1.trainable_variables() if variables is None else variables,
            colocate_gradients_with_ops=colocate_gradients_with_ops,
        )
        if gradient_noise_scale is not None:
            pairs = add_noise(pairs, gradient_noise_scale)
        if gradient_multipliers is not None:
            pairs = multiply(pairs, gradient_multipliers)
        norms = "global_gradient_norm" in summary_names or "gradient_norm" in summary_names
        if norms:
            _summarize_norm("gradient_norm", pairs)
        pairs = _clipped(pairs, clip_gradients)
        if "loss" in summary_names:
            v1.summary.scalar("loss", loss)
        _summarize_each(pairs, summary_names)
        if clip_gradients is not None and norms:
            _summarize_norm("clipped_gradient_norm", pairs)
        update = applied.apply_gradients(
            pairs, global_step=global_step if increment_global_step else None, name="train"
        )
        with tf.control_dependencies([update]):
            return tf.identity(loss, "control_dependency")


def _after(collected: Sequence[Any], loss: Any, update_ops: Iterable[Any] | None) -> Any:
    updates = list(collected if update_ops is None else update_ops)
    if not updates:
        return loss
    with tf.control_dependencies(updates):
        return tf.identity(loss, "control_dependency")


def _wanted_summaries(summaries: Sequence[str] | None) -> Sequence[str]:
    if summaries is None:
        return ["loss", "learning_rate", "global_gradient_norm"]
    for each in summaries:
        if each not in OPTIMIZER_SUMMARIES:
            raise ValueError(
                f"Summaries should be one of [{', '.join(OPTIMIZER_SUMMARIES)}], you provided "
                f"{each}."
            )
    return summaries


def _learning_rate(learning_rate: Any) -> Any:
    if learning_rate is None or (tf.is_tensor(learning_rate) and learning_rate.shape.rank == 0):
        return learning_rate
    if not isinstance(learning_rate, float):
        raise ValueError(
            f"Learning rate should be 0d Tensor or float. Got {learning_rate} of type "
            f"{type(learning_rate)}"
        )
    if learning_rate < 0.0:
        raise ValueError(f"Invalid learning_rate {learning_rate}: it is negative.")
    start = tf.compat.v1.constant_initializer(learning_rate)
    return v1.get_variable("learning_rate", [], trainable=False, initializer=start)


def _optimizer(optimizer: Any, rate: Any) -> Any:
    is_class = isinstance(optimizer, type) and issubclass(optimizer, v1.train.Optimizer)
    if isinstance(optimizer, str) or is_class:
        name = optimizer if isinstance(optimizer, str) else optimizer.__name__
        if rate is None:
            raise ValueError(
                "Learning rate is None, but should be specified if optimizer is "
                f"{'class' if is_class else 'string'} ({name})."
            )
        if is_class:
            return optimizer(learning_rate=rate)
        if optimizer not in OPTIMIZER_CLS_NAMES:
            raise ValueError(
                f"Optimizer name should be one of [{', '.join(OPTIMIZER_CLS_NAMES)}], you "
                f"provided {optimizer}."
            )
        return OPTIMIZER_CLS_NAMES[optimizer](learning_rate=rate)
    if isinstance(optimizer, v1.train.Optimizer):
        return optimizer
    if not callable(optimizer):
        raise ValueError(
            "Unrecognized optimizer: should be string, subclass of Optimizer, instance of "
            f"subclass of Optimizer or function with one argument. Got {optimizer!r}."
        )
    result = optimizer() if rate is None else optimizer(rate)
    if not isinstance(result, v1.train.Optimizer):
        raise ValueError(
            f"Unrecognized optimizer: function should return subclass of Optimizer. Got {result!r}."
        )
    return result


def _clipped(pairs: Sequence[tuple[Any, Any]], clip_gradients: Any) -> Any:
    if clip_gradients is None:
        return pairs
    if isinstance(clip_gradients, float):
        return clip_by_global_norm(pairs, clip_gradients)
    if callable(clip_gradients):
        return clip_gradients(pairs)
    raise ValueError(
        f"Unknown type {type(clip_gradients)} for clip_gradients: give a float or a function."
    )


def _summarize_norm(name: str, pairs: Sequence[tuple[Any, Any]]) -> None:
    norm = tf.linalg.global_norm([gradient for gradient, _ in pairs])
    v1.summary.scalar(f"global_norm/{name}", norm)


def _summarize_each(pairs: Sequence[tuple[Any, Any]], summary_names: Sequence[str]) -> None:
    for gradient, variable in pairs:
        if gradient is None:
            continue
        values = gradient.values if isinstance(gradient, tf.IndexedSlices) else gradient
        name = variable.name.replace(":", "_")
        if "gradients" in summary_names:
            v1.summary.histogram(f"gradients/{name}", values)
        if "gradient_norm" in summary_names:
            v1.summary.scalar(f"gradient_norm/{name}", tf.linalg.global_norm([values]))
