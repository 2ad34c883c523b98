"""replicate_model_fn and TowerOptimizer, which run on one device here."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import tensorflow as tf
from tensorflow.compat.v1 import logging

__all__ = ["TowerOptimizer", "replicate_model_fn"]

_v1 = tf.compat.v1
_Optimizer: Any = _v1.train.Optimizer
_Reduction = _v1.losses.Reduction
_MIRRORED = (
    "RunConfig(train_distribute=tf.distribute.MirroredStrategy()), with the plain model_fn and "
    "optimizer, uses several"
)


def replicate_model_fn(
    model_fn: Callable[..., Any],
    loss_reduction: str = _Reduction.SUM_BY_NONZERO_WEIGHTS,
    devices: Sequence[str] | None = None,
) -> Callable[..., Any]:
    """Returns the model_fn itself, which runs on one device and sees the whole batch.

    The original divided a batch over the GPUs and summed the results of the parts. That gives the
    same loss and gradients, except for batch normalization, which sees the whole batch here.

    Args:
      model_fn: a model_fn that uses a TowerOptimizer.
      loss_reduction: the reduction of the parts' losses; here there is one part.
      devices: the devices of the original; by default all GPUs, or the CPU.

    Returns:
      A model_fn.

    Raises:
      ValueError: the reduction is NONE, or training uses no TowerOptimizer.
    """
    if loss_reduction == _Reduction.NONE:
        raise ValueError(
            "Tower losses need to be reduced in some way, yet Reduction.NONE is specified: leave "
            "loss_reduction out."
        )
    count = len(devices) if devices is not None else len(tf.config.list_physical_devices("GPU"))
    if count > 1:
        logging.warning(
            "replicate_model_fn runs the model on one device instead of %d. %s.",
            count,
            _MIRRORED,
        )

    @functools.wraps(model_fn)
    def replicated(*args: Any, **kwargs: Any) -> Any:
        before = TowerOptimizer.applied
        spec = model_fn(*args, **kwargs)
        if spec.mode == "train" and TowerOptimizer.applied == before:
            raise ValueError(
                "Please wrap optimizers with TowerOptimizer in order to use replicate_model_fn; "
                f"or leave both out: {_MIRRORED}."
            )
        return spec

    replicated.__signature__ = inspect.signature(model_fn)  # type: ignore[attr-defined]
    return replicated


class TowerOptimizer(_Optimizer):
    """Applies gradients with the optimizer that it wraps.

    Args:
      optimizer_or_optimizer_fn: a ``tf.compat.v1.train.Optimizer``, or a function that makes one.
    """

    applied = 0  # how often any instance has applied gradients

    def __init__(self, optimizer_or_optimizer_fn: Any):
        optimizer = optimizer_or_optimizer_fn
        self._optimizer = optimizer if isinstance(optimizer, _Optimizer) else optimizer()
        super().__init__(use_locking=False, name="TowerOptimizer")

    def get_slot(self, var: tf.Variable, name: str) -> tf.Variable | None:
        """Returns a slot of the wrapped optimizer."""
        return self._optimizer.get_slot(var, name)

    def get_slot_names(self) -> list[str]:
        """Returns the names of the wrapped optimizer's slots."""
        return self._optimizer.get_slot_names()

    def get_name(self) -> str:
        """Returns the wrapped optimizer's name."""
        return self._optimizer.get_name()

    def variables(self) -> list[tf.Variable]:
        """Returns the wrapped optimizer's variables."""
        return self._optimizer.variables()

    def compute_gradients(self, loss: tf.Tensor, *args: Any, **kwargs: Any) -> list:
        """Computes the wrapped optimizer's gradients."""
        return self._optimizer.compute_gradients(loss, *args, **kwargs)

    def apply_gradients(
        self,
        grads_and_vars: Iterable[tuple[Any, tf.Variable]],
        global_step: tf.Variable | None = None,
        **kwargs: Any,
    ) -> tf.Operation:
        """Applies gradients with the wrapped optimizer."""
        TowerOptimizer.applied += 1
        return self._optimizer.apply_gradients(grads_and_vars, global_step, **kwargs)
