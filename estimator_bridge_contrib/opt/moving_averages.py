"""An optimizer that keeps moving averages of the weights, and a saver that saves the averages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import tensorflow as tf

from estimator_bridge.tensorflow_private.variables import saved_slice

__all__ = ["MovingAverageOptimizer"]

_v1 = tf.compat.v1


class MovingAverageOptimizer(tf.compat.v1.train.Optimizer):
    """Applies gradients with another optimizer, and then averages the weights.

    Args:
      opt: the other v1 optimizer.
      average_decay: the decay, as for tf.train.ExponentialMovingAverage.
      num_updates: a count of updates, which lowers the decay at first.
      sequential_update: whether the averages wait for the weights' update.
    """

    def __init__(
        self,
        opt: Any,
        average_decay: float = 0.9999,
        num_updates: Any = None,
        sequential_update: bool = True,
    ):
        super().__init__(use_locking=False, name=f"MovingAverage{opt.get_name()}")
        self._optimizer, self._is_sequential = opt, sequential_update
        self._averages = tf.train.ExponentialMovingAverage(average_decay, num_updates)
        self._swapped: dict[str, Any] | None = None

    def compute_gradients(self, *args: Any, **kwargs: Any) -> list[tuple[Any, Any]]:
        """Delegates to the other optimizer."""
        return self._optimizer.compute_gradients(*args, **kwargs)

    def apply_gradients(
        self, grads_and_vars: Any, global_step: Any = None, name: str | None = None
    ) -> Any:
        """Delegates to the other optimizer; the operation updates the averages too."""
        grads_and_vars = list(grads_and_vars)
        update = self._optimizer.apply_gradients(grads_and_vars, global_step, name)
        variables = [var for gradient, var in grads_and_vars if gradient is not None]
        with tf.control_dependencies([update] if self._is_sequential else []):
            averaging = self._averages.apply(variables)
        self._swapped = {}
        for variable in variables:
            average = self._averages.average(variable)
            self._swapped[variable.op.name] = average
            self._swapped[average.op.name] = variable
        return tf.group(update, averaging, name="train_with_avg")

    def get_slot(self, *args: Any, **kwargs: Any) -> Any:
        """Delegates to the other optimizer."""
        return self._optimizer.get_slot(*args, **kwargs)

    def get_slot_names(self) -> list[str]:
        """Delegates to the other optimizer."""
        return self._optimizer.get_slot_names()

    def variables(self) -> list[Any]:
        """Delegates to the other optimizer."""
        return self._optimizer.variables()

    def swapping_saver(
        self, var_list: Any = None, name: str = "swapping_saver", **kwargs: Any
    ) -> Any:
        """Makes a Saver that swaps the names of the weights and their averages.

        Give it to a Scaffold: a model that is evaluated or served from such a checkpoint, without
        this optimizer, uses the averages as its weights.

        Args:
          var_list: variables, or variables by name; by default all.
          name: the name of the saver's operations.
          **kwargs: further arguments of tf.train.Saver.

        Returns:
          The Saver.

        Raises:
          RuntimeError: ``minimize`` or ``apply_gradients`` was not called before.
          ValueError: only one of some weights and their average is included.
        """
        if self._swapped is None:
            raise RuntimeError(
                "Must call apply_gradients or minimize before creating the swapping_saver"
            )
        if var_list is None:
            var_list = _v1.global_variables()
        if not isinstance(var_list, Mapping):
            var_list = _by_name(var_list)
        parts = {key: _parts(value) for key, value in var_list.items()}
        names = {variable.op.name for each in parts.values() for variable in each}
        saved = {}
        for key, each in parts.items():
            swapped = [self._other(variable, names) for variable in each]
            saved[key] = swapped[0] if hasattr(var_list[key], "op") else swapped
        return _v1.train.Saver(saved, name=name, **kwargs)

    def _other(self, variable: Any, saved: set[str]) -> Any:
        """Returns what is saved under a variable's name; saved has the names of all variables."""
        other = (self._swapped or {}).get(variable.op.name)
        if other is not None and other.op.name not in saved:
            raise ValueError(
                f"Variable to swap {other.op.name} is not part of variables to save. This "
                "breaks MovingAverageOptimizer. Save weights and averages together."
            )
        return variable if other is None else other


def _by_name(variables: Any) -> dict[str, Any]:
    """Returns variables by name; the parts of a partitioned variable are a list."""
    variables_by_name: dict[str, Any] = {}
    for entry in variables:
        for variable in _parts(entry):
            whole = saved_slice(variable)
            if whole:
                variables_by_name.setdefault(whole.full_name, []).append(variable)
            else:
                variables_by_name[variable.op.name] = variable
    return variables_by_name


def _parts(variable: Any) -> list[Any]:
    """Returns a variable's parts: itself, unless it is partitioned."""
    return [variable] if hasattr(variable, "op") else list(variable)
