"""Sums of gradients and other values over the replicas, in TPU mode."""

from __future__ import annotations

import contextlib
import contextvars
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import tensorflow as tf

from estimator_bridge.model.keras_optimizer import as_graph_optimizer
from estimator_bridge.model.replaced_functions import original_tpu_function
from estimator_bridge.tensorflow_private.names import get_tpu_context

__all__ = [
    "CrossShardOptimizer",
    "cross_replica_sum",
    "each_sees_all",
    "number_of_parts",
    "number_of_shards",
]

_Reduction = tf.compat.v1.losses.Reduction
_each_sees_all: contextvars.ContextVar[bool] = contextvars.ContextVar("_each_sees_all")


def number_of_shards() -> int | None:
    """Returns the number of replicas that the model is built for; None outside of TPU mode."""
    return get_tpu_context().number_of_shards


def number_of_parts() -> int:
    """Returns the number of parts of the global batch for the model that is being built.

    This is the number of replicas in TPU mode; 1 outside of it, or if each replica gets the whole
    batch (``each_sees_all``).
    """
    return 1 if _each_sees_all.get(False) else number_of_shards() or 1


@contextlib.contextmanager
def each_sees_all(is_so: bool) -> Iterator[None]:
    """Sets whether each replica of the model that is being built gets the whole batch."""
    token = _each_sees_all.set(is_so)
    try:
        yield
    finally:
        _each_sees_all.reset(token)


def cross_replica_sum(
    x: Any, group_assignment: Sequence[Sequence[int]] | None = None, name: str | None = None
) -> tf.Tensor:
    """Sums a value over the replicas.

    Args:
      x: each replica's own value, with the same shape and type on all.
      group_assignment: lists of replica numbers, one for each group to sum separately; all
        replicas are one group by default.
      name: name of the operation.

    Returns:
      The sum, on each replica. Outside of TPU mode, with one replica, `x`.
    """
    if number_of_shards() is None:
        return tf.identity(x, name=name)
    return original_tpu_function("cross_replica_sum")(x, group_assignment, name)


class CrossShardOptimizer(tf.compat.v1.train.Optimizer):
    """An optimizer that applies the gradients of all replicas' batches on each replica.

    `compute_gradients` returns the replica's own gradients, scaled, so that a model can clip them;
    `apply_gradients` sums them over the replicas. Outside of TPU mode it behaves like `opt`.

    Args:
      opt: a ``tf.compat.v1.train.Optimizer`` or a tf_keras optimizer.
      reduction: MEAN if the loss is a mean over the replica's batch, SUM if it is a sum.
      name: name of the optimizer.
      group_assignment: lists of replica numbers, one for each group that shares gradients; all
        replicas are one group by default.

    Raises:
      ValueError: the reduction is neither MEAN nor SUM.
      TypeError: `opt` is not an optimizer.
    """

    def __init__(
        self,
        opt: Any,
        reduction: str = _Reduction.MEAN,
        name: str = "CrossShardOptimizer",
        group_assignment: Sequence[Sequence[int]] | None = None,
    ):
        if reduction not in (_Reduction.SUM, _Reduction.MEAN):
            raise ValueError(
                f"Argument `reduction` should be one of {(_Reduction.SUM, _Reduction.MEAN)}, the "
                f"values of tf.compat.v1.losses.Reduction.SUM and MEAN. Received: {reduction!r}"
            )
        super().__init__(use_locking=False, name=name)
        self._opt = as_graph_optimizer(opt)
        self._reduction = reduction
        self._groups = group_assignment

    def compute_gradients(
        self,
        loss: tf.Tensor,
        var_list: Sequence[tf.Variable] | None = None,
        **kwargs: Any,
    ) -> list[tuple[Any, tf.Variable]]:
        """Computes the replica's gradients, ready to be summed.

        Args:
          loss: the replica's own loss, a scalar.
          var_list: the variables to differentiate by; all trainable variables by default.
          **kwargs: further arguments for `opt`.

        Returns:
          (gradient, variable) pairs. With MEAN, they are divided by the number of replicas.

        Raises:
          ValueError: the groups do not name each replica once, or differ in size.
        """
        shards = number_of_shards()
        if shards is not None:
            size = _group_size(self._groups, shards)
            if self._reduction == _Reduction.MEAN and size > 1:
                loss *= 1.0 / size
        return self._opt.compute_gradients(loss, var_list=var_list, **kwargs)

    def apply_gradients(
        self,
        grads_and_vars: Iterable[tuple[Any, tf.Variable]],
        global_step: tf.Variable | None = None,
        name: str | None = None,
    ) -> tf.Operation:
        """Sums the gradients over the replicas and applies them.

        Args:
          grads_and_vars: the result of `compute_gradients`, clipped or not.
          global_step: incremented by `opt` afterwards.
          name: name of the operation.

        Returns:
          The update operation of `opt`.
        """
        if number_of_shards() is not None:
            grads_and_vars = [(self._sum(gradient), var) for gradient, var in grads_and_vars]
        return self._opt.apply_gradients(grads_and_vars, global_step, name)

    def get_slot(self, var: tf.Variable, name: str) -> tf.Variable | None:
        """Returns a slot of `opt`."""
        return self._opt.get_slot(var, name)

    def get_slot_names(self) -> list[str]:
        """Returns the names of the slots of `opt`."""
        return self._opt.get_slot_names()

    def variables(self) -> list[tf.Variable]:
        """Returns the variables of `opt`."""
        return self._opt.variables()

    def _sum(self, gradient: Any) -> tf.Tensor | None:
        # Replicas update different rows of an embedding, so its slices are summed densely.
        return None if gradient is None else cross_replica_sum(gradient, self._groups)


def _group_size(groups: Sequence[Sequence[int]] | None, shards: int) -> int:
    """Returns how many replicas are summed together.

    Raises:
      ValueError: the groups do not name each replica once, or differ in size.
    """
    if not groups:
        return shards
    lists = (list, tuple)
    if not (isinstance(groups, lists) and all(isinstance(group, lists) for group in groups)):
        raise ValueError(
            f"Argument `group_assignment` must be a list of lists. Received: {groups!r}; for four "
            "replicas in two groups, write [[0, 1], [2, 3]]."
        )
    if sorted(i for group in groups for i in group) != list(range(shards)):
        raise ValueError(
            f"Argument `group_assignment` must be a permutation of range({shards}): each of the "
            f"{shards} replicas in one group. Received: {groups}"
        )
    sizes = {len(group) for group in groups}
    if len(sizes) > 1:
        raise ValueError(
            f"The size of each subgroup in `group_assignment` must be equal. Received: {groups}, "
            f"of sizes {[len(group) for group in groups]}."
        )
    return sizes.pop()
